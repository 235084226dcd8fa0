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
        steps in prop::collection::vec((any::<u64>(), prop_oneof![1..100_000_u64, any::<u64>()], any::<bool>()), 0..300),
    ) {
        let mut ledger = Ledger::default();
        for (now, window, retry) in steps {
            let limits = BudgetLimits { window: Duration::from_millis(window.max(1)), ..LIMITS };
            let question = if retry { Question::Retry } else { Question::Attempt };
            let answer = ledger.answer(&limits, question, Duration::from_millis(now));
            prop_assert!(answer.counts.retries <= answer.counts.attempts);
            prop_assert!(ledger.slots.len() <= MOST_SLOTS);
            prop_assert!(ledger.slots.is_sorted_by(|a, b| a.until < b.until));
            prop_assert!(ledger.slots.iter().all(|slot| slot.until <= ledger.slot_end(now)));
        }
    }
}
