//! The retry budget: of all runs that share a name, retries may be at most a fraction of the attempts.
//!
//! Attempts and retries are counted in a sliding window. A retry is allowed while fewer than `min`
//! attempts were seen in the window, or while retries / attempts is below the ratio; it is counted in the
//! same step. Source: "Addressing Cascading Failures" in *Site Reliability Engineering* (Beyer and others,
//! 2016), per-client retry budget of 10%; Finagle's `RetryBudget` for the minimum.
//!
//! Time is the time since the UNIX epoch, in whole milliseconds. The window is kept in at most
//! [`MOST_SLOTS`] slots, 60 of which span it, so that an attempt counts for at least the window and for at
//! most a sixtieth longer.

use std::time::Duration;

/// What a budget allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Retries per million attempts, 0 to 1,000,000. Whole, so that every store decides alike.
    pub ratio: u32,
    /// While the window holds fewer attempts, every retry is allowed.
    pub min: u64,
    /// How long an attempt counts, at least 1 ms.
    pub window: Duration,
}

/// What a window holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All attempts, retries among them.
    pub attempts: u64,
    /// The attempts that came after a failed one of the same run.
    pub retries: u64,
}

impl Terms {
    /// Whether one more retry is allowed where so much was counted.
    pub fn allow(&self, counts: Counts) -> bool {
        let below = || u128::from(counts.retries) * 1_000_000 < u128::from(self.ratio) * u128::from(counts.attempts);
        counts.attempts < self.min || below()
    }
}

/// What a run asks of, or tells to, those it shares a name with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Count an attempt that is no retry.
    Attempt,
    /// May there be a retry? If so, it is counted.
    Retry,
    /// How long is a new run to wait?
    CoolOff,
    /// The run gave up on a transient failure: no new one within this time.
    GaveUp(Duration),
    /// The run ended otherwise: new ones may start at once.
    Recovered,
}

/// What a run learns, whatever it asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether a retry may be made; it has been counted then.
    pub allowed: bool,
    /// What the window held before.
    pub counts: Counts,
    /// What was left of the time in which no new run is to start.
    pub cool_off: Duration,
}

/// The most slots that are kept. More than 60 are needed only after a run with a longer window has joined.
pub const MOST_SLOTS: usize = 128;
const SLOTS_PER_WINDOW: u64 = 60;

/// Attempts of some stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its end, in milliseconds.
    pub until: u64,
    /// What happened in it.
    pub counts: Counts,
}

/// After a run gave up: no new one before this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoolOff {
    /// The end, in milliseconds.
    pub until: u64,
    /// How long it was when it began: after the clock was set back it is not longer than that.
    pub length: u64,
}

/// What the runs of one name share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The longest window that has been asked for while slots were kept, in milliseconds.
    pub span: u64,
    /// Oldest first.
    pub slots: Vec<Slot>,
    /// What the last run left to wait, if it gave up on a transient failure.
    pub cool_off: Option<CoolOff>,
}

impl Ledger {
    /// Answers a question. One call is one step: a store lets nobody in between.
    pub fn answer(&mut self, terms: &Terms, question: Question, now: Duration) -> Answer {
        let counts = self.counts(terms, now);
        let cool_off = self.cool_off_left(now);
        let allowed = terms.allow(counts);
        match question {
            Question::Attempt => self.count(terms, millis(now), 0),
            Question::Retry if allowed => self.count(terms, millis(now), 1),
            Question::Retry | Question::CoolOff => {}
            Question::GaveUp(length) => self.begin_cool_off(length, now),
            Question::Recovered => self.cool_off = None,
        }
        Answer {
            allowed,
            counts,
            cool_off,
        }
    }

    /// Counts an attempt that is no retry.
    pub fn count_attempt(&mut self, terms: &Terms, now: Duration) {
        self.answer(terms, Question::Attempt, now);
    }

    /// Asks for a retry and, if it is allowed, counts it.
    pub fn ask_retry(&mut self, terms: &Terms, now: Duration) -> Answer {
        self.answer(terms, Question::Retry, now)
    }

    /// What the window up to now holds.
    pub fn counts(&mut self, terms: &Terms, now: Duration) -> Counts {
        let now = millis(now);
        self.tidy(terms, now);
        let begins = now.saturating_sub(millis(terms.window));
        let mut counts = Counts::default();
        for slot in self.slots.iter().filter(|slot| slot.until > begins) {
            counts.add(slot.counts);
        }
        counts
    }

    fn begin_cool_off(&mut self, length: Duration, now: Duration) {
        let length = millis(length);
        self.cool_off = Some(CoolOff {
            until: millis(now).saturating_add(length),
            length,
        });
    }

    fn cool_off_left(&self, now: Duration) -> Duration {
        let left = self.cool_off.map_or(0, |CoolOff { until, length }| {
            until.saturating_sub(millis(now)).min(length)
        });
        Duration::from_millis(left)
    }

    fn count(&mut self, terms: &Terms, now: u64, retries: u64) {
        self.tidy(terms, now);
        let counts = Counts { attempts: 1, retries };
        let until = self.slot_end(now);
        match self.slots.last_mut() {
            Some(last) if last.until >= until => last.counts.add(counts),
            _ => self.slots.push(Slot { until, counts }),
        }
        if self.slots.len() > MOST_SLOTS {
            // The oldest joins the next one: it counts for longer, never for shorter.
            let oldest = self.slots.remove(0);
            self.slots[0].counts.add(oldest.counts);
        }
    }

    /// Forgets what is past the longest window, and makes good a clock that was set back: what lies in
    /// the future then counts as of now.
    fn tidy(&mut self, terms: &Terms, now: u64) {
        let forgotten = |span: u64| now.saturating_sub(span);
        self.slots.retain(|slot| slot.until > forgotten(self.span));
        if self.slots.is_empty() {
            self.span = 0;
        }
        self.span = self.span.max(millis(terms.window));
        let latest = self.slot_end(now);
        for slot in &mut self.slots {
            slot.until = slot.until.min(latest);
        }
        self.slots.dedup_by(|slot, earlier| {
            let same = slot.until == earlier.until;
            if same {
                earlier.counts.add(slot.counts);
            }
            same
        });
    }

    fn slot_end(&self, now: u64) -> u64 {
        let width = (self.span / SLOTS_PER_WINDOW).max(1);
        (now / width).saturating_add(1).saturating_mul(width)
    }
}

impl Counts {
    fn add(&mut self, more: Counts) {
        self.attempts = self.attempts.saturating_add(more.attempts);
        self.retries = self.retries.saturating_add(more.retries);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TERMS: Terms = Terms {
        ratio: 100_000,
        min: 10,
        window: Duration::from_secs(600),
    };

    fn counts(attempts: u64, retries: u64) -> Counts {
        Counts { attempts, retries }
    }

    #[test]
    fn the_rule() {
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
                TERMS.allow(counts(attempts, retries)),
                allowed,
                "{retries} of {attempts}"
            );
        }
        let none = Terms {
            ratio: 0,
            min: 0,
            ..TERMS
        };
        assert!(!none.allow(counts(1_000_000, 0)));
        let all = Terms {
            ratio: 1_000_000,
            ..none
        };
        // There is always an attempt that is no retry.
        assert!(all.allow(counts(1_000_000, 999_999)));
    }

    #[test]
    fn a_cool_off_ends_and_outlasts_no_clock() {
        let mut ledger = Ledger::default();
        let at = Duration::from_secs;
        let left = |ledger: &mut Ledger, now| ledger.answer(&TERMS, Question::CoolOff, now).cool_off;
        assert_eq!(left(&mut ledger, at(1000)), at(0));
        ledger.answer(&TERMS, Question::GaveUp(at(30)), at(1000));
        assert_eq!(left(&mut ledger, at(1010)), at(20));
        assert_eq!(left(&mut ledger, at(1030)), at(0));
        // The clock was set back by an hour.
        assert_eq!(left(&mut ledger, at(0)), at(30));
        ledger.answer(&TERMS, Question::Recovered, at(1010));
        assert_eq!(left(&mut ledger, at(1010)), at(0));
        ledger.answer(&TERMS, Question::GaveUp(Duration::MAX), at(1000));
        assert!(left(&mut ledger, at(1000)) > at(1 << 40));
    }

    #[test]
    fn an_attempt_counts_until_the_end_of_its_slot_is_a_window_old() {
        let window = |secs| Terms {
            window: Duration::from_secs(secs),
            ..TERMS
        };
        let counted = |ledger: &mut Ledger, terms, now| ledger.counts(&terms, Duration::from_millis(now)).attempts;
        let at = Duration::from_secs(1000);
        // A slot of a second.
        let mut ledger = Ledger::default();
        ledger.count_attempt(&window(60), at);
        assert_eq!(counted(&mut ledger, window(60), 1_060_999), 1);
        assert_eq!(counted(&mut ledger, window(60), 1_061_000), 0);
        assert_eq!(ledger.slots, []);
        // One of ten seconds, which a shorter window is asked about, too.
        ledger.count_attempt(&window(600), at);
        assert_eq!(counted(&mut ledger, window(60), 1_069_999), 1);
        assert_eq!(counted(&mut ledger, window(60), 1_070_000), 0);
        assert_eq!(counted(&mut ledger, window(600), 1_070_000), 1);
    }

    #[test]
    fn of_too_many_slots_the_oldest_joins_the_next() {
        let slot = |until| Slot {
            until,
            counts: counts(1, 0),
        };
        // As of a run with a very short window.
        let mut ledger = Ledger {
            span: 600_000,
            slots: (1..MOST_SLOTS as u64).map(slot).collect(),
            cool_off: None,
        };
        ledger.count_attempt(&TERMS, Duration::from_millis(500));
        assert_eq!((ledger.slots.len(), ledger.slots[0]), (MOST_SLOTS, slot(1)));
        ledger.count_attempt(&TERMS, Duration::from_secs(10));
        let joined = Slot {
            until: 2,
            counts: counts(2, 0),
        };
        assert_eq!((ledger.slots.len(), ledger.slots[0]), (MOST_SLOTS, joined));
    }

    /// What happened: the time since the one before, in milliseconds, and whether a retry was asked for.
    fn history() -> impl Strategy<Value = Vec<(u64, bool)>> {
        let gap = prop_oneof![0..50_u64, 0..20_000_u64, Just(0), Just(700_000)];
        prop::collection::vec((gap, any::<bool>()), 0..300)
    }

    proptest! {
        /// Against a list of all that ever happened: nothing younger than the window is missing, and nothing
        /// older than a window and a sixtieth is left.
        #[test]
        fn no_attempt_is_lost_or_counted_for_too_long(history in history(), window in 1_000..100_000_u64) {
            let terms = Terms { window: Duration::from_millis(window), ..TERMS };
            let mut ledger = Ledger::default();
            let mut all: Vec<(u64, bool)> = Vec::new();
            let mut now = 1_000_000_u64;
            for (gap, retry) in history {
                now += gap;
                let counted = ledger.counts(&terms, Duration::from_millis(now));
                let since = |age: u64| {
                    let young = all.iter().filter(|(at, _)| at + age > now);
                    young.fold(Counts::default(), |sum, (_, retry)| counts(sum.attempts + 1, sum.retries + u64::from(*retry)))
                };
                let (least, most) = (since(window), since(window + window / SLOTS_PER_WINDOW + 1));
                prop_assert!(least.attempts <= counted.attempts && counted.attempts <= most.attempts);
                prop_assert!(least.retries <= counted.retries && counted.retries <= most.retries);
                let question = if retry { Question::Retry } else { Question::Attempt };
                let answer = ledger.answer(&terms, question, Duration::from_millis(now));
                prop_assert_eq!(answer.counts, counted);
                prop_assert_eq!(answer.allowed, terms.allow(counted));
                if !retry || answer.allowed {
                    all.push((now, retry));
                }
                prop_assert!(ledger.slots.len() <= MOST_SLOTS);
                prop_assert!(ledger.slots.is_sorted_by(|a, b| a.until < b.until));
            }
        }

        /// However many runs ask, and in whatever order: once there are `min` attempts, a retry is granted
        /// only below the ratio, so retries never exceed it by more than the one that was granted last, or
        /// what was free.
        #[test]
        fn retries_stay_below_the_bound(asked in prop::collection::vec(any::<bool>(), 0..2000), min in 0..50_u64, ratio in 0..=1_000_000_u32) {
            let terms = Terms { min, ratio, ..TERMS };
            let mut ledger = Ledger::default();
            let mut sum = Counts::default();
            for retry in asked {
                let retry = retry && sum.attempts > 0;
                let question = if retry { Question::Retry } else { Question::Attempt };
                let answer = ledger.answer(&terms, question, Duration::from_secs(1));
                prop_assert_eq!(answer.counts, sum);
                if !retry || answer.allowed {
                    sum = counts(sum.attempts + 1, sum.retries + u64::from(retry));
                }
                let share = f64::from(ratio) / 1e6 * sum.attempts as f64;
                prop_assert!(sum.retries as f64 <= (share + 1.0).max(min as f64));
            }
        }

        /// Clocks that jump and windows that differ: no panic, no slot in the future, order kept.
        #[test]
        fn any_clock_and_any_windows(
            steps in prop::collection::vec((any::<u64>(), prop_oneof![1..100_000_u64, any::<u64>()], 0..5_u8), 0..300),
        ) {
            let mut ledger = Ledger::default();
            for (now, window, question) in steps {
                let terms = Terms { window: Duration::from_millis(window.max(1)), ..TERMS };
                let question = match question {
                    0 => Question::Attempt,
                    1 => Question::Retry,
                    2 => Question::CoolOff,
                    3 => Question::GaveUp(Duration::from_millis(window)),
                    _ => Question::Recovered,
                };
                let answer = ledger.answer(&terms, question, Duration::from_millis(now));
                prop_assert!(answer.counts.retries <= answer.counts.attempts);
                prop_assert!(ledger.slots.len() <= MOST_SLOTS);
                prop_assert!(ledger.slots.is_sorted_by(|a, b| a.until < b.until));
                prop_assert!(ledger.slots.iter().all(|slot| slot.until <= ledger.slot_end(now)));
            }
        }
    }
}
