//! Decides whether a run stops or retries, and how long it waits. The loop of `run` calls [`Session::begin`] before
//! each attempt and [`Session::decide_next`] after it, unless a signal or lost output ended the run without a verdict.
//! The session remembers what these decisions need to know about earlier attempts.

use std::time::Duration;

use rand::Rng;

use super::classifier::{Verdict, Why};
use super::delay::Delays;
use super::limits::{GiveUp, Limits, Until};
use super::outcome::Outcome;

/// The next step after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Stop(Stop),
    /// Waits and runs the command again, after a failure or, with `--until`, a success.
    Retry(Duration),
    /// Waits and runs the command again to confirm a success (`--consecutive`).
    Confirm(Duration),
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Succeeded {
        /// True if an earlier attempt failed.
        flaky: bool,
    },
    /// An attempt failed, with `--until failure`.
    FailureCame,
    /// The run ended after a successful attempt, with `--until never`.
    EndedOnSuccess(GiveUp),
    /// The run did not reach its goal. The last attempt may be a success (`--consecutive`, `--until`).
    GaveUp(GiveUp),
}

impl Stop {
    /// Returns the reason for giving up. None if the run reached its goal, or ended after a success with `--until
    /// never`.
    pub fn gave_up(self) -> Option<GiveUp> {
        match self {
            Stop::GaveUp(why) => Some(why),
            _ => None,
        }
    }
}

/// State of a run across attempts: their number, the growth of the waits, and successes in a row.
#[derive(Debug)]
pub struct Session<'p> {
    limits: &'p Limits,
    delays: &'p Delays,
    /// Number of the current attempt, to which `--attempts` applies, 0 before the first. After `--reset-after` has
    /// restarted the count, it continues with 2.
    pub attempt: u64,
    /// Attempts so far, including the current one and those before a reset.
    pub total: u64,
    /// Retries decided so far, including those before a reset, those after a success (`--until`), and one that the
    /// budget then denied.
    pub retries: u64,
    /// The output asked for a longer wait before the last retry than the one drawn, and got it. Set with each
    /// `Decision::Retry`, and meaningless after any other decision.
    pub is_wait_asked: bool,
    /// Growth step of the next wait: the retries since the growth last restarted.
    growth_step: u64,
    /// Last wait drawn since the growth restarted, for decorrelated jitter.
    previous_delay: Option<Duration>,
    /// Counted only if success is the goal.
    successes_in_a_row: u64,
    /// An attempt of the run failed, before or after a reset.
    has_failed: bool,
    /// The last attempt ran at least as long as `--reset-after`, and the count of attempts has not restarted yet.
    restart_is_due: bool,
}

impl<'p> Session<'p> {
    /// Returns the state before the first attempt.
    pub fn new(limits: &'p Limits, delays: &'p Delays) -> Session<'p> {
        Session {
            limits,
            delays,
            attempt: 0,
            total: 0,
            retries: 0,
            is_wait_asked: false,
            growth_step: 0,
            previous_delay: None,
            successes_in_a_row: 0,
            has_failed: false,
            restart_is_due: false,
        }
    }

    /// Counts an attempt that begins. It is number 2 if `--reset-after` has made a restart due.
    pub fn begin(&mut self) {
        self.attempt = self.next_attempt();
        self.total += 1;
        self.restart_is_due = false;
    }

    /// Returns the number of the next attempt: 2 if a restart is due (`--reset-after`), because the last attempt then
    /// counts as the first.
    pub fn next_attempt(&self) -> u64 {
        if self.restart_is_due {
            2
        } else {
            self.attempt.saturating_add(1)
        }
    }

    /// Decides the next step by the goal (`--until`) and the limits of the run. `elapsed` is the time since the run
    /// began. Remembers a failure, because a later success is then flaky. Counts a retry that it allows, although the
    /// budget, which is asked later, may still deny it. A confirmation is not a retry.
    pub fn decide_next(
        &mut self,
        outcome: &Outcome,
        verdict: &Verdict,
        elapsed: Duration,
        rng: &mut dyn Rng,
    ) -> Decision {
        let succeeded = *verdict == Verdict::Success;
        self.has_failed |= !succeeded;
        match (self.goal_after(outcome, verdict), verdict) {
            (Until::Success, Verdict::Success) => self.after_success(outcome, elapsed),
            // Never `Ask`, which `--retry-if` has replaced. With `--until failure` it remains, but the next arm handles
            // it.
            (Until::Success, Verdict::Permanent(_) | Verdict::Ask(_)) => give_up(GiveUp::Permanent),
            // The deadline is not a failure of the command.
            (Until::Failure, _) if !succeeded && !outcome.ended_by_deadline() => {
                Decision::Stop(Stop::FailureCame)
            }
            // A transient failure, a success that is not the goal, the deadline, or any end with `--until never`.
            _ => match self.try_retry(outcome, verdict, elapsed, rng) {
                Ok(wait) => Decision::Retry(wait),
                Err(why) => Decision::Stop(self.stop_for(why, verdict)),
            },
        }
    }

    /// Returns the goal that applies to this attempt. An attempt says nothing about the command if it could not start
    /// or be killed, if its output is lost or has no reader (as a death by SIGPIPE also shows), or if its predicate
    /// failed. It is treated as with `--until success`, so that a typo in a name neither counts as the expected failure
    /// nor repeats forever.
    fn goal_after(&self, outcome: &Outcome, verdict: &Verdict) -> Until {
        let is_unknown = match verdict.reason() {
            Some(reason) => matches!(
                reason.why,
                Why::NotRead | Why::Survivors | Why::Failed { .. }
            ),
            None => false,
        };
        if outcome.could_not_start() || outcome.seen.reader_gone || is_unknown {
            Until::Success
        } else {
            self.limits.until
        }
    }

    /// Returns the end of a run that gives up. With `--until never`, that is not a failure after a success.
    pub fn stop_for(&self, why: GiveUp, verdict: &Verdict) -> Stop {
        match (self.limits.until, verdict) {
            (Until::Never, Verdict::Success) => Stop::EndedOnSuccess(why),
            _ => Stop::GaveUp(why),
        }
    }

    /// Decides the step after a success if success is the goal: stop, confirm it with another attempt
    /// (`--consecutive`), or give up because a limit forbids that. The wait before a confirmation is the base delay,
    /// because growth and jitter only help a service that fails. Also called for a success whose output lost its
    /// reader, whatever the goal (`goal_after`). With `--until failure` the run then gives up, because another attempt
    /// would also have no reader.
    fn after_success(&mut self, outcome: &Outcome, elapsed: Duration) -> Decision {
        if self.limits.until == Until::Failure {
            // The expected failure did not come, so the run must not exit with 0.
            return give_up(GiveUp::Permanent);
        }
        self.successes_in_a_row += 1;
        // With `--nested once`, no further attempt can confirm the success.
        if self.successes_in_a_row >= self.limits.consecutive || self.limits.leave_to_outer {
            return Decision::Stop(Stop::Succeeded {
                flaky: self.has_failed,
            });
        }
        // Only lost input is possible. The other reasons need a failure, or were ruled out above.
        if let Some(why) = self.retry_forbidden_by(outcome, &Verdict::Success) {
            return give_up(why);
        }
        if self.is_last_attempt() {
            return give_up(GiveUp::Attempts);
        }
        let wait = self.delays.base;
        match self.exceeded_time_limit(elapsed, wait) {
            Some(why) => give_up(why),
            None => Decision::Confirm(wait),
        }
    }

    /// Returns the wait before another attempt that is not a confirmation, or the reason why none follows. Resets the
    /// successes in a row, and restarts the growth of the waits after a long attempt (`--reset-after`) or a success
    /// with `--until never`. Counts the retry and lets the waits grow only if it returns a wait.
    fn try_retry(
        &mut self,
        outcome: &Outcome,
        verdict: &Verdict,
        elapsed: Duration,
        rng: &mut dyn Rng,
    ) -> Result<Duration, GiveUp> {
        self.successes_in_a_row = 0;
        if let Some(why) = self.retry_forbidden_by(outcome, verdict) {
            return Err(why);
        }
        self.note_restart(outcome, verdict);
        // Waits grow with failures in a row, which a success interrupts with `--until never`. With `--until failure`,
        // each repetition follows a success, and the waits grow with these.
        if self.restart_is_due || self.is_expected_success(verdict) {
            self.restart_growth();
        }
        if self.is_last_attempt() {
            return Err(GiveUp::Attempts);
        }
        let step = self.growth_step;
        if self.limits.reaches_stop_at_delay(self.delays, step) {
            return Err(GiveUp::Delay);
        }
        let drawn = self.draw(rng);
        // A wait that the output of a success asks for is ignored.
        let wait = if *verdict == Verdict::Success {
            drawn
        } else if self.asks_too_much(outcome) {
            return Err(GiveUp::RetryAfterTooLong);
        } else {
            self.at_least_asked(outcome, drawn, rng)
        };
        if let Some(why) = self.exceeded_time_limit(elapsed, wait) {
            return Err(why);
        }
        self.is_wait_asked = wait > drawn;
        self.count_retry(drawn);
        Ok(wait)
    }

    /// Counts a retry, and lets the next wait grow. Leaves out the part of a wait that the output asked for, which
    /// decorrelated jitter would multiply.
    fn count_retry(&mut self, drawn: Duration) {
        self.retries += 1;
        self.growth_step += 1;
        self.previous_delay = Some(drawn);
    }

    fn draw(&self, rng: &mut dyn Rng) -> Duration {
        self.delays.draw(self.growth_step, self.previous_delay, rng)
    }

    /// Returns true if the output asked for a wait that ends the run. With `--until never` the run continues, and
    /// `at_least_asked` cuts the wait.
    fn asks_too_much(&self, outcome: &Outcome) -> bool {
        match (self.limits.max_retry_after, outcome.seen.wait_asked) {
            (Some(most), Some(asked)) => asked > most && self.limits.until != Until::Never,
            _ => false,
        }
    }

    /// Notes whether the count of attempts restarts. It does after an attempt that ran at least as long as
    /// `--reset-after`, because the command then counts as recovered. `attempt` changes when the next attempt begins,
    /// but the attempt limit already applies to the new count. A success with `--until failure` restarts nothing,
    /// because long successes are expected then, and the attempt limit has to count them.
    fn note_restart(&mut self, outcome: &Outcome, verdict: &Verdict) {
        let is_long = match self.limits.reset_after {
            Some(healthy) => outcome.ran >= healthy,
            None => false,
        };
        let has_failed = *verdict != Verdict::Success;
        self.restart_is_due = is_long && (has_failed || self.is_expected_success(verdict));
    }

    /// Returns true for a success with `--until never`.
    fn is_expected_success(&self, verdict: &Verdict) -> bool {
        self.limits.until == Until::Never && *verdict == Verdict::Success
    }

    fn restart_growth(&mut self) {
        self.growth_step = 0;
        self.previous_delay = None;
    }

    /// Returns the reason in this attempt that forbids another one, or None. Limits on number and time of attempts are
    /// checked later, because they depend on the next attempt.
    fn retry_forbidden_by(&self, outcome: &Outcome, verdict: &Verdict) -> Option<GiveUp> {
        // A success does not count, because the user asks to repeat it (`--until`, `--consecutive`).
        let failure_may_have_taken_effect = verdict
            .reason()
            .is_some_and(|reason| !reason.is_safe_to_repeat);
        // The first two keep the command's own status. They precede the deadline and later limits. Those, except lost
        // input, exit with `--exhausted-exit`, on which a scheduler or the outer run may run the command again.
        if !self.limits.idempotent && failure_may_have_taken_effect {
            Some(GiveUp::NotIdempotent)
        } else if self.limits.leave_to_outer {
            Some(GiveUp::Nested)
        } else if outcome.ended_by_deadline() || verdict.is_cut_off_by_deadline() {
            // The cause of the end, even if input was also lost or an earlier limit (`--stop-after`) has also passed.
            Some(GiveUp::Deadline)
        } else if outcome.seen.input_lost {
            Some(GiveUp::Stdin)
        } else {
            None
        }
    }

    /// Returns the drawn wait, or a longer one that the output asked for, cut at the limit of `--retry-after`. A
    /// request above the limit only gets here with `--until never`, because it ends any other run. The requested wait
    /// gets a random part, which may exceed the limit, so that clients with the same answer do not all return at once,
    /// unless `asked_is_exact`.
    fn at_least_asked(&self, outcome: &Outcome, drawn: Duration, rng: &mut dyn Rng) -> Duration {
        let (Some(most), Some(asked)) = (self.limits.max_retry_after, outcome.seen.wait_asked)
        else {
            return drawn;
        };
        let asked = asked.min(most);
        if self.limits.asked_is_exact {
            drawn.max(asked)
        } else {
            self.delays.at_least(asked, drawn, rng)
        }
    }

    fn is_last_attempt(&self) -> bool {
        self.limits
            .attempts
            .is_some_and(|attempts| self.next_attempt() > attempts)
    }

    /// Returns the time limit that forbids an attempt after this wait, or None. An attempt exactly at the limit is also
    /// forbidden. `elapsed` is the time since the run began. Checked when a wait is decided, and by `run` again before
    /// the wait and the attempt, because hooks and the budget take time.
    pub fn exceeded_time_limit(&self, elapsed: Duration, wait: Duration) -> Option<GiveUp> {
        let (limit, why) = self.limits.latest_begin()?;
        let begin = elapsed.saturating_add(wait);
        if begin >= limit { Some(why) } else { None }
    }
}

fn give_up(why: GiveUp) -> Decision {
    Decision::Stop(Stop::GaveUp(why))
}

#[cfg(test)]
#[path = "tests/session.rs"]
mod tests;
