//! Sends the questions and updates of a run to the shared budget, which limits the retries of all runs together: counts
//! attempts that are not retries, asks before each retry, and reports the end. A store (a directory or Redis) keeps its
//! numbers. After a run has given up, the budget lets later runs wait before their first attempt for a while: the
//! cool-off. An error of a function here ends the run at once: a signal has come. A store that does not answer is no
//! error: it causes one warning, and `--store-down` decides.

use std::time::Duration;

use super::event::{Event, JudgedAttempt};
use super::host::{BudgetAnswer, RunResult};
use super::plan::SharedBudget;
use super::state::Run;
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop, Until};

/// Limit on the wait for an answer beyond the store's timeout: a retry is announced only once allowed.
const MOST_PATIENCE: Duration = Duration::from_secs(5);

/// Time for an answer even past the run's deadline, if the store's timeout is as long.
const LEAST_PATIENCE: Duration = Duration::from_millis(250);

/// Answer of the budget to the question whether a retry may follow.
pub(super) enum RetryAnswer {
    Granted {
        /// The wait that is left, as the answer took time.
        rest_of_delay: Duration,
    },
    Denied(GiveUp),
}

impl Run<'_> {
    /// Begins to count an attempt that is not a retry (the first one, or one after a success), while the attempt runs.
    /// Before, waits for the count of the attempt before if it is still pending, as long as the store may take. Does
    /// nothing without a budget, for a granted retry, which the grant has counted if a store answered, and for a first
    /// attempt that an outer run has counted as its own.
    pub(super) fn begin_counting(&mut self) -> RunResult<()> {
        if let Some(budget) = &self.plan.budget
            && !self.store.skips_next_count
        {
            // No request for a retry follows a success, so the count of the last attempt may still be pending.
            let no_spare_time = Duration::ZERO;
            self.finish_counting(budget, no_spare_time)?;
            self.host.begin_counting(budget);
        }
        Ok(())
    }

    /// Asks for a retry that will follow `delay`. A budget that grants it has counted it. Asking is a part of the
    /// delay, so the rest of it is returned. Granted without a budget, and if the budget gives no answer, unless
    /// `--store-down deny`.
    pub(super) fn ask_for_retry(&mut self, delay: Duration) -> RunResult<RetryAnswer> {
        let Some(budget) = &self.plan.budget else {
            return Ok(RetryAnswer::Granted {
                rest_of_delay: delay,
            });
        };
        let asked_at = self.host.elapsed();
        match self.ask_budget(Question::Retry, delay)? {
            Some(answer) if !answer.allowed => {
                return Ok(RetryAnswer::Denied(GiveUp::Budget(answer.counts)));
            }
            None if budget.denies_if_down => return Ok(RetryAnswer::Denied(GiveUp::StoreDown)),
            // Allowed, or the run goes on without the budget.
            _ => {}
        }
        let asking_took = self.host.elapsed().saturating_sub(asked_at);
        Ok(RetryAnswer::Granted {
            rest_of_delay: delay.saturating_sub(asking_took),
        })
    }

    /// Asks how long new runs have to wait, as an earlier run gave up; zero if they need not wait, and if the budget
    /// gives no answer.
    pub(super) fn ask_for_cool_off(&mut self) -> RunResult<Duration> {
        let answer = self.ask_budget(Question::CoolOff, Duration::ZERO)?;
        Ok(answer.map_or(Duration::ZERO, |answer| answer.cool_off))
    }

    /// Reports the end of this run to the budget, for the runs that share it, once its last attempt is counted, and
    /// learns from the answer how many runs have given up in a row, which `--on-give-up` is told. An error is a signal
    /// that ends the run.
    pub(super) fn report_end(&mut self, stop: Stop, attempt: &JudgedAttempt) -> RunResult<()> {
        if let Some(budget) = &self.plan.budget {
            // The answer to the count may be the first with the number of failed runs, which `final_update` reads. If
            // that reports nothing, no later step waits for the count before backoff exits.
            self.finish_counting(budget, Duration::ZERO)?;
        }
        let question = match self.final_update(stop, attempt) {
            Some(update) => update,
            // Nothing is reported, but the hook needs the number, for which nothing else may have asked.
            None if self.give_up_hook(stop, attempt).is_some() => Question::CoolOff,
            None => return Ok(()),
        };
        let answer = self.ask_budget(question, Duration::ZERO)?;
        // Without an answer, the number of an earlier one would not count this run.
        self.store.failed_runs_now = answer.map(|answer| answer.failed_runs);
        Ok(())
    }

    /// Returns the report on the end of this run, for later runs of the budget: a success ends their cool-off, and a
    /// failure that a wait may resolve begins or extends it, even if this run has no `--cool-off`, as they may have it.
    /// None if no report is due: without a budget, with that of an outer run, which reports itself, and after a failure
    /// that is left to an outer run (`--nested once`) or was the goal.
    fn final_update(
        &mut self,
        stop: Stop,
        JudgedAttempt { outcome, verdict }: &JudgedAttempt,
    ) -> Option<Question> {
        let budget = self.plan.budget_not_of_outer_run()?;
        // Runs that gave up in a row before this one, or 0 if the budget never gave an answer.
        let failed_runs = self.store.failed_runs_before.unwrap_or(0);
        let cool_off = match (stop, verdict) {
            (Stop::Succeeded { .. } | Stop::EndedOnSuccess(_), _) => {
                return Some(Question::Succeeded);
            }
            // The outer run goes on; a failure that was the goal concerns no other run.
            (Stop::GaveUp(GiveUp::Nested) | Stop::FailureCame, _) => return None,
            // The failure that was the goal did not come, its output was cut off, or the attempt could not be judged
            // (a failed start, say): no service has failed.
            (Stop::GaveUp(_), _) if self.plan.limits.until == Until::Failure => Duration::ZERO,
            // The cool-off is the wait before the retry that was decided and not made (the budget denied it, say), or
            // else the wait of one more retry; longer after earlier failed runs.
            (Stop::GaveUp(_), Verdict::Transient(_)) => match self.planned_wait {
                Some(planned_wait) if failed_runs == 0 => planned_wait,
                _ => self.session.cool_off(outcome, failed_runs, self.rng),
            },
            // Waiting resolves no permanent failure and, after a success, neither too few of them in a row nor output
            // that is read too slowly.
            (Stop::GaveUp(_), _) => Duration::ZERO,
        };
        // With None, the budget does not count this run as failed: only `--on-give-up` and `--cool-off` read the
        // number, and Redis has to keep it for a year.
        let needs_failed_runs = self.plan.on_give_up.is_some() || budget.cool_off.is_some();
        let earlier = if needs_failed_runs {
            Some(failed_runs)
        } else {
            None
        };
        Some(Question::GaveUp { cool_off, earlier })
    }

    /// Asks the budget a question, after a count that is still pending, and remembers the number of failed runs that
    /// the answer tells. The answer may take as long as the store's timeout, or longer if the run waits anyway for a
    /// time (`spare`). If the store gives none, the host asks this machine's own budget (`--store-down local`), which
    /// takes its timeout, too. Returns None without a budget, or if neither answers.
    fn ask_budget(&mut self, question: Question, spare: Duration) -> RunResult<Option<Answer>> {
        let Some(budget) = &self.plan.budget else {
            return Ok(None);
        };
        // First, so that the answer includes the attempt; the host expects no pending count then.
        self.finish_counting(budget, spare)?;
        let answered = self
            .host
            .ask_budget(budget, question, self.patience(budget, spare))?;
        self.note_answer(answered)
    }

    /// Waits until the attempt of `begin_counting`, if any, is counted; a store that does not answer only causes a
    /// warning. For `spare`, see `ask_budget`.
    fn finish_counting(&mut self, budget: &SharedBudget, spare: Duration) -> RunResult<()> {
        let patience = self.patience(budget, spare);
        let counted = self.host.finish_counting(budget, patience)?;
        self.note_answer(counted).map(drop)
    }

    /// Returns the limit on the wait for an answer: the store's timeout, or `spare` if longer, but then at most
    /// [`MOST_PATIENCE`]. Both end with the deadline, past which only a timeout up to [`LEAST_PATIENCE`] goes on.
    fn patience(&self, budget: &SharedBudget, spare: Duration) -> Duration {
        let deadline = self.plan.limits.deadline.unwrap_or(Duration::MAX);
        let left = deadline.saturating_sub(self.host.elapsed());
        let timeout = budget.timeout.min(left.max(LEAST_PATIENCE));
        spare.min(left).min(MOST_PATIENCE).max(timeout)
    }

    /// Returns the answer, None if neither the store gave one nor, with `--store-down local`, this machine's budget.
    /// Remembers how many runs have failed in a row: of the first answer for the cool-off, of the last for
    /// `--on-give-up`. Prints a warning about the store, but only one a run, as a store that is down would cause one at
    /// each step.
    fn note_answer(&mut self, answered: BudgetAnswer) -> RunResult<Option<Answer>> {
        if let Some(warning) = answered.warning
            && !self.store.has_warned
        {
            self.store.has_warned = true;
            self.emit(&Event::Warning(&warning))?;
        }
        if let Some(answer) = answered.answer {
            self.store
                .failed_runs_before
                .get_or_insert(answer.failed_runs);
            self.store.failed_runs_now = Some(answer.failed_runs);
        }
        Ok(answered.answer)
    }
}
