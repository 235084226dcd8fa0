//! Sends the questions of a run to the shared budget, which limits the retries of all runs together. Counts attempts
//! that are not retries, and asks before each retry of a failure. A store (a directory or Redis) keeps the numbers. An
//! error of a function here ends the run at once, because a signal came. A store that does not answer is not an error.
//! It causes one warning, and `--store-down` decides.

use std::time::Duration;

use super::event::Event;
use super::host::{BudgetAnswer, RunResult, STORE_TIMEOUT};
use super::plan::SharedBudget;
use super::state::Run;
use crate::policy::budget::Answer;
use crate::policy::limits::GiveUp;

/// Limit on waiting for an answer during the wait for a retry, which is announced only once allowed.
const MOST_PATIENCE: Duration = Duration::from_secs(5);

impl<'a> Run<'a> {
    /// Returns the budget that has to count the next attempt. None for a granted retry, which the grant has counted if
    /// a store answered, and for a first attempt that an outer run counted as its own. First waits for the count of an
    /// attempt that succeeded, because no request for a retry followed it.
    pub(super) fn budget_to_count_in(&mut self) -> RunResult<Option<&'a SharedBudget>> {
        if self.store.skips_next_count {
            return Ok(None);
        }
        self.finish_last_count()?;
        Ok(self.plan.budget.as_ref())
    }

    /// Asks for a retry that will follow `delay`. Returns the rest of the delay, because asking is part of it, or why
    /// the retry is denied. A budget that grants it has counted it. Granted if there is no budget or no answer, unless
    /// `--store-down deny`.
    pub(super) fn ask_for_retry(&mut self, delay: Duration) -> RunResult<Result<Duration, GiveUp>> {
        let Some(budget) = &self.plan.budget else {
            return Ok(Ok(delay));
        };
        let asked_at = self.host.elapsed();
        // First, so that the answer includes the attempt. The host expects no pending count then.
        self.finish_counting(budget, delay)?;
        let rest = delay.saturating_sub(self.host.elapsed().saturating_sub(asked_at));
        let patience = self.patience(rest);
        let answered = self.host.ask_budget(budget, patience)?;
        match self.note_answer(answered)? {
            Some(answer) if !answer.allowed => {
                return Ok(Err(GiveUp::Budget {
                    retries_per_mille: answer.retries_per_mille,
                }));
            }
            None if budget.denies_if_down => return Ok(Err(GiveUp::StoreDown)),
            // Allowed, or the run continues without the budget.
            _ => {}
        }
        let asking_took = self.host.elapsed().saturating_sub(asked_at);
        Ok(Ok(delay.saturating_sub(asking_took)))
    }

    /// Waits until the last attempt is counted.
    pub(super) fn finish_last_count(&mut self) -> RunResult<()> {
        match &self.plan.budget {
            Some(budget) => self.finish_counting(budget, Duration::ZERO),
            None => Ok(()),
        }
    }

    /// Waits until the last attempt that the budget counts is counted. A store that does not answer only causes a
    /// warning. It may take longer than its timeout if the run waits anyway (`spare`).
    fn finish_counting(&mut self, budget: &SharedBudget, spare: Duration) -> RunResult<()> {
        let patience = self.patience(spare);
        let counted = self.host.finish_counting(budget, patience)?;
        self.note_answer(counted).map(drop)
    }

    /// Returns the limit on waiting for an answer: `spare`, at most [`MOST_PATIENCE`] and until the deadline, but at
    /// least [`STORE_TIMEOUT`].
    fn patience(&self, spare: Duration) -> Duration {
        let deadline = self.plan.limits.deadline.unwrap_or(Duration::MAX);
        let left = deadline.saturating_sub(self.host.elapsed());
        spare.min(left).min(MOST_PATIENCE).max(STORE_TIMEOUT)
    }

    /// Returns the answer, None if neither the store nor (`--store-down local`) this machine's budget gave one. Prints
    /// only one warning about the store per run, because a store that is down would cause one at each step.
    fn note_answer(&mut self, answered: BudgetAnswer) -> RunResult<Option<Answer>> {
        if let Some(warning) = answered.warning
            && !self.store.has_warned
        {
            self.store.has_warned = true;
            self.emit(&Event::Warning(&warning))?;
        }
        Ok(answered.answer)
    }
}
