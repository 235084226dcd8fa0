//! Tests of the simulator: the order of the strategies, and an independent implementation of the published model.

mod cap;
mod contention;
mod naive;
mod storm;

use std::time::Duration;

use backoff_cli::policy::delay::Delays;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::storm::sim::strategy::Strategy;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

#[track_caller]
fn expect_near(what: &str, got: f64, expected: f64, relative: f64) {
    assert!(
        (got - expected).abs() <= expected * relative,
        "{what}: {got} is not within {relative} of {expected}"
    );
}

fn named<const N: usize>(all: [Strategy; N], name: &str) -> Delays {
    let found = all.into_iter().find(|strategy| strategy.name == name);
    found.unwrap().delays
}
