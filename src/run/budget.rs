//! Sends the questions and updates of a run to the shared budget.

use std::time::Duration;

use super::event::{Event, JudgedAttempt};
use super::host::{BudgetAnswer, RunError};
use super::plan::SharedBudget;
use super::state::Run;
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

/// Limit on the wait for an answer, as a retry is announced only once allowed.
const MOST_PATIENCE: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// Begins to count an attempt that is not a retry, while the attempt runs.
    pub(super) fn begin_counting(&mut self) -> Result<(), RunError> {
        if let (Some(budget), false) = (&self.plan.budget, self.store.is_counted) {
            // After a success, no question has waited for the count of the last attempt.
            self.finish_counting(budget, Duration::ZERO)?;
            self.host.begin_counting(budget);
        }
        Ok(())
    }

    /// Asks for a retry after `delay`. Returns the rest of the wait, or the reason for a denial.
    pub(super) fn ask_for_retry(&mut self, delay: Duration) -> Result<Result<Duration, GiveUp>, RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok(Ok(delay));
        };
        let asked = self.host.elapsed();
        Ok(match self.ask_budget(Question::Retry, delay)? {
            Some(answer) if !answer.allowed => Err(GiveUp::Budget(answer.counts)),
            None if budget.denies_if_down => Err(GiveUp::StoreDown),
            _ => Ok(delay.saturating_sub(self.host.elapsed().saturating_sub(asked))),
        })
    }

    /// Returns the wait before the first attempt that an earlier run left when it gave up.
    pub(super) fn ask_for_cool_off(&mut self) -> Result<Duration, RunError> {
        let answer = self.ask_budget(Question::CoolOff, Duration::ZERO)?;
        Ok(answer.map_or(Duration::ZERO, |answer| answer.cool_off))
    }

    /// Reports the end of this run to the runs that share the budget.
    pub(super) fn report_end(&mut self, stop: Stop, attempt: &JudgedAttempt) -> Result<(), RunError> {
        if let Some(budget) = &self.plan.budget {
            self.finish_counting(budget, Duration::ZERO)?;
        }
        if let Some(update) = self.final_update(stop, attempt) {
            self.ask_budget(update, Duration::ZERO)?;
        }
        Ok(())
    }

    fn final_update(&mut self, stop: Stop, JudgedAttempt { outcome, verdict }: &JudgedAttempt) -> Option<Question> {
        // An outer run that shares the budget reports its own end.
        let budget = self.plan.budget.as_ref().filter(|budget| !budget.is_counted)?;
        let earlier = self.store.earlier.unwrap_or(0);
        let cool_off = match (stop, verdict) {
            (Stop::Succeeded { .. } | Stop::Ended(_), _) => return Some(Question::Succeeded),
            // The outer run goes on; a failure that was the goal concerns no other run.
            (Stop::GaveUp(GiveUp::Nested) | Stop::FailureCame, _) => return None,
            // The cool-off is the wait that would have followed.
            (Stop::GaveUp(_), Verdict::Transient(_)) => match self.planned_wait {
                Some(wait) if earlier == 0 => wait,
                _ => self.session.cool_off(outcome, earlier, self.rng),
            },
            // Waiting resolves neither a permanent failure nor too few successes in a row.
            (Stop::GaveUp(_), _) => Duration::ZERO,
        };
        // Only `--on-give-up` and `--cool-off` read the number.
        let is_of_use = self.plan.on_give_up.is_some() || budget.cool_off.is_some();
        let earlier = is_of_use.then_some(earlier);
        Some(Question::GaveUp { cool_off, earlier })
    }

    /// Asks the budget a question. The answer is needed after `spare`. Returns None without a budget or an answer.
    fn ask_budget(&mut self, question: Question, spare: Duration) -> Result<Option<Answer>, RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok(None);
        };
        self.finish_counting(budget, spare)?;
        let answered = self.host.ask_budget(budget, question, self.patience(budget, spare))?;
        self.take(answered)
    }

    fn finish_counting(&mut self, budget: &SharedBudget, spare: Duration) -> Result<(), RunError> {
        let patience = self.patience(budget, spare);
        let counted = self.host.ask_budget(budget, Question::Attempt, patience)?;
        self.take(counted).map(drop)
    }

    /// Returns the limit on the wait for an answer: the store's timeout, or a longer wait of the run itself.
    fn patience(&self, budget: &SharedBudget, spare: Duration) -> Duration {
        let deadline = self.plan.limits.deadline.unwrap_or(Duration::MAX);
        let left = deadline.saturating_sub(self.host.elapsed());
        spare.min(left).min(MOST_PATIENCE).max(budget.timeout)
    }

    fn take(&mut self, answered: BudgetAnswer) -> Result<Option<Answer>, RunError> {
        if let Some(warning) = answered.warning
            && !std::mem::replace(&mut self.store.has_warned, true)
        {
            self.emit(&Event::Warning(&warning))?;
        }
        if let Some(answer) = answered.answer {
            self.store.earlier.get_or_insert(answer.failed_runs);
            self.store.failed_runs = Some(answer.failed_runs);
        }
        Ok(answered.answer)
    }
}
