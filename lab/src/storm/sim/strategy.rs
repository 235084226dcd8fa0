//! Delays with the name that tables and plots give them.

use backoff_cli::policy::delay::Delays;

/// A way to wait between attempts.
#[derive(Debug, Clone)]
pub struct Strategy {
    pub name: &'static str,
    pub delays: Delays,
}

impl Strategy {
    pub(super) fn new(name: &'static str, delays: Delays) -> Strategy {
        Strategy { name, delays }
    }
}
