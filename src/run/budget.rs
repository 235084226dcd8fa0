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

/// So many times `--store-timeout` is an answer waited for where that holds nobody up, and that of a directory. No
/// longer, as nothing is said of a retry before it is allowed, and a person wants to read what is going on.
const PATIENCE: u32 = 20;

impl Run<'_> {
    /// Counts an attempt that is no retry, while it runs.
    pub(super) fn begin_counting(&mut self) {
        if let Some(budget) = &self.plan.budget {
            self.host.begin_counting(budget, longest_patience(budget));
        }
    }

    /// Whether this retry is allowed, as it is without a budget. What is left of its wait: the answer is waited for
    /// meanwhile.
    pub(super) fn ask_for_retry(&mut self, delay: Duration) -> Result<(Option<Answer>, Duration), RunError> {
        if self.plan.budget.is_none() {
            return Ok((None, delay));
        }
        let asked = self.host.elapsed();
        let answer = self.ask_budget(Question::Retry, delay)?;
        Ok((answer, delay.saturating_sub(self.host.elapsed().saturating_sub(asked))))
    }

    pub(super) fn ask_for_cool_off(&mut self) -> Result<Option<Answer>, RunError> {
        self.ask_budget(Question::CoolOff, Duration::ZERO)
    }

    /// Tells those who share the budget how the run ended.
    pub(super) fn tell_of_the_end(&mut self, update: Option<Question>) -> Result<(), RunError> {
        let Some(budget) = &self.plan.budget else { return Ok(()) };
        self.finish_counting(budget)?;
        match update {
            // Who has just given no answer is not waited for once more.
            Some(update) if self.store.has_failed && budget.has_fallback && !self.store.has_failed_locally => {
                self.ask_locally(budget, update)?.ok();
            }
            Some(update) if !self.store.has_failed => {
                self.ask_budget(update, Duration::ZERO)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// None where there is no budget, or where it cannot be asked: the next question is asked all the same. The answer
    /// is needed after `spare` time.
    fn ask_budget(&mut self, question: Question, spare: Duration) -> Result<Option<Answer>, RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok(None);
        };
        self.finish_counting(budget)?;
        let patience = spare.clamp(self.patience(budget, Keeper::Shared), longest_patience(budget));
        let asked = self.host.ask_budget(Keeper::Shared, budget, question, patience)?;
        self.answered(budget, question, asked)
    }

    fn finish_counting(&mut self, budget: &SharedBudget) -> Result<(), RunError> {
        let patience = self.patience(budget, Keeper::Shared);
        if let Some(counted) = self.host.counted(patience)? {
            self.answered(budget, Question::Attempt, counted)?;
        }
        Ok(())
    }

    /// How long an answer may hold up the run. That of a directory does so only where this machine is too busy to
    /// run anything, and every run that then goes on without its budget makes that worse; once is enough for one
    /// that hangs.
    fn patience(&self, budget: &SharedBudget, keeper: Keeper) -> Duration {
        let may_take_long = match keeper {
            Keeper::Shared => !budget.has_fallback && !self.store.has_failed,
            Keeper::Local => !self.store.has_failed_locally,
        };
        if may_take_long {
            longest_patience(budget)
        } else {
            budget.timeout
        }
    }

    /// The answer, or in place of one that of the machine's own budget.
    fn answered(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        asked: Result<BudgetAnswer, String>,
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
        let answered = self.ask_locally(budget, question)?;
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
    ) -> Result<Result<BudgetAnswer, String>, RunError> {
        let patience = self.patience(budget, Keeper::Local);
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

fn longest_patience(budget: &SharedBudget) -> Duration {
    budget.timeout.saturating_mul(PATIENCE)
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
