//! A queue of discrete events in virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// An event. Events are ordered by time; of two events at the same moment the one with the lesser subject comes first,
/// so that the seed determines the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event<T> {
    /// Counted from the beginning.
    pub time: Duration,
    pub subject: T,
}

/// Pending events, the earliest first.
///
/// Only the events of the current stretch of time are sorted; events of later stretches wait unsorted. One heap of a
/// million events, none of which is in the processor's cache, took twice as long.
#[derive(Debug)]
pub struct Queue<T> {
    /// In nanoseconds, at least 1.
    stretch: u64,
    /// The number of the current stretch.
    current: u64,
    near: BinaryHeap<Reverse<Event<T>>>,
    far: BTreeMap<u64, Vec<Reverse<Event<T>>>>,
}

impl<T: Ord> Queue<T> {
    /// Returns an empty queue. Any `stretch` works; few of the events should fall into one stretch.
    pub fn new(stretch: Duration) -> Queue<T> {
        Queue {
            stretch: nanos(stretch).max(1),
            current: 0,
            near: BinaryHeap::new(),
            far: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, time: Duration, subject: T) {
        let stretch = nanos(time) / self.stretch;
        let event = Reverse(Event { time, subject });
        if stretch <= self.current {
            self.near.push(event);
        } else {
            self.far.entry(stretch).or_default().push(event);
        }
    }

    /// Removes and returns the earliest event.
    pub fn take(&mut self) -> Option<Event<T>> {
        if self.near.is_empty() {
            let (stretch, events) = self.far.pop_first()?;
            self.current = stretch;
            self.near = BinaryHeap::from(events);
        }
        self.near.pop().map(|Reverse(first)| first)
    }
}

/// Returns whole nanoseconds, at most the 584 years that fit.
pub(super) fn nanos(time: Duration) -> u64 {
    let seconds = time.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::from(time.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the queue with a sorted list while additions and removals alternate.
        #[test]
        fn by_time_and_then_by_event(
            stretch in 0..40_u64,
            steps in prop::collection::vec((0..3_u8, 0..100_u64, any::<u8>()), 0..60),
        ) {
            let mut queue = Queue::new(Duration::from_nanos(stretch));
            let mut model = Vec::new();
            let mut now = Duration::ZERO;
            for (step, later, subject) in steps {
                if step > 0 {
                    let time = now + Duration::from_nanos(later);
                    queue.add(time, subject);
                    model.push((time, subject));
                } else {
                    model.sort_unstable();
                    let taken = queue.take().map(|event| (event.time, event.subject));
                    prop_assert_eq!(taken, model.first().copied());
                    if let Some((time, _)) = taken {
                        model.remove(0);
                        now = time;
                    }
                }
            }
        }
    }
}
