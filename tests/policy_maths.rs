//! The waits and the decisions as mathematics: over the whole input space, in virtual time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::time::Duration;

use backoff_cli::cli::{self, Parsed};
use backoff_cli::config::load::Config;
use backoff_cli::config::settings::Settings;
use backoff_cli::plan::resolve::resolve;
use backoff_cli::policy::classifier::{Reason, Verdict, Why};
use backoff_cli::policy::delay::{Delays, Growth, Jitter};
use backoff_cli::policy::exit::Exit;
use backoff_cli::policy::forecast::{self, Row};
use backoff_cli::policy::outcome::{Bound, End, Outcome, StartFailure};
use backoff_cli::policy::session::{Decision, GiveUp, Limits, Session, Stop};
use backoff_cli::report::reporter::Reporter;
use backoff_cli::run::plan::Plan;
use backoff_cli::run::{self, Cut, Identity};
use backoff_cli::sim::Script;
use proptest::prelude::*;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng, TryRng};

const UNBOUNDED: Limits = Limits {
    attempts: None,
    deadline: None,
    stop_at_delay: None,
    reset_after: None,
    consecutive: 1,
    leave_to_outer: false,
    max_asked: None,
};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn exponential(base: Duration, factor: f64, cap: Duration, jitter: Jitter) -> Delays {
    Delays {
        base,
        cap,
        growth: Growth::Exponential { factor },
        jitter,
    }
}

fn decorrelated() -> Delays {
    let jitter = Jitter::Decorrelated { factor: 3.0 };
    exponential(ms(500), 2.0, s(30), jitter)
}

/// Waits in a row, each drawn with the one before it in mind.
fn chain(delays: &Delays, count: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Duration> {
    let mut previous = None;
    (0..count)
        .map(|retry| {
            let wait = delays.draw(retry, previous, rng);
            previous = Some(wait);
            wait
        })
        .collect()
}

fn mean(waits: impl IntoIterator<Item = Duration>) -> f64 {
    let (mut count, mut sum) = (0.0, 0.0);
    for wait in waits {
        count += 1.0;
        sum += wait.as_secs_f64();
    }
    sum / count
}

#[track_caller]
fn expect_near(got: f64, expected: f64, relative: f64) {
    assert!(
        (got - expected).abs() <= expected * relative,
        "{got} is not within {relative} of {expected}"
    );
}

// --- the whole input space ---------------------------------------------------------------------

fn quietly(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Every order of magnitude, from nothing to the end of the clock.
fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
        4 => (1..100_000_u64).prop_map(ms),
        4 => (any::<u64>(), 0..64_u32).prop_map(|(n, shift)| Duration::from_nanos(n >> shift)),
        2 => (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(s, n)| Duration::new(s, n)),
    ]
}

fn factor() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(1.0),
        1 => Just(f64::MAX),
        4 => 1.0..4.0_f64,
        2 => (0..1024_i32).prop_map(|exponent| 2_f64.powi(exponent)),
    ]
}

fn retry() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..80_u64, 2 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn growth_by_formula() -> impl Strategy<Value = Growth> {
    prop_oneof![
        factor().prop_map(|factor| Growth::Exponential { factor }),
        Just(Growth::Linear),
        Just(Growth::Fibonacci),
        Just(Growth::Constant),
    ]
}

fn growth() -> impl Strategy<Value = Growth> {
    prop_oneof![
        4 => growth_by_formula(),
        1 => prop::collection::vec(duration(), 1..6).prop_map(Growth::List),
    ]
}

fn jitter() -> impl Strategy<Value = Jitter> {
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

fn delays() -> impl Strategy<Value = Delays> {
    (duration(), duration(), growth(), jitter()).prop_map(|(base, cap, growth, jitter)| Delays {
        base,
        cap,
        growth,
        jitter,
    })
}

/// As the command line has them: a base above the cap is refused there.
fn delays_base_within_cap() -> impl Strategy<Value = Delays> {
    delays().prop_map(|mut delays| {
        if delays.base > delays.cap {
            std::mem::swap(&mut delays.base, &mut delays.cap);
        }
        delays
    })
}

/// A generator that says the same for ever: the ends of a distribution, and any place within.
struct Always(u64);

impl TryRng for Always {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0 >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for (byte, own) in bytes.iter_mut().zip(self.0.to_le_bytes().into_iter().cycle()) {
            *byte = own;
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(quietly(2000))]

    #[test]
    fn a_wait_lies_between_least_and_most_and_never_above_the_cap(
        delays in delays(), retry in retry(), previous in prop::option::of(duration()), seed in any::<u64>(),
    ) {
        let distribution = delays.distribution(retry, previous);
        let (least, most) = (distribution.least(), distribution.most());
        prop_assert!(least <= most && most <= delays.cap, "{:?}", distribution);
        let mut rng = seeded(seed);
        for _ in 0..8 {
            let wait = delays.draw(retry, previous, &mut rng);
            prop_assert!(least <= wait && wait <= most, "{:?} from {:?}", wait, distribution);
        }
    }

    #[test]
    fn the_mean_lies_between_least_and_most(
        delays in delays(), retry in retry(), previous in prop::option::of(duration()),
    ) {
        let distribution = delays.distribution(retry, previous);
        prop_assert!(distribution.least() <= distribution.mean(), "{:?}", distribution);
        prop_assert!(distribution.mean() <= distribution.most(), "{:?}", distribution);
    }

    #[test]
    fn least_and_most_are_the_ends_of_what_is_drawn(
        delays in delays(), retry in retry(), previous in prop::option::of(duration()),
    ) {
        let distribution = delays.distribution(retry, previous);
        prop_assert_eq!(delays.draw(retry, previous, &mut Always(0)), distribution.least());
        let longest = delays.draw(retry, previous, &mut Always(u64::MAX));
        let short = distribution.most() - longest;
        prop_assert!(short <= distribution.most() / 1_000_000_000 + Duration::from_nanos(1), "{:?}", distribution);
    }

    #[test]
    fn the_un_jittered_wait_never_shrinks(
        base in duration(), cap in duration(), growth in growth_by_formula(), jitter in jitter(),
        one in retry(), other in retry(),
    ) {
        let delays = Delays { base, cap, growth, jitter };
        let (early, late) = (one.min(other), one.max(other));
        prop_assert!(delays.unjittered(early) <= delays.unjittered(late));
        prop_assert!(delays.unjittered(early) <= delays.unjittered(early.saturating_add(1)));
        prop_assert!(delays.unjittered(late) <= cap);
    }

    #[test]
    fn decorrelated_never_falls_below_its_base(
        base in duration(), cap in duration(), factor in factor(), seed in any::<u64>(),
    ) {
        let (base, cap) = (base.min(cap), base.max(cap));
        let delays = exponential(base, 2.0, cap, Jitter::Decorrelated { factor });
        // Beyond 2^53 ns a base is rounded to the nearest number that floating point has.
        let least = if base.as_nanos() <= 1 << 53 { base } else { base - base / 1_000_000_000 };
        for wait in chain(&delays, 12, &mut seeded(seed)) {
            prop_assert!(wait >= least, "{:?}", wait);
            prop_assert!(wait <= cap, "{:?}", wait);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_waits(delays in delays(), seed in any::<u64>()) {
        let waits = chain(&delays, 12, &mut seeded(seed));
        prop_assert_eq!(waits, chain(&delays, 12, &mut seeded(seed)));
    }
}

proptest! {
    #![proptest_config(quietly(500))]

    // 256 places evenly spread over the distribution stand for all of it.
    #[test]
    fn the_mean_is_the_mean_of_what_is_drawn(
        delays in delays(), retry in retry(), previous in prop::option::of(duration()),
    ) {
        let distribution = delays.distribution(retry, previous);
        let places = (0..256_u64).map(|n| (n << 56) + (1 << 55));
        let drawn = mean(places.map(|place| delays.draw(retry, previous, &mut Always(place))));
        let (least, most) = (distribution.least().as_secs_f64(), distribution.most().as_secs_f64());
        let tolerance = (most - least) / 256.0 + most * 1e-9 + 1e-9;
        prop_assert!((distribution.mean().as_secs_f64() - drawn).abs() <= tolerance, "{} {:?}", drawn, distribution);
    }

    // Against integers, which know no rounding.
    #[test]
    fn the_un_jittered_wait_is_the_formula(base in 0..1_000_000_u64, factor in 1..=9_u32, cap in any::<u64>(), i in 0..10_u32) {
        let e = |growth: Growth| {
            let (base, cap) = (Duration::from_nanos(base), Duration::from_nanos(cap));
            u64::try_from(Delays { base, cap, growth, jitter: Jitter::None }.unjittered(u64::from(i)).as_nanos()).unwrap()
        };
        let fibonacci = [1, 1, 2, 3, 5, 8, 13, 21, 34, 55];
        let exponential = Growth::Exponential { factor: f64::from(factor) };
        prop_assert_eq!(e(exponential), (base * u64::from(factor).pow(i)).min(cap));
        prop_assert_eq!(e(Growth::Linear), (base * u64::from(i + 1)).min(cap));
        prop_assert_eq!(e(Growth::Fibonacci), (base * fibonacci[i as usize]).min(cap));
        prop_assert_eq!(e(Growth::Constant), base.min(cap));
    }

    #[test]
    fn a_list_repeats_its_last_entry(list in prop::collection::vec(duration(), 1..6), cap in duration(), i in retry()) {
        let delays = Delays { base: s(1), cap, growth: Growth::List(list.clone()), jitter: Jitter::None };
        let entry = usize::try_from(i).ok().and_then(|i| list.get(i)).or(list.last()).unwrap();
        prop_assert_eq!(delays.unjittered(i), (*entry).min(cap));
    }
}

proptest! {
    #![proptest_config(quietly(60))]

    #[test]
    fn a_forecast_is_in_order_for_any_input(
        delays in delays_base_within_cap(), attempts in prop::option::of(1..30_u64),
        deadline in prop::option::of(duration()), stop_at_delay in prop::option::of(duration()),
    ) {
        let limits = Limits { attempts, deadline, stop_at_delay, ..UNBOUNDED };
        let rows: Vec<Row> = forecast::rows(&delays, &limits, Duration::ZERO).collect();
        let most_rows = attempts.map_or(forecast::SHOWN_WHEN_UNLIMITED, |attempts| attempts - 1);
        prop_assert!(rows.len() as u64 <= most_rows);
        if deadline.is_none() && stop_at_delay.is_none() {
            prop_assert_eq!(rows.len() as u64, most_rows);
        }
        let (mut total, mut least_total) = (Duration::ZERO, Duration::ZERO);
        for (i, row) in rows.iter().enumerate() {
            total = total.saturating_add(row.mean);
            least_total = least_total.saturating_add(row.least);
            prop_assert_eq!(row.retry, i as u64 + 1);
            prop_assert_eq!(row.total, total);
            prop_assert!(row.least <= row.most && row.most <= delays.cap, "{:?}", row);
            // The numbers of floating point are a few parts in 2^53 off.
            let slack = row.most / 1_000_000_000;
            prop_assert!(row.least <= row.mean.saturating_add(slack) && row.mean <= row.most.saturating_add(slack), "{:?}", row);
            prop_assert!(deadline.is_none_or(|deadline| least_total < deadline));
            prop_assert!(stop_at_delay.is_none_or(|stop| delays.unjittered(row.retry - 1) < stop));
        }
    }
}

// --- what the sources state --------------------------------------------------------------------

#[test]
fn drawn_means_are_the_stated_means() {
    // e(3) = 1s * 2^3 = 8s in all rows.
    for (jitter, least, stated, most) in [
        (Jitter::None, 8.0, 8.0, 8.0),
        (Jitter::Full, 0.0, 4.0, 8.0),
        (Jitter::Equal, 4.0, 6.0, 8.0),
        (Jitter::Additive { spread: s(1) }, 8.0, 8.5, 9.0),
        (Jitter::Proportional { spread: 0.25 }, 6.0, 8.0, 10.0),
        (Jitter::Slotted { ceiling: 10 }, 0.0, 7.5, 15.0),
    ] {
        let delays = exponential(s(1), 2.0, s(64), jitter);
        let distribution = delays.distribution(3, None);
        let ends = [distribution.least(), distribution.mean(), distribution.most()].map(|d| d.as_secs_f64());
        assert_eq!(ends, [least, stated, most], "{jitter:?}");
        let mut rng = seeded(1);
        let draws: Vec<Duration> = (0..20_000).map(|_| delays.draw(3, None, &mut rng)).collect();
        expect_near(mean(draws.iter().copied()), stated, 0.02);
        // All of the interval is used, down to its ends.
        let edge = (most - least) / 100.0;
        assert!(draws.iter().min().unwrap().as_secs_f64() <= least + edge, "{jitter:?}");
        assert!(draws.iter().max().unwrap().as_secs_f64() >= most - edge, "{jitter:?}");
    }
    // Decorrelated: uniform in [base, 3 * previous].
    let mut rng = seeded(2);
    let draws = (0..20_000).map(|_| decorrelated().draw(1, Some(s(2)), &mut rng));
    expect_near(mean(draws), f64::midpoint(0.5, 6.0), 0.02);
    assert_eq!(decorrelated().distribution(1, Some(s(2))).mean(), ms(3250));
}

#[test]
fn uniform_draws_are_spread_evenly() {
    for jitter in [
        Jitter::Full,
        Jitter::Equal,
        Jitter::Additive { spread: s(3) },
        Jitter::Proportional { spread: 0.5 },
    ] {
        let delays = exponential(s(1), 2.0, s(64), jitter);
        let distribution = delays.distribution(2, None);
        let (least, most) = (distribution.least().as_secs_f64(), distribution.most().as_secs_f64());
        let mut tenths = [0; 10];
        let mut rng = seeded(3);
        for _ in 0..20_000 {
            let place = (delays.draw(2, None, &mut rng).as_secs_f64() - least) / (most - least);
            tenths[((place * 10.0) as usize).min(9)] += 1;
        }
        assert!(
            tenths.iter().all(|count| (1800..2200).contains(count)),
            "{jitter:?}: {tenths:?}"
        );
    }
}

#[test]
fn slots_are_whole_and_equally_likely() {
    let slot = Duration::from_nanos(51_200);
    let delays = exponential(slot, 2.0, Duration::MAX, Jitter::Slotted { ceiling: 10 });
    let mut rng = seeded(4);
    for (failures, slots) in [(1, 2_usize), (2, 4), (3, 8)] {
        let mut seen = vec![0_usize; slots];
        for _ in 0..16_000 {
            let wait = delays.draw(failures - 1, None, &mut rng).as_nanos();
            assert_eq!(wait % slot.as_nanos(), 0);
            seen[(wait / slot.as_nanos()) as usize] += 1;
        }
        let fair = 16_000 / slots;
        assert!(
            seen.iter().all(|count| count.abs_diff(fair) < fair / 8),
            "after {failures}: {seen:?}"
        );
    }
}

#[test]
fn slots_have_the_expected_backoff_and_a_truncated_exponent() {
    let slot = Duration::from_nanos(51_200);
    let delays = exponential(slot, 2.0, Duration::MAX, Jitter::Slotted { ceiling: 10 });
    let of_mean = |failures: u64| delays.distribution(failures - 1, None).mean();
    assert_eq!(of_mean(3), slot * 7 / 2);
    assert_eq!(of_mean(10), slot * 1023 / 2);
    for failures in 1..=10 {
        let most = (1 << failures) - 1;
        assert_eq!(delays.distribution(failures - 1, None).most(), slot * most);
        assert_eq!(of_mean(failures), slot * most / 2);
    }
    for failures in [10, 11, 12, 16, 1000, u64::MAX] {
        assert_eq!(
            delays.distribution(failures - 1, None).most(),
            slot * 1023,
            "{failures}"
        );
        assert_eq!(of_mean(failures), slot * 1023 / 2, "{failures}");
    }
    let mut rng = seeded(5);
    let drawn = |failures: u64, rng: &mut Xoshiro256PlusPlus| {
        mean((0..20_000).map(|_| delays.draw(failures - 1, None, rng))) / slot.as_secs_f64()
    };
    expect_near(drawn(3, &mut rng), 3.5, 0.02);
    expect_near(drawn(10, &mut rng), 511.5, 0.02);
    expect_near(drawn(16, &mut rng), 511.5, 0.02);
}

#[test]
fn a_cap_inside_the_interval_counts_in_the_mean() {
    let additive = exponential(s(1), 2.0, ms(1500), Jitter::Additive { spread: s(1) });
    assert_eq!(additive.distribution(0, None).mean(), ms(1375));
    let proportional = exponential(s(1), 2.0, s(1), Jitter::Proportional { spread: 0.25 });
    assert_eq!(
        proportional.distribution(0, None).mean(),
        Duration::from_micros(937_500)
    );
    // 0 1 2 3 4 4 4 4
    let slotted = exponential(s(1), 2.0, s(4), Jitter::Slotted { ceiling: 10 });
    assert_eq!(slotted.distribution(2, None).mean(), ms(2750));
    let mut rng = seeded(6);
    for delays in [additive, proportional, slotted] {
        let drawn = mean((0..20_000).map(|_| delays.draw(2, None, &mut rng)));
        expect_near(drawn, delays.distribution(2, None).mean().as_secs_f64(), 0.02);
    }
}

#[test]
fn a_wait_that_was_asked_for_is_random_upwards_only() {
    let full = exponential(s(1), 2.0, s(30), Jitter::Full);
    for (drawn, shortest, longest) in [
        // As much more as was drawn, a quarter of what was asked for at the most.
        (0, 8, 8),
        (1, 8, 9),
        (3, 8, 10),
        // As long as that anyway.
        (8, 8, 8),
        (9, 9, 9),
    ] {
        let wait = |place: u64| full.at_least(s(8), s(drawn), &mut Always(place));
        assert_eq!([wait(0), wait(u64::MAX)], [s(shortest), s(longest)], "{drawn} s");
        let exact = plain_doubling().at_least(s(8), s(drawn), &mut Always(u64::MAX));
        assert_eq!(exact, s(shortest), "{drawn} s");
    }
}

// --- decorrelated jitter -----------------------------------------------------------------------

/// The next wait as the source states it, in seconds.
fn decorrelated_rightly(base: f64, cap: f64, factor: f64, previous: f64, rng: &mut Xoshiro256PlusPlus) -> f64 {
    let high = (previous * factor).min(cap);
    base + (high - base) * rng.random::<f64>()
}

/// The tempting mistake: the cap after the draw.
fn decorrelated_wrongly(base: f64, cap: f64, factor: f64, previous: f64, rng: &mut Xoshiro256PlusPlus) -> f64 {
    (base + (previous * factor - base) * rng.random::<f64>()).min(cap)
}

#[test]
fn the_forecast_agrees_with_a_simulation() {
    for (base, cap, factor) in [
        (500, 30_000, 3.0),
        (100, 20_000, 2.0),
        (1000, 1500, 3.0),
        (10, 60_000, 10.0),
    ] {
        let delays = exponential(ms(base), 2.0, ms(cap), Jitter::Decorrelated { factor });
        let limits = Limits {
            attempts: Some(9),
            ..UNBOUNDED
        };
        let rows: Vec<Row> = forecast::rows(&delays, &limits, Duration::ZERO).collect();
        assert_eq!(rows.len(), 8);
        let (base, cap) = (ms(base).as_secs_f64(), ms(cap).as_secs_f64());
        let (mut sums, mut shortest, mut longest) = ([0.0; 8], [cap; 8], [0.0_f64; 8]);
        let mut rng = seeded(7);
        for _ in 0..100_000 {
            let mut previous = base;
            for i in 0..8 {
                previous = decorrelated_rightly(base, cap, factor, previous, &mut rng);
                sums[i] += previous;
                shortest[i] = previous.min(shortest[i]);
                longest[i] = previous.max(longest[i]);
            }
        }
        for (i, row) in rows.iter().enumerate() {
            expect_near(row.mean.as_secs_f64(), sums[i] / 100_000.0, 0.01);
            assert!(row.least.as_secs_f64() <= shortest[i] + 1e-9, "{row:?}");
            assert!(row.most.as_secs_f64() >= longest[i] - 1e-9, "{row:?}");
        }
    }
}

#[test]
fn the_forecast_agrees_with_the_integral() {
    for (base, cap, factor) in [(1.0, 6.0, 3.0), (2.0, 5.0, 2.0), (0.1, 7.0, 10.0), (1.0, 2.5, 2.25)] {
        let delays = exponential(
            Duration::from_nanos((base * 1e9) as u64),
            2.0,
            Duration::from_nanos((cap * 1e9) as u64),
            Jitter::Decorrelated { factor },
        );
        let second = forecast::rows(&delays, &UNBOUNDED, Duration::ZERO).nth(1).unwrap();
        // The first wait x is uniform in [base, factor * base], the second in [base, min(cap, factor * x)].
        let (bend, top) = (cap / factor, factor * base);
        let below = factor * (bend * bend - base * base) / 2.0;
        let mean_of_ends = (below + cap * (top - bend)) / (top - base);
        expect_near(second.mean.as_secs_f64(), f64::midpoint(base, mean_of_ends), 1e-6);
    }
}

#[test]
fn the_forecast_agrees_with_what_sessions_wait() {
    let delays = decorrelated();
    let limits = Limits {
        attempts: Some(9),
        ..UNBOUNDED
    };
    let mut rng = seeded(8);
    let mut sums = [Duration::ZERO; 8];
    for _ in 0..20_000 {
        let mut session = Session::new(&limits, &delays, &[]);
        for sum in &mut sums {
            let decision = session.next(&failed(ms(1)), &TRANSIENT, ms(1), &mut rng);
            let Decision::Retry(wait) = decision else {
                panic!("{decision:?}")
            };
            *sum += wait;
        }
    }
    for (sum, row) in sums.iter().zip(forecast::rows(&delays, &limits, Duration::ZERO)) {
        expect_near(sum.as_secs_f64() / 20_000.0, row.mean.as_secs_f64(), 0.02);
    }
}

/// The share of 100,000 waits in a row that lie within a hundredth of the cap.
fn share_at_the_cap(mut next: impl FnMut(f64) -> f64) -> f64 {
    let mut previous = 0.5;
    let mut at_the_cap = 0.0;
    for _ in 0..100_000 {
        previous = next(previous);
        if previous >= 30.0 * 0.99 {
            at_the_cap += 1.0;
        }
    }
    at_the_cap / 100_000.0
}

#[test]
fn decorrelated_waits_do_not_pile_up_at_the_cap() {
    let delays = decorrelated();
    let mut rng = seeded(9);
    let drawn = share_at_the_cap(|previous| {
        let previous = Duration::from_nanos((previous * 1e9) as u64);
        delays.draw(5, Some(previous), &mut rng).as_secs_f64()
    });
    // Uniform up to the cap: the last hundredth holds a hundredth.
    assert!(drawn < 0.015, "{drawn}");
    let rightly = share_at_the_cap(|previous| decorrelated_rightly(0.5, 30.0, 3.0, previous, &mut rng));
    assert!(rightly < 0.015, "{rightly}");
    let wrongly = share_at_the_cap(|previous| decorrelated_wrongly(0.5, 30.0, 3.0, previous, &mut rng));
    assert!(wrongly > 0.3, "{wrongly}");
}

// --- a session ---------------------------------------------------------------------------------

const TRANSIENT: Verdict = Verdict::Transient(reason(Why::ByDefault));
const PERMANENT: Verdict = Verdict::Permanent(reason(Why::NoRuleMatched));

const fn reason(why: Why) -> Reason {
    Reason {
        why,
        matched: None,
        unproven: false,
        class: None,
    }
}

fn failed(ran: Duration) -> Outcome {
    Outcome::new(End::Exited(7), ran)
}

/// What a session decides on these verdicts, each attempt having run this long.
fn decisions(limits: &Limits, delays: &Delays, attempts: &[(Verdict, Duration)]) -> Vec<Decision> {
    let mut session = Session::new(limits, delays, &[]);
    let mut elapsed = Duration::ZERO;
    let mut rng = seeded(10);
    let mut decisions = Vec::new();
    for (verdict, ran) in attempts {
        elapsed += *ran;
        let decision = session.next(&failed(*ran), verdict, elapsed, &mut rng);
        decisions.push(decision);
        match decision {
            Decision::Stop(_) => break,
            Decision::Retry(wait) | Decision::Confirm(wait) => elapsed += wait,
        }
    }
    decisions
}

fn plain_doubling() -> Delays {
    exponential(s(1), 2.0, s(30), Jitter::None)
}

const fn gave_up(why: GiveUp) -> Decision {
    Decision::Stop(Stop::GaveUp(why))
}

#[test]
fn the_flow_chart_branch_by_branch() {
    let limits = Limits {
        attempts: Some(3),
        ..UNBOUNDED
    };
    let all = |verdict: Verdict| vec![(verdict, ms(1)); 5];
    let retry = |n| Decision::Retry(s(n));
    assert_eq!(
        decisions(&limits, &plain_doubling(), &all(PERMANENT)),
        [gave_up(GiveUp::Permanent)]
    );
    assert_eq!(
        decisions(&limits, &plain_doubling(), &all(TRANSIENT)),
        [retry(1), retry(2), gave_up(GiveUp::Attempts)]
    );
    let limits = Limits {
        leave_to_outer: true,
        ..UNBOUNDED
    };
    assert_eq!(
        decisions(&limits, &plain_doubling(), &all(TRANSIENT)),
        [gave_up(GiveUp::Nested)]
    );
    let limits = Limits {
        stop_at_delay: Some(s(4)),
        ..UNBOUNDED
    };
    assert_eq!(
        decisions(&limits, &plain_doubling(), &all(TRANSIENT)),
        [retry(1), retry(2), gave_up(GiveUp::Delay)]
    );
    let limits = Limits {
        deadline: Some(s(4)),
        ..UNBOUNDED
    };
    assert_eq!(
        decisions(&limits, &plain_doubling(), &all(TRANSIENT)),
        [retry(1), retry(2), gave_up(GiveUp::Deadline)]
    );
    let succeeded = |flaky| Decision::Stop(Stop::Succeeded { flaky });
    assert_eq!(
        decisions(&UNBOUNDED, &plain_doubling(), &all(Verdict::Success)),
        [succeeded(false)]
    );
    let late = [(TRANSIENT, ms(1)), (Verdict::Success, ms(1))];
    assert_eq!(
        decisions(&UNBOUNDED, &plain_doubling(), &late),
        [retry(1), succeeded(true)]
    );
}

#[test]
fn a_long_attempt_starts_growth_and_count_again() {
    let limits = Limits {
        attempts: Some(3),
        reset_after: Some(s(60)),
        ..UNBOUNDED
    };
    let attempts = [ms(1), ms(1), s(60), ms(1), ms(59_999), ms(1)].map(|ran| (TRANSIENT, ran));
    let waits = [1, 2, 1, 2].map(|n| Decision::Retry(s(n)));
    let [w1, w2, w3, w4] = waits;
    // The third would be the last, but it ran long enough; the next two do not.
    assert_eq!(
        decisions(&limits, &plain_doubling(), &attempts),
        [w1, w2, w3, w4, gave_up(GiveUp::Attempts)]
    );

    // A service that is restarted: it never runs out, and each wait is a first one.
    let limits = Limits {
        attempts: Some(2),
        ..limits
    };
    let healthy = vec![(TRANSIENT, s(61)); 100];
    assert_eq!(
        decisions(&limits, &plain_doubling(), &healthy),
        [Decision::Retry(s(1)); 100]
    );

    // Decorrelated jitter forgets the wait before it, too.
    let delays = decorrelated();
    let limits = Limits {
        attempts: None,
        ..limits
    };
    for decision in decisions(&limits, &delays, &healthy) {
        let Decision::Retry(wait) = decision else {
            panic!("{decision:?}")
        };
        assert!((ms(500)..=ms(1500)).contains(&wait), "{wait:?}");
    }
}

#[test]
fn a_wait_is_granted_up_to_the_longest_that_may_be_asked_for() {
    let asks = |wait| {
        let mut outcome = failed(ms(1));
        outcome.seen.wait_asked = Some(wait);
        outcome
    };
    let delays = plain_doubling();
    let mut rng = seeded(14);
    let limits = Limits {
        max_asked: Some(s(60)),
        ..UNBOUNDED
    };
    let mut session = Session::new(&limits, &delays, &[]);
    let mut next = |outcome: &Outcome| {
        let decision = session.next(outcome, &TRANSIENT, ms(1), &mut rng);
        (decision, session.retries(), session.owed(outcome, &mut rng))
    };
    assert_eq!(next(&failed(ms(1))), (Decision::Retry(s(1)), 1, s(2)));
    assert_eq!(next(&asks(s(60))), (Decision::Retry(s(60)), 2, s(60)));
    // The waits have grown beneath.
    assert_eq!(next(&asks(ms(1))), (Decision::Retry(s(4)), 3, s(8)));
    let too_long = asks(s(60) + Duration::from_nanos(1));
    assert_eq!(next(&too_long), (gave_up(GiveUp::AskedTooLong), 3, s(60)));

    let mut deaf = Session::new(&UNBOUNDED, &delays, &[]);
    let decision = deaf.next(&asks(s(60)), &TRANSIENT, ms(1), &mut rng);
    assert_eq!(decision, Decision::Retry(s(1)));
}

#[test]
fn a_success_must_be_confirmed_in_a_row() {
    let limits = Limits {
        attempts: Some(6),
        consecutive: 2,
        ..UNBOUNDED
    };
    let verdicts = |row: &[Verdict]| row.iter().map(|verdict| (verdict.clone(), ms(1))).collect::<Vec<_>>();
    let confirm = Decision::Confirm(s(1));
    let retry = |n| Decision::Retry(s(n));
    const GOOD: Verdict = Verdict::Success;
    assert_eq!(
        decisions(&limits, &plain_doubling(), &verdicts(&[GOOD, TRANSIENT, GOOD, GOOD])),
        [
            confirm,
            retry(1),
            confirm,
            Decision::Stop(Stop::Succeeded { flaky: true })
        ]
    );
    assert_eq!(
        decisions(&limits, &plain_doubling(), &verdicts(&[GOOD, GOOD])),
        [confirm, Decision::Stop(Stop::Succeeded { flaky: false })]
    );
    assert_eq!(
        decisions(
            &limits,
            &plain_doubling(),
            &verdicts(&[GOOD, TRANSIENT, GOOD, TRANSIENT, GOOD, TRANSIENT])
        ),
        [confirm, retry(1), confirm, retry(2), confirm, gave_up(GiveUp::Attempts)]
    );
    assert_eq!(
        decisions(
            &limits,
            &plain_doubling(),
            &verdicts(&[TRANSIENT, TRANSIENT, TRANSIENT, TRANSIENT, TRANSIENT, GOOD])
        ),
        [
            retry(1),
            retry(2),
            retry(4),
            retry(8),
            retry(16),
            gave_up(GiveUp::Attempts)
        ]
    );
}

/// Thousands of runs of random verdicts: each decision is allowed, and each kind is seen.
#[test]
fn a_session_keeps_its_limits_whatever_happens() {
    let mut rng = seeded(11);
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..5000 {
        let maybe =
            |rng: &mut Xoshiro256PlusPlus, most: u64| rng.random_bool(0.5).then(|| ms(rng.random_range(1..=most)));
        let limits = Limits {
            max_asked: None,
            attempts: rng.random_bool(0.7).then(|| rng.random_range(1..=6)),
            deadline: maybe(&mut rng, 60_000),
            stop_at_delay: maybe(&mut rng, 60_000),
            reset_after: maybe(&mut rng, 4000),
            consecutive: rng.random_range(1..=3),
            leave_to_outer: rng.random_bool(0.1),
        };
        let jitter = [Jitter::None, Jitter::Full, Jitter::Decorrelated { factor: 3.0 }][rng.random_range(0..3)];
        let delays = exponential(ms(rng.random_range(0..2000)), 2.0, s(30), jitter);
        let mut session = Session::new(&limits, &delays, &[]);
        // Kept here apart from the session.
        let (mut attempt, mut retry, mut in_a_row, mut has_failed) = (1, 0, 0, false);
        let (mut elapsed, mut previous) = (Duration::ZERO, None);
        for total in 1..=12 {
            assert_eq!(session.attempt(), attempt);
            let verdict = match rng.random_range(0..10) {
                0..=2 => Verdict::Success,
                3 => PERMANENT,
                _ => TRANSIENT,
            };
            let out_of_time = verdict == TRANSIENT && limits.deadline.is_some() && rng.random_bool(0.05);
            let ran = ms(rng.random_range(0..5000));
            let outcome = if out_of_time {
                Outcome::new(End::TimedOut(Bound::Deadline), ran)
            } else {
                failed(ran)
            };
            elapsed += ran;
            let decision = session.next(&outcome, &verdict, elapsed, &mut rng);
            assert_eq!(session.total(), total);

            let succeeded = verdict == Verdict::Success;
            in_a_row = if succeeded { in_a_row + 1 } else { 0 };
            has_failed |= !succeeded;
            if verdict == TRANSIENT
                && !limits.leave_to_outer
                && limits.reset_after.is_some_and(|healthy| ran >= healthy)
            {
                (attempt, retry, previous) = (1, 0, None);
            }
            let is_last = limits.attempts == Some(attempt);
            let too_late = |wait: Duration| limits.deadline.is_some_and(|deadline| elapsed + wait >= deadline);
            let stops = limits
                .stop_at_delay
                .is_some_and(|stop| delays.unjittered(retry) >= stop);
            let next = delays.distribution(retry, previous);
            let may_go_on = verdict == TRANSIENT && !limits.leave_to_outer && !out_of_time;
            let kind = match decision {
                Decision::Retry(wait) => {
                    assert!(may_go_on && !is_last && !stops && !too_late(wait));
                    assert!(next.least() <= wait && wait <= next.most());
                    (attempt, retry, previous) = (attempt + 1, retry + 1, Some(wait));
                    elapsed += wait;
                    "retry"
                }
                Decision::Confirm(wait) => {
                    assert!(succeeded && in_a_row < limits.consecutive && !is_last && !too_late(wait));
                    assert!(!limits.leave_to_outer);
                    assert_eq!(wait, delays.base);
                    attempt += 1;
                    elapsed += wait;
                    "confirm"
                }
                Decision::Stop(Stop::Succeeded { flaky }) => {
                    assert!(succeeded && flaky == has_failed);
                    assert!(in_a_row == limits.consecutive || limits.leave_to_outer);
                    "succeeded"
                }
                Decision::Stop(Stop::GaveUp(GiveUp::Permanent)) => {
                    assert_eq!(verdict, PERMANENT);
                    "permanent"
                }
                Decision::Stop(Stop::GaveUp(GiveUp::Nested)) => {
                    assert!(verdict == TRANSIENT && limits.leave_to_outer);
                    "nested"
                }
                Decision::Stop(Stop::GaveUp(GiveUp::Attempts)) => {
                    assert!(is_last && (succeeded || may_go_on));
                    "attempts"
                }
                // These attempts printed and read nothing, and no rule speaks of them.
                Decision::Stop(Stop::GaveUp(
                    why @ (GiveUp::AskedTooLong | GiveUp::AttemptsOfClass | GiveUp::Budget(_) | GiveUp::Stdin),
                )) => unreachable!("{why:?}"),
                Decision::Stop(Stop::GaveUp(GiveUp::Delay)) => {
                    assert!(may_go_on && !is_last && stops);
                    "delay"
                }
                Decision::Stop(Stop::GaveUp(GiveUp::Deadline)) => {
                    let longest = if succeeded { delays.base } else { next.most() };
                    assert!(out_of_time || too_late(longest));
                    "deadline"
                }
            };
            *seen.entry(kind).or_default() += 1;
            if matches!(decision, Decision::Stop(_)) {
                break;
            }
        }
    }
    assert!(seen.len() == 8 && seen.values().all(|count| *count > 100), "{seen:?}");
}

// --- whole runs in virtual time ----------------------------------------------------------------

/// What a whole run did.
#[derive(Debug)]
struct Played {
    exit: Result<Exit, Cut>,
    /// The waits between attempts.
    waits: Vec<Duration>,
    /// The wait before the first.
    first: Duration,
    said: String,
    /// Attempts made.
    calls: usize,
}

impl Played {
    #[track_caller]
    fn expect(&self, code: u8, calls: usize, said_last: &str) {
        assert_eq!(self.exit, Ok(Exit::Code(code)), "{self:#?}");
        assert_eq!(self.calls, calls, "{self:#?}");
        let last = self.said.lines().last().unwrap_or_default();
        assert!(last.contains(said_last), "no {said_last:?} in {self:#?}");
    }
}

fn plan(words: &[&str], variables: &[(&str, &str)]) -> Plan {
    let words: Vec<OsString> = ["backoff"]
        .iter()
        .chain(words)
        .chain(&["--", "cmd"])
        .map(OsString::from)
        .collect();
    let variables: Vec<_> = variables
        .iter()
        .chain(&[("BACKOFF_NO_CONFIG", "1")])
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    match cli::parse(&words) {
        Parsed::Run(typed) => {
            let config = Config::load(&Settings::new(&typed, &variables)).unwrap();
            Plan::resolve(&typed, &variables, &config).unwrap()
        }
        Parsed::Print(text) | Parsed::Wrong(text) => panic!("{text}"),
    }
}

fn play_plan(plan: &Plan, attempts: &[(End, Duration)], seed: u64) -> Played {
    let mut calls = 0;
    let mut host = Script::new(attempts.iter().cloned().inspect(|_| calls += 1));
    let identity = Identity { run_id: "a run".into() };
    let mut observer = Voice::new(plan, &identity, || false);
    let exit = run::run(plan, &identity, &mut host, &mut seeded(seed), &mut observer);
    let mut waits = std::mem::take(&mut host.waits);
    let said = std::mem::take(&mut host.said);
    drop(host);
    let first = waits.remove(0);
    Played {
        exit,
        waits,
        first,
        said,
        calls,
    }
}

fn play(words: &[&str], attempts: &[(End, Duration)]) -> Played {
    play_plan(&plan(words, &[]), attempts, 12)
}

fn exits(codes: &[u8]) -> Vec<(End, Duration)> {
    codes.iter().map(|code| (End::Exited(*code), Duration::ZERO)).collect()
}

#[test]
fn a_permanent_failure_fails_fast() {
    let played = play(&["-j", "none", "--stop-exit", "2"], &exits(&[1, 2, 0]));
    played.expect(
        2,
        2,
        "gave up after 2 attempts in 0.50s: exit 2 (permanent: --stop-exit)",
    );
    assert_eq!(played.waits, [ms(500)]);
    play(&["-e", "75"], &exits(&[1, 0])).expect(1, 1, "(permanent: no retry rule matches)");
    let missing = End::NotStarted(StartFailure {
        not_found: true,
        message: "command not found".into(),
    });
    play(&[], &[(missing, ms(0)), (End::Exited(0), ms(0))]).expect(127, 1, "cannot run 'cmd': command not found");
}

#[test]
fn exhaustion_ends_with_the_last_code() {
    let played = play(&["-j", "none"], &exits(&[1, 2, 3, 4, 5, 0]));
    played.expect(5, 5, "gave up after 5 attempts in 7.5s: exit 5");
    assert_eq!(played.waits, [ms(500), s(1), s(2), s(4)]);
    assert_eq!(played.first, Duration::ZERO);
}

#[test]
fn a_late_success_is_a_success() {
    let played = play(&["-j", "none"], &exits(&[1, 1, 0, 1]));
    played.expect(0, 3, "succeeded on attempt 3 of 5 after 1.5s");
    assert_eq!(play(&[], &exits(&[0])).said, "");
}

#[test]
fn a_wait_past_the_deadline_is_given_up_at_once() {
    let tries = vec![(End::Exited(1), s(1)); 20];
    let played = play(&["-j", "none", "-b", "1s", "-n", "20", "-d", "10s"], &tries);
    // 1 +1 1 +2 1 +4 1 = 11 would be too late for a fourth; the third ends at 6.
    played.expect(
        1,
        3,
        "gave up after 3 attempts in 6.0s: exit 1 (the next wait would pass the deadline)",
    );
    assert_eq!(played.waits, [s(1), s(2)]);
    let late = [(End::TimedOut(Bound::Deadline), s(10)), (End::Exited(0), s(1))];
    play(&["-d", "10s"], &late).expect(124, 1, "gave up after 1 attempt in 10.0s: ended by the deadline");
    let timed_out = [(End::TimedOut(Bound::Timeout), s(3)), (End::Exited(0), s(1))];
    play(&["-t", "3s", "-j", "none"], &timed_out).expect(0, 2, "succeeded on attempt 2 of 5 after 4.5s");
}

#[test]
fn the_clojure_function_whole() {
    let played = play(&["-p", "clojure", "-n", "unlimited"], &exits(&[1; 20]));
    played.expect(
        1,
        5,
        "gave up after 5 attempts in 15.0s: exit 1 (the next wait would reach --stop-at-delay)",
    );
    assert_eq!(played.waits, [s(1), s(2), s(4), s(8)]);
    // Only failures for which the predicate holds are retried.
    play(&["-p", "clojure", "-e", "75"], &exits(&[75, 75, 1, 0])).expect(1, 3, "no retry rule matches");
    play(&["-p", "clojure"], &exits(&[1, 1, 0])).expect(0, 3, "succeeded");
}

#[test]
fn a_service_is_restarted_for_ever() {
    let mut script = vec![(End::Exited(1), s(3600)); 1000];
    script.push((End::Exited(0), s(1)));
    let played = play(&["-n", "2", "--reset-after", "10m", "-j", "none"], &script);
    assert_eq!(played.exit, Ok(Exit::Code(0)));
    assert_eq!(played.waits, [ms(500); 1000]);
    // Without it the second failure is the last.
    play(&["-n", "2", "-j", "none"], &script).expect(1, 2, "gave up after 2 attempts");
}

#[test]
fn confirmations_are_a_base_apart() {
    let played = play(
        &["--consecutive", "3", "-b", "2s", "-n", "9", "-j", "none"],
        &exits(&[0, 0, 1, 0, 0, 0, 1]),
    );
    played.expect(0, 6, "succeeded on attempt 6 of 9 after 10.0s");
    assert_eq!(played.waits, [s(2); 5]);
}

#[test]
fn under_another_run_retries_multiply_or_are_left_to_it() {
    let outer = [("BACKOFF_DEPTH", "1"), ("BACKOFF_ATTEMPT_LIMIT", "3")];
    let script = exits(&[1; 9]);
    let played = |words: &[&str]| play_plan(&plan(words, &outer), &script, 13);
    let warned = played(&["-n", "3"]);
    warned.expect(1, 3, "gave up after 3 attempts");
    assert_eq!(warned.said.matches("3 x 3 = 9 calls").count(), 1, "{warned:?}");
    let once = played(&["-n", "3", "--nested", "once"]);
    once.expect(1, 1, "left to the outer backoff");
    let allowed = played(&["-n", "3", "--nested", "allow"]);
    allowed.expect(1, 3, "gave up after 3 attempts");
    assert!(!allowed.said.contains("calls"), "{allowed:?}");
}

proptest! {
    #![proptest_config(quietly(100))]

    #[test]
    fn the_wait_before_the_first_is_the_initial_delay_and_a_splay(
        initial in 0..5000_u64, splay in 0..5000_u64, seed in any::<u64>(),
    ) {
        let (initial_text, splay_text) = (format!("{initial}ms"), format!("{splay}ms"));
        let plan = plan(&["--initial-delay", &initial_text, "--splay", &splay_text], &[]);
        let first = play_plan(&plan, &exits(&[0]), seed).first;
        prop_assert!(ms(initial) <= first && first <= ms(initial + splay), "{:?}", first);
    }

    #[test]
    fn a_run_keeps_its_limits(
        attempts in 1..8_u64, deadline in 1..60_u64, jitter in prop::sample::select(vec!["none", "full", "equal", "decorrelated"]),
        script in prop::collection::vec((prop::sample::select(vec![0_u8, 1, 1, 1, 1, 2]), 0..8000_u64), 8..12),
        seed in any::<u64>(),
    ) {
        let script: Vec<_> = script.into_iter().map(|(code, ran)| (End::Exited(code), ms(ran))).collect();
        let (n, d) = (attempts.to_string(), format!("{deadline}s"));
        let plan = plan(&["-n", &n, "-d", &d, "-j", jitter, "--stop-exit", "2"], &[]);
        let played = play_plan(&plan, &script, seed);
        prop_assert!(played.calls as u64 <= attempts);
        prop_assert_eq!(played.waits.len(), played.calls - 1);
        let mut elapsed = Duration::ZERO;
        for ((end, ran), wait) in script.iter().zip(&played.waits) {
            prop_assert_eq!(end, &End::Exited(1));
            elapsed += *ran + *wait;
            prop_assert!(elapsed < s(deadline));
            prop_assert!(*wait <= s(30));
        }
        let (last, _) = &script[played.calls - 1];
        prop_assert_eq!(played.exit, Ok(Exit::Code(last.shell_status())));
    }
}

#[test]
fn a_splay_uses_all_of_its_width() {
    let plan = plan(&["--splay", "10s"], &[]);
    let firsts: Vec<Duration> = (0..2000)
        .map(|seed| play_plan(&plan, &exits(&[0]), seed).first)
        .collect();
    expect_near(mean(firsts.iter().copied()), 5.0, 0.05);
    assert!(*firsts.iter().min().unwrap() < ms(100) && *firsts.iter().max().unwrap() > ms(9900));
}
