//! All points in time of an attempt. While backoff is stopped they stand still as one, except the run's deadline.

use std::time::{Duration, Instant};

use crate::policy::outcome::{Bound, Cut};
use crate::process::sys::deadline::Deadline;
use crate::run::plan::Bounds;

#[derive(Debug)]
pub(super) struct Deadlines<'a> {
    bounds: &'a Bounds,
    /// The bound that has ended the attempt.
    pub(super) ended_by: Option<Bound>,
    timeout: Deadline,
    /// The run's deadline; it goes on while backoff is stopped.
    run: Deadline,
    /// When the silence has lasted too long.
    idle: Deadline,
    /// It had, and a look at the streams since then has found nothing: on a busy machine it may be backoff that was
    /// late.
    is_silent: bool,
    /// When the attempt, which was asked to end, gets KILL.
    pub(super) kill: Deadline,
    /// It has got it.
    was_killed: bool,
    /// When the rest of a timed-out tree is left alone.
    pub(super) tree: Deadline,
    /// When the pipes of a command that has ended are closed, even if output keeps coming.
    pub(super) drain: Deadline,
    /// When they are closed because they were silent for too long.
    pub(super) silence: Deadline,
    /// When they are closed because the reader takes nothing.
    pub(super) stuck: Deadline,
    /// Time in which backoff was stopped.
    paused: Duration,
}

impl<'a> Deadlines<'a> {
    pub(super) fn new(bounds: &'a Bounds, started: Instant, run: Deadline) -> Deadlines<'a> {
        Deadlines {
            bounds,
            ended_by: None,
            timeout: Deadline::maybe_after(started, bounds.timeout),
            run,
            idle: Deadline::maybe_after(started, bounds.idle),
            is_silent: false,
            kill: Deadline::NEVER,
            was_killed: false,
            tree: Deadline::NEVER,
            drain: Deadline::NEVER,
            silence: Deadline::NEVER,
            stuck: Deadline::NEVER,
            paused: Duration::ZERO,
        }
    }

    /// The bound that has come due, if none has ended the attempt yet.
    pub(super) fn due(&self, now: Instant) -> Option<Bound> {
        if self.ended_by.is_some() {
            None
        } else if self.run.is_due(now) {
            Some(Bound::Deadline)
        } else if self.timeout.is_due(now) {
            Some(Bound::Timeout)
        } else if self.is_silent && self.idle.is_due(now) {
            Some(Bound::Idle)
        } else {
            None
        }
    }

    /// The first of them.
    pub(super) fn next(&self) -> Deadline {
        if self.ended_by.is_some() {
            return self.kill;
        }
        let bounds = self.timeout.or_earlier(self.run).or_earlier(self.idle);
        bounds.or_earlier(self.kill)
    }

    /// There is output, or output that waits for its reader, which is no silence.
    pub(super) fn on_output(&mut self, now: Instant) {
        self.idle = Deadline::maybe_after(now, self.bounds.idle);
    }

    /// The streams were looked at. `was_long`: [`Deadlines::is_idle_due`] before that.
    pub(super) fn on_look(&mut self, was_long: bool) {
        self.is_silent = was_long;
    }

    /// Whether the silence has lasted too long, unless there is output that was not looked at.
    pub(super) fn is_idle_due(&self, now: Instant) -> bool {
        self.idle.is_due(now)
    }

    /// Whether KILL is due. Told once.
    pub(super) fn take_kill(&mut self, now: Instant) -> bool {
        let is_due = self.kill.is_due(now);
        if is_due {
            self.kill = Deadline::NEVER;
            self.was_killed = true;
        }
        is_due
    }

    /// More about how the attempt was ended, if it was.
    pub(super) fn cut(&self) -> Cut {
        Cut {
            limit: match self.ended_by {
                Some(Bound::Timeout) => self.bounds.timeout,
                Some(Bound::Idle) => self.bounds.idle,
                Some(Bound::Deadline) | None => None,
            },
            took_kill: self.was_killed,
        }
    }

    /// A bound ends the attempt.
    pub(super) fn on_bound(&mut self, bound: Bound, now: Instant) {
        self.ended_by = Some(bound);
        let kill = Deadline::maybe_after(now, self.bounds.kill_after);
        self.kill = self.kill.or_earlier(kill);
    }

    /// The command got a signal that asks to end.
    pub(super) fn on_interrupt(&mut self, now: Instant) {
        let kill = Deadline::maybe_after(now, self.bounds.kill_interrupted_after);
        self.kill = self.kill.or_earlier(kill);
    }

    /// Puts all off by the time that backoff was stopped, except the run's.
    pub(super) fn on_pause(&mut self, pause: Duration) {
        self.paused = self.paused.saturating_add(pause);
        for deadline in [
            &mut self.timeout,
            &mut self.idle,
            &mut self.kill,
            &mut self.tree,
            &mut self.drain,
            &mut self.silence,
            &mut self.stuck,
        ] {
            deadline.put_off(pause);
        }
    }

    /// How long the command has run.
    pub(super) fn ran(&self, started: Instant, now: Instant) -> Duration {
        now.saturating_duration_since(started).saturating_sub(self.paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::signal::Signal;
    use crate::process::sys::clock;

    const SECOND: Duration = Duration::from_secs(1);

    fn bounds() -> Bounds {
        Bounds {
            timeout: Some(5 * SECOND),
            idle: Some(2 * SECOND),
            signal: Signal::TERM,
            kill_after: Some(SECOND),
            kill_interrupted_after: None,
        }
    }

    #[test]
    fn a_pause_counts_against_the_run_only() {
        let (bounds, start) = (bounds(), clock::now());
        let mut deadlines = Deadlines::new(&bounds, start, Deadline::after(start, 7 * SECOND));
        deadlines.on_pause(10 * SECOND);
        assert_eq!(deadlines.due(start + 7 * SECOND), Some(Bound::Deadline));
        assert_eq!(deadlines.ran(start, start + 12 * SECOND), 2 * SECOND);
        let mut deadlines = Deadlines::new(&bounds, start, Deadline::NEVER);
        deadlines.on_pause(10 * SECOND);
        assert_eq!(deadlines.due(start + 14 * SECOND), None);
        assert_eq!(deadlines.due(start + 15 * SECOND), Some(Bound::Timeout));
        deadlines.on_bound(Bound::Timeout, start + 15 * SECOND);
        deadlines.on_pause(10 * SECOND);
        assert_eq!(deadlines.next(), Deadline::after(start, 26 * SECOND));
    }

    #[test]
    fn silence_is_looked_at_twice() {
        let (bounds, start) = (bounds(), clock::now());
        let mut deadlines = Deadlines::new(&bounds, start, Deadline::NEVER);
        let late = start + 3 * SECOND;
        assert!(deadlines.is_idle_due(late));
        assert_eq!(deadlines.due(late), None);
        deadlines.on_look(true);
        assert_eq!(deadlines.due(late), Some(Bound::Idle));
        deadlines.on_output(late);
        assert_eq!(deadlines.due(late), None);
    }

    #[test]
    fn kill_comes_after_what_was_sent_first() {
        let (bounds, start) = (bounds(), clock::now());
        let mut deadlines = Deadlines::new(&bounds, start, Deadline::NEVER);
        deadlines.on_interrupt(start);
        assert!(!deadlines.kill.is_set());
        deadlines.on_bound(Bound::Timeout, start);
        assert_eq!(deadlines.next(), Deadline::after(start, SECOND));
        assert_eq!(deadlines.due(start + 9 * SECOND), None);
        assert!(!deadlines.take_kill(start));
        assert!(deadlines.take_kill(start + SECOND));
        assert!(!deadlines.take_kill(start + SECOND));
        assert_eq!(deadlines.next(), Deadline::NEVER);
    }
}
