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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Retries per million attempts, 0 to 1,000,000. Whole, so that every store decides alike.
    pub ratio: u32,
    /// While the window holds fewer attempts, every retry is allowed.
    pub min: u64,
    /// How long an attempt counts, at least 1 ms.
    pub window: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All attempts, retries among them.
    pub attempts: u64,
    /// The attempts that came after a failed one of the same run.
    pub retries: u64,
}

impl BudgetLimits {
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
    /// The run gave up.
    GaveUp {
        /// No new one is to start within this time: none after a permanent failure.
        cool_off: Duration,
        /// How many had given up in a row when this one began: runs side by side are not in a row. None if nobody
        /// wants to know.
        earlier: Option<u64>,
    },
    /// The run succeeded: new ones may start at once.
    Succeeded,
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
    /// How many runs have given up in a row, that which asks included.
    pub failed_runs: u64,
}

/// The most slots that are kept. More than 60 are needed only after a run with a longer window has joined.
pub const MOST_SLOTS: usize = 128;
const SLOTS_PER_WINDOW: u64 = 60;

/// Attempts of some stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its end, in milliseconds.
    pub until: u64,
    pub counts: Counts,
}

/// No run leaves more to wait than this, whatever its cap: a year.
pub const LONGEST_COOL_OFF: Duration = Duration::from_secs(366 * 24 * 3600);

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
    /// How many runs have given up in a row.
    pub failed_runs: u64,
}

impl Ledger {
    /// One call is one step: a store lets nobody in between.
    pub fn answer(&mut self, terms: &BudgetLimits, question: Question, now: Duration) -> Answer {
        let counts = self.counts(terms, now);
        let cool_off = self.cool_off_left(now);
        let allowed = terms.allow(counts);
        match question {
            Question::Attempt => self.count(millis(now), 0),
            Question::Retry if allowed => self.count(millis(now), 1),
            Question::Retry | Question::CoolOff => {}
            Question::GaveUp { cool_off, earlier } => {
                self.begin_cool_off(cool_off, now);
                if let Some(earlier) = earlier {
                    // Fewer than then: one has succeeded meanwhile.
                    let before = if self.failed_runs < earlier { 0 } else { earlier };
                    self.failed_runs = self.failed_runs.max(before.saturating_add(1));
                }
            }
            Question::Succeeded => (self.cool_off, self.failed_runs) = (None, 0),
        }
        Answer {
            allowed,
            counts,
            cool_off,
            failed_runs: self.failed_runs,
        }
    }

    pub fn counts(&mut self, terms: &BudgetLimits, now: Duration) -> Counts {
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
        let length = millis(length.min(LONGEST_COOL_OFF));
        self.cool_off = (length > 0).then(|| CoolOff {
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

    fn count(&mut self, now: u64, retries: u64) {
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
    fn tidy(&mut self, terms: &BudgetLimits, now: u64) {
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
mod tests;
