//! Placement of the cap.

use std::time::Duration;

use backoff_cli::policy::delay::{Delays, Growth, Jitter};

use super::{expect_near, ms, seeded};
use crate::storm::sim::cap::{self, Capped};

const COUNT: u64 = 20_000;

/// Returns the share of the waits that are as long as the cap.
fn share_at_cap(delays: &Delays, capped: Capped) -> f64 {
    let waits = cap::waits(delays, capped, COUNT, &mut seeded(1));
    for wait in &waits {
        assert!((delays.base..=delays.cap).contains(wait), "{wait:?}");
    }
    let at_cap = waits.iter().filter(|wait| **wait == delays.cap);
    at_cap.count() as f64 / COUNT as f64
}

#[test]
fn capped_after_the_draw_waits_pile_up_at_the_cap() {
    let delays = Delays {
        base: ms(100),
        cap: Duration::from_secs(30),
        growth: Growth::Exponential { factor: 2.0 },
        jitter: Jitter::Decorrelated { factor: 3.0 },
    };
    assert!(share_at_cap(&delays, Capped::AfterTheDraw) > 0.2);
    // Chance hits the cap once in 10^10 draws.
    assert!(share_at_cap(&delays, Capped::BeforeTheDraw) < 1e-3);
    // Two in three of the draws that follow a wait at the cap are above it.
    let waits = cap::waits(&delays, Capped::AfterTheDraw, COUNT, &mut seeded(2));
    let follow: Vec<bool> = waits
        .windows(2)
        .filter(|pair| pair[0] == delays.cap)
        .map(|pair| pair[1] == delays.cap)
        .collect();
    let stay = follow.iter().filter(|stays| **stays).count() as f64 / follow.len() as f64;
    expect_near("stay at the cap", stay, 2.0 / 3.0, 0.05);
}
