//! The result of a storm.

use std::time::Duration;

use super::events::nanos;
use super::spread::Spread;
use super::storm::SLOT;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Calls per [`SLOT`], the first slot beginning at 0. At most as long as the horizon.
    pub load: Vec<u32>,
    /// The time from the end of the outage to the last success; None if clients were left, or none was served.
    pub drained: Option<Duration>,
    /// The successful clients, and their times after the end of the outage.
    pub served: Spread,
    /// The number of clients that gave up because the budget denied a retry.
    pub denied: u64,
    /// The number of retries made without the budget, as its answer came too late.
    pub unanswered: u64,
    /// The number of clients that gave up after their last attempt.
    pub gave_up: u64,
    /// The number of clients that had neither succeeded nor given up at the horizon.
    pub left: u64,
    /// The sum of a client's first [`WAITS_SUMMED`](super::storm::WAITS_SUMMED) waits.
    pub waits: Spread,
}

impl Course {
    pub(super) fn count_call(&mut self, now: Duration) {
        let slot = slot(now);
        if self.load.len() <= slot {
            self.load.resize(slot + 1, 0);
        }
        self.load[slot] += 1;
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.load.iter().copied().map(u64::from).sum()
    }

    /// Returns the most calls in one slot of those that begin in [from, until).
    pub fn peak(&self, from: Duration, until: Duration) -> u32 {
        self.slots(from, until).iter().copied().max().unwrap_or(0)
    }

    /// Returns the calls of the slots that begin in [from, until).
    pub fn slots(&self, from: Duration, until: Duration) -> &[u32] {
        let end = self.first_slot_from(until);
        let begin = self.first_slot_from(from).min(end);
        &self.load[begin..end]
    }

    /// Returns the index of the first slot that begins at `time` or later; the number of slots if there is none.
    fn first_slot_from(&self, time: Duration) -> usize {
        let just_before_next = SLOT - Duration::from_nanos(1);
        slot(time.saturating_add(just_before_next)).min(self.load.len())
    }
}

fn slot(time: Duration) -> usize {
    usize::try_from(nanos(time) / nanos(SLOT)).unwrap_or(usize::MAX)
}
