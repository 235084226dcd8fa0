//! The waits between attempts.

use crate::cli::options::{GrowthName, Waits};
use crate::policy::delay::{Delays, Growth, Jitter};

pub(super) fn delays(waits: &Waits) -> Delays {
    Delays {
        base: waits.base.min(waits.max_delay),
        cap: waits.max_delay,
        growth: growth(waits),
        jitter: match waits.jitter {
            Jitter::Decorrelated { .. } => Jitter::Decorrelated {
                factor: waits.factor,
            },
            other => other,
        },
    }
}

/// Returns the growth. A list of waits replaces it, and some jitters ignore it.
fn growth(waits: &Waits) -> Growth {
    if let Some(list) = &waits.delays {
        return Growth::List(list.clone());
    }
    match waits.growth {
        GrowthName::Exponential => Growth::Exponential {
            factor: waits.factor,
        },
        GrowthName::Linear => Growth::Linear,
        GrowthName::Fibonacci => Growth::Fibonacci,
        GrowthName::Constant => Growth::Constant,
    }
}
