use super::*;
use proptest::prelude::*;

impl Ledger {
    pub fn count_attempt(&mut self, limits: &BudgetLimits, now: Duration) {
        self.answer(limits, Question::Attempt, now);
    }

    pub fn ask_retry(&mut self, limits: &BudgetLimits, now: Duration) -> Answer {
        self.answer(limits, Question::Retry, now)
    }
}

const LIMITS: BudgetLimits = BudgetLimits {
    ratio: 100_000,
    min: 10,
    window: Duration::from_secs(600),
};

fn counts(attempts: u64, retries: u64) -> Counts {
    Counts { attempts, retries }
}

#[test]
fn a_retry_is_allowed_below_the_minimum_and_below_the_ratio() {
    for (attempts, retries, allowed) in [
        (0, 0, true),
        (9, 9, true),
        (10, 0, true),
        (10, 1, false),
        (11, 1, true),
        (100, 9, true),
        (100, 10, false),
        (101, 10, true),
        (u64::MAX, u64::MAX / 10, true),
        (u64::MAX, u64::MAX / 10 + 1, false),
    ] {
        assert_eq!(
            LIMITS.allow(counts(attempts, retries)),
            allowed,
            "{retries} of {attempts}"
        );
    }
    let none = BudgetLimits {
        ratio: 0,
        min: 0,
        ..LIMITS
    };
    assert!(!none.allow(counts(1_000_000, 0)));
    let all = BudgetLimits {
        ratio: 1_000_000,
        ..none
    };
    // At least one attempt is not a retry.
    assert!(all.allow(counts(1_000_000, 999_999)));
}

fn gave_up(cool_off: Duration, earlier: impl Into<Option<u64>>) -> Question {
    Question::GaveUp {
        cool_off,
        earlier: earlier.into(),
    }
}

#[test]
fn runs_that_fail_side_by_side_are_not_in_a_row() {
    let mut ledger = Ledger::default();
    let mut ask = |question| {
        ledger
            .answer(&LIMITS, question, Duration::from_secs(1000))
            .failed_runs
    };
    assert_eq!(ask(Question::CoolOff), 0);
    for _ in 0..3 {
        assert_eq!(ask(gave_up(Duration::from_secs(1), 0)), 1);
    }
    assert_eq!(ask(gave_up(Duration::ZERO, 1)), 2);
    assert_eq!(ask(Question::Attempt), 2);
    // A run has succeeded since this run began.
    assert_eq!(ask(gave_up(Duration::ZERO, 5)), 2);
    assert_eq!(ask(gave_up(Duration::ZERO, None)), 2);
    assert_eq!(ask(Question::Succeeded), 0);
    assert_eq!(ask(gave_up(Duration::ZERO, None)), 0);
    assert_eq!(ask(gave_up(Duration::ZERO, 5)), 1);
}

#[test]
fn a_cool_off_ends_even_if_the_clock_is_set_back() {
    let mut ledger = Ledger::default();
    let at = Duration::from_secs;
    let left = |ledger: &mut Ledger, now| ledger.answer(&LIMITS, Question::CoolOff, now).cool_off;
    assert_eq!(left(&mut ledger, at(1000)), at(0));
    ledger.answer(&LIMITS, gave_up(at(30), 0), at(1000));
    assert_eq!(left(&mut ledger, at(1010)), at(20));
    assert_eq!(left(&mut ledger, at(1030)), at(0));
    // The clock was set back by an hour.
    assert_eq!(left(&mut ledger, at(0)), at(30));
    ledger.answer(&LIMITS, Question::Succeeded, at(1010));
    assert_eq!(left(&mut ledger, at(1010)), at(0));
    ledger.answer(&LIMITS, gave_up(Duration::MAX, 0), at(1000));
    assert_eq!(left(&mut ledger, at(1000)), at(31_622_400));
}

proptest! {
    /// Only time and a success shorten a cool-off.
    #[test]
    fn no_run_shortens_the_cool_off_of_another(
        lengths in prop::collection::vec((0..5000_u64, 0..2000_u64), 1..50)
    ) {
        let mut ledger = Ledger::default();
        let mut now = Duration::from_secs(1000);
        let mut end = now;
        for (length, pause) in lengths {
            now += Duration::from_millis(pause);
            let length = Duration::from_millis(length);
            ledger.answer(&LIMITS, gave_up(length, 0), now);
            end = end.max(now + length);
            let left = ledger.answer(&LIMITS, Question::CoolOff, now).cool_off;
            prop_assert_eq!(left, end - now);
        }
        ledger.answer(&LIMITS, Question::Succeeded, now);
        let left = ledger.answer(&LIMITS, Question::CoolOff, now).cool_off;
        prop_assert_eq!(left, Duration::ZERO);
    }
}

#[test]
fn an_attempt_counts_until_the_end_of_its_slot_is_a_window_old() {
    let window = |secs| BudgetLimits {
        window: Duration::from_secs(secs),
        ..LIMITS
    };
    let counted = |ledger: &mut Ledger, limits, now| {
        ledger.counts(&limits, Duration::from_millis(now)).attempts
    };
    let at = Duration::from_secs(1000);
    // The slot is one second.
    let mut ledger = Ledger::default();
    ledger.count_attempt(&window(60), at);
    assert_eq!(counted(&mut ledger, window(60), 1_060_999), 1);
    assert_eq!(counted(&mut ledger, window(60), 1_061_000), 0);
    assert_eq!(ledger.slots, []);
    // The slot is ten seconds, also for a query with a shorter window.
    ledger.count_attempt(&window(600), at);
    assert_eq!(counted(&mut ledger, window(60), 1_069_999), 1);
    assert_eq!(counted(&mut ledger, window(60), 1_070_000), 0);
    assert_eq!(counted(&mut ledger, window(600), 1_070_000), 1);
}

#[test]
fn with_too_many_slots_the_two_oldest_join() {
    let slot = |until| Slot {
        until,
        counts: counts(1, 0),
    };
    // Slots of a run with a very short window.
    let mut ledger = Ledger {
        span: 600_000,
        slots: (1..MOST_SLOTS as u64).map(slot).collect(),
        cool_off: CoolOff::default(),
        failed_runs: 0,
    };
    ledger.count_attempt(&LIMITS, Duration::from_millis(500));
    assert_eq!((ledger.slots.len(), ledger.slots[0]), (MOST_SLOTS, slot(1)));
    ledger.count_attempt(&LIMITS, Duration::from_secs(10));
    let joined = Slot {
        until: 2,
        counts: counts(2, 0),
    };
    assert_eq!((ledger.slots.len(), ledger.slots[0]), (MOST_SLOTS, joined));
}

/// Events: the time since the event before, in milliseconds, and true if a retry was requested.
fn history() -> impl Strategy<Value = Vec<(u64, bool)>> {
    let gap = prop_oneof![0..50_u64, 0..20_000_u64, Just(0), Just(700_000)];
    prop::collection::vec((gap, any::<bool>()), 0..300)
}

proptest! {
    /// Compares the ledger with a list of all events: the ledger counts every event younger than the window, and none
    /// older than the window and a sixtieth.
    #[test]
    fn no_attempt_is_lost_or_counted_for_too_long(
        history in history(), window in prop_oneof![1..100_u64, 1_000..100_000_u64],
    ) {
        let limits = BudgetLimits { window: Duration::from_millis(window), ..LIMITS };
        let mut ledger = Ledger::default();
        let mut all: Vec<(u64, bool)> = Vec::new();
        let mut now = 1_000_000_u64;
        for (gap, retry) in history {
            now += gap;
            let counted = ledger.counts(&limits, Duration::from_millis(now));
            let since = |age: u64| {
                let young = all.iter().filter(|(at, _)| at + age > now);
                young.fold(Counts::default(), |sum, (_, retry)| counts(sum.attempts + 1, sum.retries + u64::from(*retry)))
            };
            let (least, most) = (since(window), since(window + window / SLOTS_PER_WINDOW + 1));
            prop_assert!(least.attempts <= counted.attempts && counted.attempts <= most.attempts);
            prop_assert!(least.retries <= counted.retries && counted.retries <= most.retries);
            let question = if retry { Question::Retry } else { Question::Attempt };
            let answer = ledger.answer(&limits, question, Duration::from_millis(now));
            prop_assert_eq!(answer.counts, counted);
            prop_assert_eq!(answer.allowed, limits.allow(counted));
            if !retry || answer.allowed {
                all.push((now, retry));
            }
            prop_assert!(ledger.slots.len() <= MOST_SLOTS);
            prop_assert!(ledger.slots.is_sorted_by(|a, b| a.until < b.until));
        }
    }

    /// Asserts that, for any requests in any order, retries exceed the ratio at most by the last granted retry, or by
    /// the retries that `min` allows.
    #[test]
    fn retries_stay_below_the_limit(asked in prop::collection::vec(any::<bool>(), 0..2000), min in 0..50_u64, ratio in 0..=1_000_000_u32) {
        let limits = BudgetLimits { min, ratio, ..LIMITS };
        let mut ledger = Ledger::default();
        let mut sum = Counts::default();
        for retry in asked {
            let retry = retry && sum.attempts > 0;
            let question = if retry { Question::Retry } else { Question::Attempt };
            let answer = ledger.answer(&limits, question, Duration::from_secs(1));
            prop_assert_eq!(answer.counts, sum);
            if !retry || answer.allowed {
                sum = counts(sum.attempts + 1, sum.retries + u64::from(retry));
            }
            let share = f64::from(ratio) / 1e6 * sum.attempts as f64;
            prop_assert!(sum.retries as f64 <= (share + 1.0).max(min as f64));
        }
    }

    /// Asserts that clocks that jump and windows that differ cause no panic, no slot in the future and no disorder.
    #[test]
    fn jumping_clocks_and_different_windows_keep_slots_in_order(
        steps in prop::collection::vec((any::<u64>(), prop_oneof![1..100_000_u64, any::<u64>()], 0..5_u8), 0..300),
    ) {
        let mut ledger = Ledger::default();
        for (now, window, question) in steps {
            let limits = BudgetLimits { window: Duration::from_millis(window.max(1)), ..LIMITS };
            let question = match question {
                0 => Question::Attempt,
                1 => Question::Retry,
                2 => Question::CoolOff,
                3 => gave_up(Duration::from_millis(window), now),
                _ => Question::Succeeded,
            };
            let answer = ledger.answer(&limits, question, Duration::from_millis(now));
            prop_assert!(answer.counts.retries <= answer.counts.attempts);
            prop_assert!(ledger.slots.len() <= MOST_SLOTS);
            prop_assert!(ledger.slots.is_sorted_by(|a, b| a.until < b.until));
            prop_assert!(ledger.slots.iter().all(|slot| slot.until <= ledger.slot_end(now)));
        }
    }
}
