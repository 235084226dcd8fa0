//! A point in time that may never come, and that can be put off.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Deadline = Deadline(None);

    /// This much later; never where the clock will not show it.
    pub(crate) fn after(from: Instant, by: Duration) -> Deadline {
        Deadline(from.checked_add(by))
    }

    /// This much later, if there is to be one.
    pub(crate) fn maybe_after(from: Instant, by: Option<Duration>) -> Deadline {
        by.map_or(Deadline::NEVER, |by| Deadline::after(from, by))
    }

    pub(crate) fn is_set(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_due(self, now: Instant) -> bool {
        self.0.is_some_and(|at| at <= now)
    }

    /// What is left of the time; None without end.
    pub(crate) fn left(self, now: Instant) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(now))
    }

    pub(crate) fn or_earlier(self, other: Deadline) -> Deadline {
        Deadline([self.0, other.0].into_iter().flatten().min())
    }

    /// Not before this.
    pub(crate) fn or_later(self, other: Instant) -> Deadline {
        Deadline(self.0.map(|at| at.max(other)))
    }

    /// Time stood still for this long.
    pub(crate) fn put_off(&mut self, by: Duration) {
        self.0 = self.0.and_then(|at| at.checked_add(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sys::clock;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_is_due_from_its_time_on() {
        let now = clock::now();
        let deadline = Deadline::after(now, SECOND);
        assert!(!deadline.is_due(now) && deadline.is_due(now + SECOND) && deadline.is_due(now + 2 * SECOND));
        assert_eq!(deadline.left(now), Some(SECOND));
        assert_eq!(deadline.left(now + 2 * SECOND), Some(Duration::ZERO));
    }

    #[test]
    fn a_pause_puts_it_off() {
        let now = clock::now();
        let mut deadline = Deadline::after(now, SECOND);
        deadline.put_off(SECOND);
        assert_eq!(deadline, Deadline::after(now, 2 * SECOND));
    }

    #[test]
    fn never_is_never_due_and_stays_never() {
        let now = clock::now();
        for mut never in [
            Deadline::NEVER,
            Deadline::maybe_after(now, None),
            Deadline::after(now, Duration::MAX),
        ] {
            never.put_off(SECOND);
            assert!(!never.is_set() && !never.is_due(now + 1000 * SECOND));
            assert_eq!(never.or_later(now), never);
            assert_eq!(never.left(now), None);
        }
    }

    #[test]
    fn the_earlier_one_counts() {
        let now = clock::now();
        let (soon, late) = (Deadline::after(now, SECOND), Deadline::after(now, 2 * SECOND));
        assert_eq!(soon.or_earlier(late), soon);
        assert_eq!(late.or_earlier(soon), soon);
        assert_eq!(soon.or_later(now), soon);
        assert_eq!(soon.or_later(now + 2 * SECOND), late);
        assert_eq!(Deadline::NEVER.or_earlier(late), late);
        assert_eq!(late.or_earlier(Deadline::NEVER), late);
    }
}
