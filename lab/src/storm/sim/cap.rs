//! Placement of the cap in decorrelated jitter: on the interval, not on the draw.
//!
//! The usual form is min(cap, uniform in [base, 3 * previous]). Once the previous wait was near the cap, two thirds of
//! that interval lie above the cap, and become the cap: clients that have waited long wait equally long, which jitter
//! should prevent. [`Delays`] caps the end of the interval, so that the draw stays uniform.

use std::time::Duration;

use backoff_cli::policy::delay::Delays;
use rand::Rng;

/// The point at which the cap is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capped {
    /// On the interval of the draw, as in [`Delays`].
    BeforeTheDraw,
    /// On the drawn value.
    AfterTheDraw,
}

/// Returns the waits before the first `count` retries of one run.
pub fn waits(delays: &Delays, capped: Capped, count: u64, rng: &mut impl Rng) -> Vec<Duration> {
    let drawn_from = match capped {
        Capped::BeforeTheDraw => delays.clone(),
        // The same draw without a cap.
        Capped::AfterTheDraw => Delays {
            cap: Duration::MAX,
            ..delays.clone()
        },
    };
    let mut previous = None;
    (0..count)
        .map(|retry| {
            let wait = drawn_from.draw(retry, previous, rng).min(delays.cap);
            previous = Some(wait);
            wait
        })
        .collect()
}
