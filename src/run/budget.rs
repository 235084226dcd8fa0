//! The budget that a run shares: asking it, and telling it how the run ended.

use std::time::Duration;

use super::event::Event;
use super::host::{BudgetAnswer, Keeper, RunError};
use super::plan::SharedBudget;
use super::state::Run;
use super::text::printable;
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

/// So many times `--store-timeout` is an answer waited for where that holds nobody up. No longer, as nothing is said
/// of a retry before it is allowed, and a person wants to read what is going on.
const PATIENCE: u32 = 20;

impl Run<'_> {
    /// Counts an attempt that is no retry, while it runs.
    pub(super) fn begin_counting(&mut self) {
        if let Some(budget) = &self.plan.budget {
            self.host
                .begin_counting(budget, self.counting(budget), budget.timeout.saturating_mul(PATIENCE));
        }
    }

    /// The first attempt within one that the budget has counted is the same call.
    fn counting(&self, budget: &SharedBudget) -> Question {
        match budget.within {
            Some(number) if self.total == 1 => Question::AttemptWithin(number),
            _ => Question::Attempt,
        }
    }

    /// Whether this retry is allowed, as it is without a budget. What is left of its wait: the answer is waited for
    /// meanwhile.
    pub(super) fn ask_for_retry(&mut self, delay: Duration) -> Result<(Option<Answer>, Duration), RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok((None, delay));
        };
        let asked = self.host.elapsed();
        let patience = delay.clamp(budget.timeout, budget.timeout.saturating_mul(PATIENCE));
        let answer = self.ask_budget(Question::Retry, patience)?;
        Ok((answer, delay.saturating_sub(self.host.elapsed().saturating_sub(asked))))
    }

    pub(super) fn ask_for_cool_off(&mut self) -> Result<Option<Answer>, RunError> {
        let patience = self
            .plan
            .budget
            .as_ref()
            .map_or(Duration::ZERO, |budget| budget.timeout);
        self.ask_budget(Question::CoolOff, patience)
    }

    /// Tells those who share the budget how the run ended.
    pub(super) fn tell_of_the_end(&mut self, update: Option<Question>) -> Result<(), RunError> {
        let Some(budget) = &self.plan.budget else { return Ok(()) };
        self.finish_counting(budget)?;
        match update {
            // Who has just given no answer is not waited for once more.
            Some(update) if self.store.has_failed && budget.has_fallback && !self.store.has_failed_locally => {
                self.ask_locally(budget, update, budget.timeout)?.ok();
            }
            Some(update) if !self.store.has_failed => {
                self.ask_budget(update, budget.timeout)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// None where there is no budget, or where it cannot be asked: the next question is asked all the same.
    fn ask_budget(&mut self, question: Question, patience: Duration) -> Result<Option<Answer>, RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok(None);
        };
        self.finish_counting(budget)?;
        let asked = self.host.ask_budget(Keeper::Shared, budget, question, patience)?;
        self.answered(budget, question, asked, patience)
    }

    fn finish_counting(&mut self, budget: &SharedBudget) -> Result<(), RunError> {
        if let Some(counted) = self.host.counted(budget)? {
            self.answered(budget, self.counting(budget), counted, budget.timeout)?;
        }
        Ok(())
    }

    /// The answer, or in place of one that of the machine's own budget.
    fn answered(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        asked: Result<BudgetAnswer, String>,
        patience: Duration,
    ) -> Result<Option<Answer>, RunError> {
        self.store.has_failed = asked.is_err();
        let why = match asked {
            Ok(answered) => return self.warn_and_take(answered).map(Some),
            Err(why) => why,
        };
        let name = &budget.name;
        if !budget.has_fallback {
            self.warn_once(&format!("{why}; going on without the budget \"{name}\""))?;
            return Ok(None);
        }
        let answered = self.ask_locally(budget, question, patience)?;
        self.store.has_failed_locally = answered.is_err();
        match answered {
            Ok(answered) => {
                self.warn_once(&format!("{why}; going on with this machine's own budget \"{name}\""))?;
                self.warn_and_take(answered).map(Some)
            }
            Err(also) => {
                self.warn_once(&format!("{why}; {also}; going on without the budget \"{name}\""))?;
                Ok(None)
            }
        }
    }

    fn ask_locally(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<Result<BudgetAnswer, String>, RunError> {
        self.host.ask_budget(Keeper::Local, budget, question, patience)
    }

    fn warn_and_take(&mut self, answered: BudgetAnswer) -> Result<Answer, RunError> {
        if let Some(warning) = answered.warning {
            self.tell(&Event::Warning(printable(&warning)))?;
        }
        Ok(answered.answer)
    }

    fn warn_once(&mut self, warning: &str) -> Result<(), RunError> {
        if std::mem::replace(&mut self.store.is_told, true) {
            return Ok(());
        }
        self.tell(&Event::Warning(printable(warning)))
    }
}

/// What the runs of the same budget should know of the end of this one. `next_wait` is the wait that would have followed.
pub(super) fn final_update(stop: Stop, verdict: &Verdict, next_wait: impl FnOnce() -> Duration) -> Option<Question> {
    match (stop, verdict) {
        (Stop::Succeeded { .. } | Stop::GaveUp(GiveUp::Permanent), _) => Some(Question::Recovered),
        // The outer run goes on and will say it.
        (Stop::GaveUp(GiveUp::Nested), _) => None,
        (Stop::GaveUp(_), Verdict::Transient(_)) => Some(Question::GaveUp(next_wait())),
        // Too few successes in a row: neither a failure nor a success.
        (Stop::GaveUp(_), _) => None,
    }
}
