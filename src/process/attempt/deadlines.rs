//! The deadlines of an attempt as one pure object. It knows which limit is reached, when SIGKILL is due and when to
//! give up waiting. All except the run's deadline are paused while backoff is stopped. Callers pass in the time and
//! send the signals.

use std::time::{Duration, Instant};

use crate::policy::outcome::{ForcedEnd, TimeLimit};
use crate::process::sys::clock::Deadline;
use crate::run::plan::AttemptLimits;

/// Time for processes to die after SIGKILL.
pub(super) const TREE_GRACE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Deadlines<'a> {
    pub(super) attempt_limits: &'a AttemptLimits,
    /// Start of the attempt, postponed like the deadlines.
    started: Instant,
    /// The run's deadline.
    run: Deadline,
    pub(super) timeout: Deadline,
    /// End of the longest allowed silence.
    idle: Deadline,
    /// When to send SIGKILL, once the attempt was asked to terminate. Never once it was sent, or if the user wants
    /// none.
    pub(super) kill: Deadline,
    /// When to give up waiting for processes that were asked to terminate. Set once SIGKILL was sent, or by
    /// `wait_for_tree` if none is wanted. Never while a SIGKILL is still to come.
    pub(super) give_up: Deadline,
    /// The limit that ended the attempt.
    pub(super) ended_by: Option<TimeLimit>,
    /// Details of how a limit or SIGKILL ended the attempt.
    pub(super) forced_end: ForcedEnd,
}

impl<'a> Deadlines<'a> {
    /// Sets the deadlines of an attempt. `run` is the deadline of the whole run.
    pub(super) fn new(
        attempt_limits: &'a AttemptLimits,
        started: Instant,
        run: Deadline,
    ) -> Deadlines<'a> {
        Deadlines {
            attempt_limits,
            started,
            run,
            timeout: Deadline::maybe_after(started, attempt_limits.timeout),
            idle: Deadline::maybe_after(started, attempt_limits.idle),
            kill: Deadline::NEVER,
            give_up: Deadline::NEVER,
            ended_by: None,
            forced_end: ForcedEnd::default(),
        }
    }

    /// Postpones all deadlines except the run's by the time that backoff was stopped. The command was also stopped and
    /// must not time out for it. `started` also moves, so that the pause is not reported as run time.
    pub(super) fn on_pause(&mut self, pause: Duration) {
        self.started += pause;
        for deadline in [
            &mut self.timeout,
            &mut self.idle,
            &mut self.kill,
            &mut self.give_up,
        ] {
            deadline.put_off(pause);
        }
    }

    /// Returns the limit that is reached, or None if there is none or one has already ended the attempt. If several are
    /// reached, the run's deadline takes precedence, as it also ends the run.
    pub(super) fn reached_limit(&self, now: Instant) -> Option<TimeLimit> {
        if self.ended_by.is_some() {
            return None;
        }
        if self.run.is_due(now) {
            Some(TimeLimit::Deadline)
        } else if self.timeout.is_due(now) {
            Some(TimeLimit::Timeout)
        } else if self.idle.is_due(now) {
            Some(TimeLimit::Idle)
        } else {
            None
        }
    }

    /// Returns when the event loop must wake up while the command runs, for the next limit, for SIGKILL or to give up.
    pub(super) fn earliest(&self) -> Deadline {
        let ending = self.kill.or_earlier(self.give_up);
        match self.ended_by {
            // A limit ends an attempt only once.
            Some(_) => ending,
            None => ending
                .or_earlier(self.run)
                .or_earlier(self.timeout)
                .or_earlier(self.idle),
        }
    }

    /// Restarts the idle limit. The command is not silent, as it has written output or waits for its reader.
    pub(super) fn on_output(&mut self, now: Instant) {
        self.idle = Deadline::maybe_after(now, self.attempt_limits.idle);
    }

    /// Records the limit that ends the attempt, with its length for the message, and schedules SIGKILL. The caller
    /// sends the first signal.
    pub(super) fn on_limit(&mut self, limit: TimeLimit, now: Instant) {
        self.schedule_kill(now, self.attempt_limits.kill_after);
        self.ended_by = Some(limit);
        self.forced_end.limit = match limit {
            TimeLimit::Timeout => self.attempt_limits.timeout,
            TimeLimit::Idle => self.attempt_limits.idle,
            // The message about the end of the run names the deadline.
            TimeLimit::Deadline => None,
        };
    }

    /// Schedules SIGKILL after a signal that ends the run, if `--kill-after` was given explicitly. Does nothing after a
    /// limit, which has already scheduled it or never does. Also does nothing once SIGKILL was sent, or each further
    /// signal would delay the end of the run.
    pub(super) fn on_interruption(&mut self, now: Instant) {
        let was_killed = self.give_up.is_set();
        if self.ended_by.is_none() && !was_killed {
            self.schedule_kill(now, self.attempt_limits.kill_interrupted_after);
        }
    }

    /// Schedules SIGKILL for this long (`after`) from now, unless it is already scheduled earlier. None schedules
    /// nothing. If SIGKILL was already sent, after a signal, backoff gives up waiting only after the new one.
    fn schedule_kill(&mut self, now: Instant, after: Option<Duration>) {
        self.kill = self.kill.or_earlier(Deadline::maybe_after(now, after));
        if self.kill.is_set() {
            self.give_up = Deadline::NEVER;
        }
    }

    /// Returns true, once, if the caller must send SIGKILL now. From then on processes have [`TREE_GRACE`] to die
    /// before backoff gives up.
    pub(super) fn take_kill(&mut self, now: Instant) -> bool {
        let is_due = self.kill.is_due(now);
        if is_due {
            self.kill = Deadline::NEVER;
            self.give_up = Deadline::after(now, TREE_GRACE);
        }
        is_due
    }

    /// Returns true if no SIGKILL is or was scheduled, so also before the attempt is asked to terminate. `give_up`
    /// shows that a SIGKILL was sent.
    pub(super) fn never_kills(&self) -> bool {
        !self.kill.is_set() && !self.give_up.is_set()
    }

    pub(super) fn ran(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

#[cfg(test)]
#[path = "deadlines_tests.rs"]
mod tests;
