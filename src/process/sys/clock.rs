//! Clocks, deadlines and `poll(2)`. All other modules get the time here, so none measures with a clock that can jump.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::poll::{PollFd, PollTimeout};

use super::system;

/// Returns the time of CLOCK_MONOTONIC, which never jumps, and stops while the machine sleeps.
#[allow(
    clippy::disallowed_methods,
    reason = "this is the one place that reads it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the time of day, which may jump. Waits and limits never use it.
#[allow(
    clippy::disallowed_methods,
    reason = "this is the one place that reads it"
)]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}

pub(crate) fn since_epoch() -> Duration {
    time_of_day().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A point in time, or never. Can be postponed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Deadline = Deadline(None);

    /// Returns the time `by` after `from`, or never if the clock cannot represent it.
    pub(crate) fn after(from: Instant, by: Duration) -> Deadline {
        Deadline(from.checked_add(by))
    }

    pub(crate) fn maybe_after(from: Instant, by: Option<Duration>) -> Deadline {
        by.map_or(Deadline::NEVER, |by| Deadline::after(from, by))
    }

    pub(crate) fn is_set(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_due(self, now: Instant) -> bool {
        self.0.is_some_and(|at| at <= now)
    }

    /// Returns the remaining time, or None if the deadline is never.
    pub(crate) fn left(self, now: Instant) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(now))
    }

    pub(crate) fn or_earlier(self, other: Deadline) -> Deadline {
        Deadline([self.0, other.0].into_iter().flatten().min())
    }

    /// Returns the later time. Never remains never.
    pub(crate) fn or_later(self, other: Instant) -> Deadline {
        Deadline(self.0.map(|at| at.max(other)))
    }

    /// Postpones the deadline. One that the clock cannot represent becomes never.
    pub(crate) fn put_off(&mut self, by: Duration) {
        self.0 = self.0.and_then(|at| at.checked_add(by));
    }
}

/// Calls `poll(2)`, which sleeps until a descriptor is ready, a signal arrives or `timeout` has passed. None sleeps
/// without limit. Returns false if polling fails (a lowered descriptor limit, a system call filter), and the caller
/// must try every descriptor.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> bool {
    match system::poll(fds, timeout) {
        Ok(_) | Err(Errno::EINTR) => true,
        Err(_) => {
            // Sleep 10 ms to keep callers from spinning.
            let _ = nix::poll::poll(&mut [], PollTimeout::from(10u8));
            false
        }
    }
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
