//! The clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// CLOCK_MONOTONIC: does not jump, and stands still while the machine sleeps.
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads it")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time of day, which jumps: waits and bounds never use it.
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads it")]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}

/// The time of day as the time since the UNIX epoch.
pub(crate) fn since_epoch() -> Duration {
    time_of_day().duration_since(UNIX_EPOCH).unwrap_or_default()
}
