use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::policy::test_samples::*;

fn rows(delays: &Delays, limits: &Limits) -> Vec<WaitRow> {
    forecast(delays, limits, Duration::ZERO).rows
}

fn attempts(attempts: u64) -> Limits {
    Limits {
        attempts: Some(attempts),
        ..Limits::UNLIMITED
    }
}

proptest! {
    // A plan of 1,000 rows takes a second, so most cases limit the attempts.
    #![proptest_config(quietly(20))]

    #[test]
    fn a_forecast_is_in_order_for_any_input(
        delays in delays_base_within_cap(), attempts in prop::option::weighted(0.9, 1..30_u64),
        deadline in prop::option::of(duration()), stop_at_delay in prop::option::of(duration()),
    ) {
        let limits = Limits { attempts, deadline, stop_at_delay, ..Limits::UNLIMITED };
        let Forecast { rows, end } = forecast(&delays, &limits, Duration::ZERO);
        let most_rows = match (attempts, deadline) {
            (Some(attempts), _) => attempts as usize - 1,
            (None, Some(_)) => MOST_ROWS,
            (None, None) => ROWS_WHEN_UNLIMITED,
        };
        prop_assert!(rows.len() <= most_rows);
        prop_assert_eq!(rows.len() == most_rows || end == RowsEnd::Delay || matches!(end, RowsEnd::Deadline(_)), true);
        let mut sums = [Duration::ZERO; 3];
        for (i, row) in rows.iter().enumerate() {
            for (sum, wait) in sums.iter_mut().zip([row.least, row.mean, row.most]) {
                *sum = sum.saturating_add(wait);
            }
            let [least_total, total, most_total] = sums;
            prop_assert_eq!(row.retry, i as u64 + 1);
            prop_assert_eq!((row.total, row.total_most), (total, most_total));
            prop_assert!(row.least <= row.mean && row.mean <= row.most && row.most <= delays.cap, "{:?}", row);
            prop_assert!(least_total <= row.total_low && row.total_low <= row.total_high && row.total_high <= most_total);
            prop_assert!(deadline.is_none_or(|deadline| row.total_high < deadline));
            prop_assert!(stop_at_delay.is_none_or(|stop| delays.unjittered(row.retry - 1) < stop));
        }
    }
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
        let rows = rows(&delays, &attempts(9));
        assert_eq!(rows.len(), 8);
        let (base, cap) = (ms(base).as_secs_f64(), ms(cap).as_secs_f64());
        let (mut sums, mut shortest, mut longest) = ([0.0; 8], [cap; 8], [0.0_f64; 8]);
        let mut rng = seeded(7);
        for _ in 0..100_000 {
            let mut previous = base;
            for i in 0..8 {
                previous = decorrelated_by_formula(base, cap, factor, previous, &mut rng);
                sums[i] += previous;
                shortest[i] = previous.min(shortest[i]);
                longest[i] = previous.max(longest[i]);
            }
        }
        for (i, row) in rows.iter().enumerate() {
            expect_near(row.mean.as_secs_f64(), sums[i] / 100_000.0, 0.08);
            assert!(row.least.as_secs_f64() <= shortest[i] + 1e-9, "{row:?}");
            assert!(row.most.as_secs_f64() >= longest[i] - 1e-9, "{row:?}");
        }
    }
}

/// Asserts that the mean of a uniform wait is the middle, and that draws above the cap count as the cap.
#[test]
fn the_mean_of_a_wait_without_a_memory() {
    let first_mean = |cap, jitter| rows(&exponential(s(1), 2.0, cap, jitter), &attempts(2))[0].mean;
    assert_eq!(first_mean(s(9), Jitter::Full), ms(500));
    assert_eq!(first_mean(s(9), Jitter::Slotted { ceiling: 4 }), ms(500));
    let cut = first_mean(ms(1500), Jitter::Additive { spread: s(1) });
    expect_near(cut.as_secs_f64(), 1.375, 0.02);
}

#[test]
fn the_mean_is_right_long_after_the_cap_is_reached() {
    let delays = exponential(ms(1), 2.0, s(1), Jitter::Decorrelated { factor: 1.1 });
    let last = rows(&delays, &attempts(101))[99];
    assert_eq!(last.most, s(1));
    // m = (base + factor * m) / 2
    expect_near(last.mean.as_secs_f64(), 0.001 / (2.0 - 1.1), 0.001);
}

#[test]
fn percentiles_are_those_of_the_runs() {
    assert_eq!(
        spread((0..100).rev().collect()),
        Spread { low: 5, high: 94 }
    );
    // Of a uniform wait in [0, 1 s], a twentieth is shorter than 50 ms and a twentieth longer than 950 ms.
    let delays = exponential(s(1), 1.0, s(1), Jitter::Full);
    let row = rows(&delays, &attempts(2))[0];
    let low = row.total_low.as_secs_f64();
    let high = row.total_high.as_secs_f64();
    assert!(
        (0.03..0.07).contains(&low) && (0.93..0.97).contains(&high),
        "{low} {high}"
    );
}

#[test]
fn the_limit_that_ends_the_rows_is_named() {
    let second = exponential(s(1), 1.0, s(1), Jitter::None);
    let limits = |attempts, deadline: Option<u64>, stop_at_delay: Option<u64>| Limits {
        attempts,
        deadline: deadline.map(ms),
        stop_at_delay: stop_at_delay.map(ms),
        ..Limits::UNLIMITED
    };
    for (limits, before, rows, end) in [
        (limits(Some(1), None, None), 0, 0, RowsEnd::Attempts),
        (limits(Some(4), None, None), 0, 3, RowsEnd::Attempts),
        (
            limits(Some(1_101), None, None),
            0,
            1_000,
            RowsEnd::More(100),
        ),
        (limits(None, None, None), 0, 20, RowsEnd::Unlimited),
        (
            limits(None, Some(2_000_000), None),
            0,
            1_000,
            RowsEnd::Unlimited,
        ),
        (
            limits(None, Some(3_500), None),
            0,
            3,
            RowsEnd::Deadline(Spread { low: 3, high: 3 }),
        ),
        (
            limits(None, Some(3_000), None),
            0,
            2,
            RowsEnd::Deadline(Spread { low: 2, high: 2 }),
        ),
        (
            limits(None, Some(3_500), None),
            1,
            2,
            RowsEnd::Deadline(Spread { low: 2, high: 2 }),
        ),
        (
            limits(None, Some(3_500), None),
            9,
            0,
            RowsEnd::Deadline(Spread { low: 0, high: 0 }),
        ),
        (limits(Some(3), Some(3_500), None), 0, 2, RowsEnd::Attempts),
        (limits(None, None, Some(1_000)), 0, 0, RowsEnd::Delay),
    ] {
        let Forecast {
            rows: found,
            end: ended,
        } = forecast(&second, &limits, s(before));
        assert_eq!(
            (found.len(), ended),
            (rows, end),
            "{limits:?} after {before} s"
        );
    }
}
