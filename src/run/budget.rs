//! The budget that a run shares: what is asked and told, and when.

use std::time::Duration;

use super::event::{Event, JudgedAttempt, Warning};
use super::host::{BudgetAnswer, RunError};
use super::state::Run;
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

/// A retry is announced once it is allowed, so that a person waits no longer than this to read of it.
const MOST_PATIENCE: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// Begins to count an attempt that is no retry, while it runs.
    pub(super) fn begin_counting(&mut self) {
        if let Some(budget) = &self.plan.budget {
            self.host.begin_counting(budget);
        }
    }

    /// Asks for a retry after this wait. Returns why it is denied, if it is, and the rest of the wait.
    pub(super) fn ask_for_retry(&mut self, delay: Duration) -> Result<(Option<GiveUp>, Duration), RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok((None, delay));
        };
        let asked = self.host.elapsed();
        let denied = match self.ask_budget(Question::Retry, delay)? {
            Some(answer) => (!answer.allowed).then_some(GiveUp::Budget(answer.counts)),
            None => budget.denies_if_down.then_some(GiveUp::StoreDown),
        };
        Ok((denied, delay.saturating_sub(self.host.elapsed().saturating_sub(asked))))
    }

    pub(super) fn ask_for_cool_off(&mut self) -> Result<Option<Answer>, RunError> {
        self.ask_budget(Question::CoolOff, Duration::ZERO)
    }

    /// Tells the runs that share the budget how this one ended.
    pub(super) fn report_end(&mut self, stop: Stop, attempt: &JudgedAttempt) -> Result<(), RunError> {
        self.finish_counting(Duration::ZERO)?;
        if let Some(update) = self.final_update(stop, attempt) {
            self.ask_budget(update, Duration::ZERO)?;
        }
        Ok(())
    }

    /// Returns what the other runs should know of the end of this one.
    fn final_update(&mut self, stop: Stop, JudgedAttempt { outcome, verdict }: &JudgedAttempt) -> Option<Question> {
        // An outer run that shares the budget will say it.
        let budget = self.plan.budget.as_ref().filter(|budget| !budget.is_counted)?;
        // The record would be kept for nobody.
        let is_asked_for = self.plan.on_give_up.is_some() || budget.cool_off.is_some();
        let earlier = self.store.earlier.unwrap_or(0);
        let cool_off = match (stop, verdict) {
            (Stop::Succeeded { .. } | Stop::Ended(_), _) => return Some(Question::Succeeded),
            // The outer run goes on and will say it; and a failure that was wanted concerns no other run.
            (Stop::GaveUp(GiveUp::Nested) | Stop::FailureCame, _) => return None,
            // The wait that would have followed.
            (Stop::GaveUp(_), Verdict::Transient(_)) => match self.planned_wait {
                Some(wait) if earlier == 0 => wait,
                _ => self.session.next_wait(outcome, earlier, self.rng),
            },
            // A permanent failure, or too few successes in a row: time does not mend it.
            (Stop::GaveUp(_), _) => Duration::ZERO,
        };
        let earlier = is_asked_for.then_some(earlier);
        Some(Question::GaveUp { cool_off, earlier })
    }

    /// Returns None if there is no budget, or no answer. The answer is needed after `spare` time.
    fn ask_budget(&mut self, question: Question, spare: Duration) -> Result<Option<Answer>, RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok(None);
        };
        self.finish_counting(spare)?;
        let answered = self.host.ask_budget(budget, question, self.patience(spare))?;
        self.take(answered)
    }

    fn finish_counting(&mut self, spare: Duration) -> Result<(), RunError> {
        let Some(budget) = &self.plan.budget else { return Ok(()) };
        let counted = self.host.counted(budget, self.patience(spare))?;
        self.take(counted).map(drop)
    }

    /// Returns how long to wait for an answer: the store's own time, or as long as the run waits anyway.
    fn patience(&self, spare: Duration) -> Duration {
        let timeout = self
            .plan
            .budget
            .as_ref()
            .map_or(Duration::ZERO, |budget| budget.timeout);
        let deadline = self.plan.limits.deadline.unwrap_or(Duration::MAX);
        let left = deadline.saturating_sub(self.host.elapsed());
        spare.min(left).min(MOST_PATIENCE).max(timeout)
    }

    fn take(&mut self, answered: BudgetAnswer) -> Result<Option<Answer>, RunError> {
        if let Some(warning) = answered.warning
            && !std::mem::replace(&mut self.store.has_warned, true)
        {
            self.emit(&Event::Warning(Warning::Text(&warning)))?;
        }
        if let Some(answer) = answered.answer {
            self.store.earlier.get_or_insert(answer.failed_runs);
            self.store.failed_runs = Some(answer.failed_runs);
        }
        Ok(answered.answer)
    }
}
