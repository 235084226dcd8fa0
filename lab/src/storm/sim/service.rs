//! The service in a storm: it is down at first, and has a fixed capacity from then on.

use std::time::Duration;

use super::storm::{SLOT, Storm};

pub(super) struct Service {
    up_from: Duration,
    /// The duration of one call; None if calls are never answered.
    work: Option<Duration>,
    /// The time at which all accepted work is done.
    busy_until: Duration,
}

impl Service {
    pub(super) fn new(storm: &Storm) -> Service {
        let work = 1_000_000_000_u64.checked_div(storm.capacity);
        Service {
            up_from: storm.outage,
            work: work.map(Duration::from_nanos),
            busy_until: Duration::ZERO,
        }
    }

    /// Returns true if the service accepts a call that arrives now. It refuses a call that would have to queue for
    /// longer than a slot, unless it is the only one.
    pub(super) fn accepts(&mut self, now: Duration) -> bool {
        let Some(work) = self.work else {
            return false;
        };
        if now < self.up_from {
            return false;
        }
        let done = self.busy_until.max(now).saturating_add(work);
        let is_accepted = done - now <= work.max(SLOT);
        if is_accepted {
            self.busy_until = done;
        }
        is_accepted
    }
}
