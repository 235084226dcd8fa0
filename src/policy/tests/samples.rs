//! Helpers for tests of decisions: durations, strategies over the whole input space, verdicts.

use std::convert::Infallible;
use std::time::Duration;

use proptest::prelude::*;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng, TryRng};

use super::classifier::{Reason, Verdict, Why};
use super::delay::{Delays, Growth, Jitter};
use super::outcome::{End, Outcome};
use super::sets::CodeSet;

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Returns a generator that draws the same numbers in each test run.
pub(crate) fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

pub(crate) fn exponential(base: Duration, factor: f64, cap: Duration, jitter: Jitter) -> Delays {
    Delays {
        base,
        cap,
        growth: Growth::Exponential { factor },
        jitter,
    }
}

/// Returns waits with decorrelated jitter, which ignores the growth.
pub(crate) fn decorrelated() -> Delays {
    let jitter = Jitter::Decorrelated { factor: 3.0 };
    exponential(ms(500), 2.0, s(30), jitter)
}

/// Returns the mean of waits in seconds, NaN if there are none.
pub(crate) fn mean(waits: impl IntoIterator<Item = Duration>) -> f64 {
    let mut count = 0.0;
    let mut sum = 0.0;
    for wait in waits {
        count += 1.0;
        sum += wait.as_secs_f64();
    }
    sum / count
}

/// Panics unless `got` differs from `expected` by at most the fraction `relative`: 0.01 is one percent.
#[track_caller]
pub(crate) fn expect_near(got: f64, expected: f64, relative: f64) {
    assert!(
        (got - expected).abs() <= expected * relative,
        "{got} is not within {relative} of {expected}"
    );
}

/// Returns a config that writes no file about failed cases.
pub(crate) fn quietly(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates durations of every order of magnitude, from zero to the maximum.
pub(crate) fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
        4 => (1..100_000_u64).prop_map(ms),
        4 => (any::<u64>(), 0..64_u32).prop_map(|(n, shift)| Duration::from_nanos(n >> shift)),
        2 => (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(s, n)| Duration::new(s, n)),
    ]
}

/// Generates growth factors as the options accept them: at least 1, including the extremes.
pub(crate) fn factor() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(1.0),
        1 => Just(f64::MAX),
        4 => 1.0..4.0_f64,
        2 => (0..1024_i32).prop_map(|exponent| 2_f64.powi(exponent)),
    ]
}

/// Generates retry indices: mostly small ones, but also some at which every growth has reached its cap.
pub(crate) fn retry() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..80_u64, 2 => any::<u64>(), 1 => Just(u64::MAX)]
}

/// Generates all growths except lists, whose waits need not grow.
pub(crate) fn growth_by_formula() -> impl Strategy<Value = Growth> {
    prop_oneof![
        factor().prop_map(|factor| Growth::Exponential { factor }),
        Just(Growth::Linear),
        Just(Growth::Fibonacci),
        Just(Growth::Constant),
    ]
}

/// Generates all growths, including lists.
pub(crate) fn growth() -> impl Strategy<Value = Growth> {
    prop_oneof![
        4 => growth_by_formula(),
        1 => prop::collection::vec(duration(), 1..6).prop_map(Growth::List),
    ]
}

/// Generates all jitters, with values as the options accept them.
pub(crate) fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        Just(Jitter::Full),
        Just(Jitter::Equal),
        factor().prop_map(|factor| Jitter::Decorrelated { factor }),
        duration().prop_map(|spread| Jitter::Additive { spread }),
        (0.0..=1.0_f64).prop_map(|spread| Jitter::Proportional { spread }),
        (1..=62_u32).prop_map(|ceiling| Jitter::Slotted { ceiling }),
    ]
}

/// Generates any delays, even with a base above the cap.
pub(crate) fn delays() -> impl Strategy<Value = Delays> {
    (duration(), duration(), growth(), jitter()).prop_map(|(base, cap, growth, jitter)| Delays {
        base,
        cap,
        growth,
        jitter,
    })
}

/// Generates delays as the command line accepts them, with no base above the cap.
pub(crate) fn delays_base_within_cap() -> impl Strategy<Value = Delays> {
    delays().prop_map(|mut delays| {
        if delays.base > delays.cap {
            std::mem::swap(&mut delays.base, &mut delays.cap);
        }
        delays
    })
}

/// A generator with a constant output, to reach any place in a distribution.
pub(crate) struct Always(pub(crate) u64);

impl TryRng for Always {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0 >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for (byte, own) in bytes
            .iter_mut()
            .zip(self.0.to_le_bytes().into_iter().cycle())
        {
            *byte = own;
        }
        Ok(())
    }
}

/// Returns the next wait of decorrelated jitter in seconds, uniform from `base` to `previous * factor`, at most `cap`.
/// Checks `Delays::distribution` without sharing code with it. As there, and unlike in the source, the cap comes before
/// the draw.
pub(crate) fn decorrelated_by_formula(
    base: f64,
    cap: f64,
    factor: f64,
    previous: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> f64 {
    let high = (previous * factor).min(cap);
    base + (high - base) * rng.random::<f64>()
}

pub(crate) const TRANSIENT: Verdict = Verdict::Transient(reason(Why::Default));
pub(crate) const PERMANENT: Verdict = Verdict::Permanent(reason(Why::NoneMatched));

pub(crate) const fn reason(why: Why) -> Reason {
    Reason::new(why)
}

pub(crate) fn failed(ran: Duration) -> Outcome {
    Outcome::new(End::Exited(7), ran)
}

pub(crate) fn plain_doubling() -> Delays {
    exponential(s(1), 2.0, s(30), Jitter::None)
}

/// Parses codes, ranges and `timeout`, separated by commas: `0`, `1-9,75`.
pub(crate) fn codes(text: &str) -> CodeSet {
    text.parse().unwrap()
}
