use super::*;
use proptest::prelude::*;

const LIMITS: BudgetLimits = BudgetLimits {
    ratio: 0.1,
    min: 10,
    window: Duration::from_secs(600),
};

/// Returns the answer to a retry request at these counts.
fn asked(limits: &BudgetLimits, attempts: f64, retries: f64) -> Answer {
    let mut counts = Counts {
        at: 0.0,
        attempts,
        retries,
    };
    counts.answer(limits, Question::Retry, Duration::ZERO)
}

#[test]
fn a_retry_is_allowed_below_the_minimum_and_below_the_ratio() {
    for (attempts, retries, allowed) in [
        (0.0, 0.0, true),
        (9.0, 9.0, true),
        (9.4, 9.0, true),
        (9.5, 9.0, false),
        (10.0, 0.0, true),
        (10.0, 1.0, false),
        (11.0, 1.0, true),
        (100.0, 9.9, true),
        (100.0, 10.0, false),
    ] {
        let answer = asked(&LIMITS, attempts, retries);
        assert_eq!(answer.allowed, allowed, "{retries} of {attempts}");
    }
    let none = BudgetLimits {
        ratio: 0.0,
        min: 0,
        ..LIMITS
    };
    assert!(!asked(&none, 1e6, 0.0).allowed);
    let all = BudgetLimits { ratio: 1.0, ..none };
    // At least one attempt is not a retry.
    assert!(asked(&all, 1e6, 999_999.0).allowed);
}

#[test]
fn a_refused_retry_changes_nothing() {
    let mut counts = Counts::default();
    let now = Duration::from_secs(1000);
    for _ in 0..20 {
        counts.answer(&LIMITS, Question::Attempt, now);
    }
    assert_eq!((counts.attempts, counts.retries), (20.0, 0.0));
    for _ in 0..5 {
        counts.answer(&LIMITS, Question::Retry, now);
    }
    // Three retries are granted, the last because 2 < 0.1 * 22. The fourth is refused.
    assert_eq!((counts.attempts, counts.retries), (23.0, 3.0));
    let answer = counts.answer(&LIMITS, Question::Retry, now);
    assert_eq!((answer.allowed, answer.retries_per_mille), (false, 130));
}

#[test]
fn counts_fade_with_the_window() {
    let mut counts = Counts {
        at: 0.0,
        attempts: 100.0,
        retries: 50.0,
    };
    counts.answer(&LIMITS, Question::Attempt, LIMITS.window);
    let left = 100.0 / std::f64::consts::E;
    assert!((counts.attempts - left - 1.0).abs() < 1e-9, "{counts:?}");
    assert!((counts.retries - left / 2.0).abs() < 1e-9, "{counts:?}");
}

#[test]
fn a_clock_that_was_set_back_neither_fades_nor_grows_counts() {
    let year = Duration::from_secs(365 * 24 * 3600);
    let mut counts = Counts::default();
    counts.answer(&LIMITS, Question::Attempt, year);
    counts.answer(&LIMITS, Question::Attempt, Duration::ZERO);
    assert_eq!((counts.at, counts.attempts), (0.0, 2.0));
}

proptest! {
    /// Asserts that the bound always holds, for any questions in any order. The 0.5 comes from rounding.
    #[test]
    fn retries_stay_below_the_bound(
        steps in prop::collection::vec((any::<bool>(), prop_oneof![0..50_u64, 0..20_000_u64, Just(700_000)]), 0..1000),
        min in 0..50_u64,
        ratio in 0.0..=1.0_f64,
    ) {
        let limits = BudgetLimits { min, ratio, ..LIMITS };
        let mut counts = Counts::default();
        let mut now = Duration::from_secs(1_000_000);
        for (retry, gap) in steps {
            now += Duration::from_millis(gap);
            // A run asks for a retry only after an attempt.
            let question = if retry && counts.attempts > 0.0 { Question::Retry } else { Question::Attempt };
            counts.answer(&limits, question, now);
            let bound = (ratio * counts.attempts + 1.0).max(min as f64);
            prop_assert!(counts.retries <= bound + 0.5, "{counts:?}");
        }
    }

    /// Asserts that clock jumps and differing windows leave usable counts.
    #[test]
    fn jumping_clocks_and_different_windows_do_no_harm(
        steps in prop::collection::vec((any::<u64>(), prop_oneof![1..100_000_u64, any::<u64>()], any::<bool>()), 0..300),
    ) {
        let mut counts = Counts::default();
        for (now, window, retry) in steps {
            let limits = BudgetLimits { window: Duration::from_millis(window.max(1)), ..LIMITS };
            let question = if retry { Question::Retry } else { Question::Attempt };
            counts.answer(&limits, question, Duration::from_millis(now));
            prop_assert!(0.0 <= counts.retries && counts.retries <= counts.attempts && counts.attempts <= 300.0);
        }
    }
}
