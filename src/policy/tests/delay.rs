use std::time::Duration;

use proptest::prelude::*;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use crate::policy::test_samples::*;

/// Draws successive waits, each from the one before.
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
proptest! {
    #![proptest_config(quietly(2000))]

    #[test]
    fn draws_stay_between_least_and_most(
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
        prop_assert_eq!(delays.draw(retry, previous, &mut Always(0)), least);
        let short = most - delays.draw(retry, previous, &mut Always(u64::MAX));
        prop_assert!(short <= most / 1_000_000_000 + Duration::from_nanos(1), "{:?}", distribution);
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
        // Beyond 2^53 ns, a base is rounded to the nearest float.
        let least = if base.as_nanos() <= 1 << 53 { base } else { base - base / 1_000_000_000 };
        for wait in chain(&delays, 12, &mut seeded(seed)) {
            prop_assert!(wait >= least, "{:?}", wait);
            prop_assert!(wait <= cap, "{:?}", wait);
        }
    }
}

proptest! {
    #![proptest_config(quietly(500))]

    // 256 evenly spaced draws represent the whole distribution.
    #[test]
    fn the_mean_is_the_middle_unless_the_cap_cuts_the_draws(
        delays in delays(), retry in retry(), previous in prop::option::of(duration()),
    ) {
        let distribution = delays.distribution(retry, previous);
        let places = (0..256_u64).map(|n| (n << 56) + (1 << 55));
        let drawn = mean(places.map(|place| delays.draw(retry, previous, &mut Always(place))));
        let (least, most) = (distribution.least().as_secs_f64(), distribution.most().as_secs_f64());
        let tolerance = (most - least) / 256.0 + most * 1e-9 + 1e-9;
        let middle = f64::midpoint(least, most);
        if distribution.is_cut() {
            prop_assert!(drawn >= middle - tolerance, "{} {:?}", drawn, distribution);
        } else {
            prop_assert!((middle - drawn).abs() <= tolerance, "{} {:?}", drawn, distribution);
        }
    }

    // Compares with integers, which are not rounded.
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
#[test]
fn drawn_means_are_the_stated_means() {
    // e(3) = 1s * 2^3 = 8s in every row.
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
        let ends = [distribution.least(), distribution.most()].map(|d| d.as_secs_f64());
        assert_eq!(ends, [least, most], "{jitter:?}");
        assert!(!distribution.is_cut(), "{jitter:?}");
        let mut rng = seeded(1);
        let draws: Vec<Duration> = (0..20_000)
            .map(|_| delays.draw(3, None, &mut rng))
            .collect();
        expect_near(mean(draws.iter().copied()), stated, 0.02);
        // The draws reach both ends.
        let edge = (most - least) / 100.0;
        assert!(
            draws.iter().min().unwrap().as_secs_f64() <= least + edge,
            "{jitter:?}"
        );
        assert!(
            draws.iter().max().unwrap().as_secs_f64() >= most - edge,
            "{jitter:?}"
        );
    }
    // Decorrelated: uniform in [base, 3 * previous].
    let mut rng = seeded(2);
    let draws = (0..20_000).map(|_| decorrelated().draw(1, Some(s(2)), &mut rng));
    expect_near(mean(draws), f64::midpoint(0.5, 6.0), 0.02);
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
    for failures in 1..=10 {
        let most = (1 << failures) - 1;
        assert_eq!(delays.distribution(failures - 1, None).most(), slot * most);
    }
    for failures in [10, 11, 12, 16, 1000, u64::MAX] {
        assert_eq!(
            delays.distribution(failures - 1, None).most(),
            slot * 1023,
            "{failures}"
        );
    }
}

#[test]
fn a_wait_that_was_asked_for_is_random_upwards_only() {
    let full = exponential(s(1), 2.0, s(30), Jitter::Full);
    for (drawn, shortest, longest) in [
        // The random part is the drawn wait, but at least a tenth and at most a quarter of the requested wait.
        (0, 8000, 8800),
        (1, 8000, 9000),
        (3, 8000, 10_000),
        // The drawn wait is long enough.
        (8, 8000, 8000),
        (9, 9000, 9000),
    ] {
        let wait = |place: u64| full.at_least(s(8), s(drawn), &mut Always(place));
        let waits = [wait(0), wait(u64::MAX)].map(|wait| wait.as_millis());
        assert_eq!(waits, [shortest, longest], "{drawn} s");
        // The jitter of other waits does not matter.
        let without = plain_doubling().at_least(s(8), s(drawn), &mut Always(u64::MAX));
        assert_eq!(without.as_millis(), longest, "{drawn} s");
    }
    // At most the cap is added.
    assert_eq!(
        full.at_least(s(3600), s(0), &mut Always(u64::MAX))
            .as_secs(),
        3630
    );
}

/// Asserts that a run without random waits needs no random bytes from the system.
#[test]
fn a_fixed_wait_uses_no_randomness() {
    let mut rng = seeded(1);
    assert_eq!(plain_doubling().draw(3, None, &mut rng), s(8));
    assert_eq!(rng, seeded(1));
}

/// Asserts that decorrelated jitter caps the interval. A cap on the draw would put a third of all waits at the cap.
#[test]
fn decorrelated_waits_do_not_pile_up_at_the_cap() {
    let waits = chain(&decorrelated(), 100_000, &mut seeded(9));
    let at_the_cap = waits.iter().filter(|wait| **wait >= ms(29_700)).count();
    // The waits are uniform up to the cap, so the last hundredth of the range holds about 1,000.
    assert!(at_the_cap < 1_500, "{at_the_cap}");
}
