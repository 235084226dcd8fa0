//! The deadlines of an attempt. All except the run's deadline use the attempt's own clock, which stands still while
//! backoff is stopped.

use std::time::{Duration, Instant};

use crate::policy::outcome::{Bound, Cut};
use crate::process::sys::clock::Deadline;
use crate::run::plan::Bounds;

#[derive(Debug)]
pub(super) struct Deadlines<'a> {
    pub(super) bounds: &'a Bounds,
    started: Instant,
    /// Total time in which backoff was stopped.
    paused: Duration,
    /// The run's deadline, on the machine's clock.
    run: Deadline,
    timeout: Deadline,
    /// End of the longest silence allowed.
    idle: Deadline,
    /// Time of KILL, once the attempt was asked to end.
    pub(super) kill: Deadline,
    took_kill: bool,
    /// The limit that has ended the attempt.
    pub(super) ended_by: Option<Bound>,
}

impl<'a> Deadlines<'a> {
    pub(super) fn new(bounds: &'a Bounds, started: Instant, run: Deadline) -> Deadlines<'a> {
        Deadlines {
            bounds,
            started,
            paused: Duration::ZERO,
            run,
            timeout: Deadline::maybe_after(started, bounds.timeout),
            idle: Deadline::maybe_after(started, bounds.idle),
            kill: Deadline::NEVER,
            took_kill: false,
            ended_by: None,
        }
    }

    /// Returns the time on the attempt's clock.
    pub(super) fn own_time(&self, now: Instant) -> Instant {
        now.checked_sub(self.paused).unwrap_or(now)
    }

    /// Converts a deadline on the attempt's clock to the machine's clock, assuming no further stop.
    pub(super) fn machine_time(&self, mut own: Deadline) -> Deadline {
        own.put_off(self.paused);
        own
    }

    /// Adds a time in which backoff was stopped.
    pub(super) fn on_pause(&mut self, pause: Duration) {
        self.paused = self.paused.saturating_add(pause);
    }

    /// Returns the limit that was reached, if none has ended the attempt yet.
    pub(super) fn due(&self, now: Instant) -> Option<Bound> {
        let own = self.own_time(now);
        match self.ended_by {
            Some(_) => None,
            None if self.run.is_due(now) => Some(Bound::Deadline),
            None if self.timeout.is_due(own) => Some(Bound::Timeout),
            None => self.idle.is_due(own).then_some(Bound::Idle),
        }
    }

    /// Returns the next deadline, on the machine's clock.
    pub(super) fn next(&self) -> Deadline {
        let limits = self
            .machine_time(self.timeout.or_earlier(self.idle))
            .or_earlier(self.run);
        let limits = if self.ended_by.is_some() {
            Deadline::NEVER
        } else {
            limits
        };
        limits.or_earlier(self.machine_time(self.kill))
    }

    /// Restarts the idle limit: the command has printed, or its output waits for a reader.
    pub(super) fn on_output(&mut self, now: Instant) {
        self.idle = Deadline::maybe_after(self.own_time(now), self.bounds.idle);
    }

    /// Schedules KILL, as a limit or a signal has asked the command to end. Records the limit.
    pub(super) fn on_end(&mut self, limit: Option<Bound>, now: Instant) {
        let after = match (limit, self.ended_by) {
            (Some(_), _) => self.bounds.kill_after,
            (None, None) => self.bounds.kill_interrupted_after,
            (None, Some(_)) => None,
        };
        self.kill = self.kill.or_earlier(Deadline::maybe_after(self.own_time(now), after));
        self.ended_by = limit.or(self.ended_by);
    }

    /// Returns true once when KILL is due.
    pub(super) fn take_kill(&mut self, now: Instant) -> bool {
        let is_due = self.kill.is_due(self.own_time(now));
        if is_due {
            (self.kill, self.took_kill) = (Deadline::NEVER, true);
        }
        is_due
    }

    /// Returns details of how the attempt was ended, if a limit or KILL ended it.
    pub(super) fn cut(&self) -> Cut {
        let limit = match self.ended_by {
            Some(Bound::Timeout) => self.bounds.timeout,
            Some(Bound::Idle) => self.bounds.idle,
            Some(Bound::Deadline) | None => None,
        };
        let took_kill = self.took_kill;
        Cut { limit, took_kill }
    }

    /// Returns how long the command has run.
    pub(super) fn ran(&self, now: Instant) -> Duration {
        self.own_time(now).saturating_duration_since(self.started)
    }
}

#[cfg(test)]
mod tests;
