//! The budget that a run shares: asking it, and telling it how the run ended.

use std::time::Duration;

use super::event::Event;
use super::host::{BudgetAnswer, Keeper, RunError};
use super::plan::SharedBudget;
use super::state::{Judged, Run};
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
            self.host
                .begin_counting(budget, self.counting(budget), longest_patience(budget));
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
    pub(super) fn tell_of_the_end(&mut self, stop: Stop, attempt: &Judged) -> Result<(), RunError> {
        let Some(budget) = &self.plan.budget else { return Ok(()) };
        let has_failed = !matches!(stop, Stop::Succeeded { .. });
        self.finish_counting(budget, has_failed, Duration::ZERO)?;
        let Some(update) = self.final_update(stop, attempt) else {
            return Ok(());
        };
        // Who has just given no answer is not waited for once more.
        if !self.store.has_failed {
            let patience = self.patience(budget, Keeper::Shared, has_failed, Duration::ZERO);
            let told = self.host.ask_budget(Keeper::Shared, budget, update, patience)?;
            self.answered(budget, update, told, has_failed)?;
        } else if budget.has_fallback && !self.store.has_failed_locally {
            self.ask_locally(budget, update, has_failed)?.ok();
        }
        Ok(())
    }

    /// What the runs of the same budget should know of the end of this one.
    fn final_update(&mut self, stop: Stop, Judged { outcome, verdict }: &Judged) -> Option<Question> {
        // A run around this one shares the budget, and will say it.
        self.plan.budget.as_ref().filter(|budget| budget.within.is_none())?;
        let earlier = self.store.earlier.unwrap_or(0);
        let cool_off = match (stop, verdict) {
            (Stop::Succeeded { .. } | Stop::Ended(_), _) => return Some(Question::Succeeded),
            // The outer run goes on and will say it; and where a failure was wanted, it is nobody else's.
            (Stop::GaveUp(GiveUp::Nested) | Stop::FailureCame, _) => return None,
            // The wait that would have followed.
            (Stop::GaveUp(_), Verdict::Transient(_)) => match self.planned_wait {
                Some(wait) if earlier == 0 => wait,
                _ => self.session.next_wait(outcome, earlier, self.rng),
            },
            // A permanent failure, or too few successes in a row: nothing that passes with time.
            (Stop::GaveUp(_), _) => Duration::ZERO,
        };
        // Else the record would be kept for the sake of nobody.
        let is_asked_for = self.plan.on_give_up.is_some()
            || self
                .plan
                .budget
                .as_ref()
                .is_some_and(|budget| budget.cool_off.is_some());
        let earlier = is_asked_for.then_some(earlier);
        Some(Question::GaveUp { cool_off, earlier })
    }

    /// None where there is no budget, or where it cannot be asked: the next question is asked all the same. The answer
    /// is needed after `spare` time.
    fn ask_budget(&mut self, question: Question, spare: Duration) -> Result<Option<Answer>, RunError> {
        let Some(budget) = &self.plan.budget else {
            return Ok(None);
        };
        let has_failed = question != Question::CoolOff;
        self.finish_counting(budget, has_failed, spare)?;
        let patience = self.patience(budget, Keeper::Shared, has_failed, spare);
        let asked = self.host.ask_budget(Keeper::Shared, budget, question, patience)?;
        self.answered(budget, question, asked, has_failed)
    }

    fn finish_counting(&mut self, budget: &SharedBudget, has_failed: bool, spare: Duration) -> Result<(), RunError> {
        let patience = self.patience(budget, Keeper::Shared, has_failed, spare);
        if let Some(counted) = self.host.counted(patience)? {
            self.answered(budget, self.counting(budget), counted, has_failed)?;
        }
        Ok(())
    }

    /// How long an answer is waited for, which holds up the run where that is longer than `spare`. A run that has failed waits longer for that of a directory: it is late
    /// only where this machine is too busy to run anything, and each run that goes on without its budget makes that
    /// worse. Once is enough for one that hangs.
    fn patience(&self, budget: &SharedBudget, keeper: Keeper, has_failed: bool, spare: Duration) -> Duration {
        let is_directory_that_answers = match keeper {
            Keeper::Shared => !budget.has_fallback && !self.store.has_failed,
            Keeper::Local => !self.store.has_failed_locally,
        };
        let patience = if has_failed && is_directory_that_answers {
            longest_patience(budget)
        } else {
            spare.min(longest_patience(budget))
        };
        // No longer than the run may last, either.
        let left = self
            .plan
            .limits
            .deadline
            .map_or(Duration::MAX, |deadline| deadline.saturating_sub(self.host.elapsed()));
        patience.min(left).max(budget.timeout)
    }

    /// The answer, or in place of one that of the machine's own budget.
    fn answered(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        asked: Result<BudgetAnswer, String>,
        has_failed: bool,
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
        let answered = self.ask_locally(budget, question, has_failed)?;
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
        has_failed: bool,
    ) -> Result<Result<BudgetAnswer, String>, RunError> {
        let patience = self.patience(budget, Keeper::Local, has_failed, Duration::ZERO);
        self.host.ask_budget(Keeper::Local, budget, question, patience)
    }

    fn warn_and_take(&mut self, answered: BudgetAnswer) -> Result<Answer, RunError> {
        if let Some(warning) = answered.warning {
            self.tell(&Event::Warning(printable(&warning)))?;
        }
        let failed_runs = answered.answer.failed_runs;
        self.store.earlier.get_or_insert(failed_runs);
        self.store.failed_runs = Some(failed_runs);
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
