//! The deadlines of an attempt. All except the run's deadline stand still while backoff is stopped.

use std::time::{Duration, Instant};

use crate::policy::outcome::{Cut, TimeLimit};
use crate::process::sys::clock::Deadline;
use crate::run::plan::AttemptLimits;

#[derive(Debug)]
pub(super) struct Deadlines<'a> {
    pub(super) attempt_limits: &'a AttemptLimits,
    /// Start of the attempt, put off like the deadlines.
    started: Instant,
    /// The run's deadline.
    run: Deadline,
    timeout: Deadline,
    /// End of the longest silence allowed.
    idle: Deadline,
    /// Time of KILL, once the attempt was asked to end.
    pub(super) kill: Deadline,
    /// End of the time for the rest of the tree to die.
    pub(super) tree: Deadline,
    /// The limit that has ended the attempt.
    pub(super) ended_by: Option<TimeLimit>,
    /// Details of how a limit or KILL has ended the attempt.
    pub(super) cut: Cut,
}

impl<'a> Deadlines<'a> {
    pub(super) fn new(attempt_limits: &'a AttemptLimits, started: Instant, run: Deadline) -> Deadlines<'a> {
        Deadlines {
            attempt_limits,
            started,
            run,
            timeout: Deadline::maybe_after(started, attempt_limits.timeout),
            idle: Deadline::maybe_after(started, attempt_limits.idle),
            kill: Deadline::NEVER,
            tree: Deadline::NEVER,
            ended_by: None,
            cut: Cut::default(),
        }
    }

    /// Puts all deadlines off, except the run's, by a time in which backoff was stopped.
    pub(super) fn on_pause(&mut self, pause: Duration) {
        self.started += pause;
        for deadline in [&mut self.timeout, &mut self.idle, &mut self.kill, &mut self.tree] {
            deadline.put_off(pause);
        }
    }

    /// Returns the limit that was reached, if none has ended the attempt yet.
    pub(super) fn due(&self, now: Instant) -> Option<TimeLimit> {
        match self.ended_by {
            Some(_) => None,
            None if self.run.is_due(now) => Some(TimeLimit::Deadline),
            None if self.timeout.is_due(now) => Some(TimeLimit::Timeout),
            None => self.idle.is_due(now).then_some(TimeLimit::Idle),
        }
    }

    /// Returns the next deadline.
    pub(super) fn next(&self) -> Deadline {
        let limits = self.run.or_earlier(self.timeout).or_earlier(self.idle);
        match self.ended_by {
            Some(_) => self.kill,
            None => limits.or_earlier(self.kill),
        }
    }

    /// Restarts the idle limit: the command has printed, or its output waits for a reader.
    pub(super) fn on_output(&mut self, now: Instant) {
        self.idle = Deadline::maybe_after(now, self.attempt_limits.idle);
    }

    /// Schedules KILL, as a limit or a signal has asked the command to end. Records the limit.
    pub(super) fn on_end(&mut self, limit: Option<TimeLimit>, now: Instant) {
        let after = match (limit, self.ended_by) {
            (Some(_), _) => self.attempt_limits.kill_after,
            (None, None) => self.attempt_limits.kill_interrupted_after,
            (None, Some(_)) => None,
        };
        self.kill = self.kill.or_earlier(Deadline::maybe_after(now, after));
        if let Some(which) = limit {
            self.ended_by = limit;
            self.cut.limit = match which {
                TimeLimit::Timeout => self.attempt_limits.timeout,
                TimeLimit::Idle => self.attempt_limits.idle,
                TimeLimit::Deadline => None,
            };
        }
    }

    /// Returns true once when KILL is due.
    pub(super) fn take_kill(&mut self, now: Instant) -> bool {
        let is_due = self.kill.is_due(now);
        if is_due {
            (self.kill, self.cut.took_kill) = (Deadline::NEVER, true);
        }
        is_due
    }

    /// Returns how long the command has run.
    pub(super) fn ran(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

#[cfg(test)]
mod tests;
