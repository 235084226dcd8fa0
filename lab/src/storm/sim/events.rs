//! A queue of discrete events in virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// Pending events, the earliest first. Of two events at the same moment the lesser comes first, so that the seed
/// determines the result.
///
/// Only the events of the current stretch of time are sorted; events of later stretches wait unsorted. One heap of a
/// million events, none of which is in the processor's cache, took twice as long.
#[derive(Debug)]
pub struct Queue<T> {
    /// In nanoseconds, at least 1.
    stretch: u64,
    /// The number of the current stretch.
    current: u64,
    near: BinaryHeap<Reverse<(Duration, T)>>,
    far: BTreeMap<u64, Vec<Reverse<(Duration, T)>>>,
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

    /// Adds an event at `time`, counted from the beginning.
    pub fn add(&mut self, time: Duration, event: T) {
        let stretch = nanos(time) / self.stretch;
        let event = Reverse((time, event));
        if stretch <= self.current {
            self.near.push(event);
        } else {
            self.far.entry(stretch).or_default().push(event);
        }
    }

    /// Removes and returns the earliest event and its time.
    pub fn take(&mut self) -> Option<(Duration, T)> {
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
            let (mut model, mut now) = (Vec::new(), Duration::ZERO);
            for (step, later, event) in steps {
                if step > 0 {
                    let time = now + Duration::from_nanos(later);
                    queue.add(time, event);
                    model.push((time, event));
                } else {
                    model.sort_unstable();
                    let first = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(queue.take(), first);
                    now = first.map_or(now, |(time, _)| time);
                }
            }
        }
    }
}
