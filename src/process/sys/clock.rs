//! The time of day. Waits and bounds never use it: it jumps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time since the UNIX epoch, as this machine has it.
pub fn since_epoch() -> Duration {
    #[allow(clippy::disallowed_methods, reason = "this is `os`")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}
