//! The retry budget limits the retries of all runs that share a name to a fraction of their attempts.
//!
//! Attempts and retries are counted in a sliding window. A retry is allowed while the window holds fewer than `min`
//! attempts, or while retries / attempts is below the ratio; an allowed retry is counted in the same step. Source:
//! "Addressing Cascading Failures" in *Site Reliability Engineering* (Beyer and others, 2016), per-client retry budget
//! of 10%; Finagle's `RetryBudget` for the minimum.
//!
//! Time is the time since the UNIX epoch, in whole milliseconds. Attempts are kept in at most [`MOST_SLOTS`] slots, 60
//! of which span the longest window asked for, so that an attempt counts for at least the window of the run that asks,
//! and for at most a slot longer, or more if there were too many slots.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The options of a budget, as one run has them; runs of one budget may have different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Retries per million attempts, 0 to 1,000,000. An integer, so that every store decides alike.
    pub ratio: u32,
    /// While the window holds fewer attempts, every retry is allowed.
    pub min: u64,
    /// Time during which an attempt counts, at least 1 ms.
    pub window: Duration,
}

/// Numbers of attempts of all runs of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All attempts, including retries.
    pub attempts: u64,
    /// Attempts after a failed attempt of the same run.
    pub retries: u64,
}

/// An attempt that is no retry: the first of a run, or one after a success.
const NO_RETRY: Counts = Counts {
    attempts: 1,
    retries: 0,
};

const RETRY: Counts = Counts {
    attempts: 1,
    retries: 1,
};

impl BudgetLimits {
    /// Returns true if `counts` allow one more retry: below the minimum always, as a share of few attempts means
    /// little, and then as long as the share of retries is below the ratio.
    pub fn allow(&self, counts: Counts) -> bool {
        if counts.attempts < self.min {
            return true;
        }
        // The ratio is one per million. In 128 bits, so that nothing overflows.
        let retries = u128::from(counts.retries) * 1_000_000;
        retries < u128::from(self.ratio) * u128::from(counts.attempts)
    }
}

/// Request of a run to its shared budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Counts an attempt that is not a retry.
    Attempt,
    /// Requests a retry, and counts an allowed one.
    Retry,
}

/// Answer to either question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// True if a retry is allowed; a requested one has then been counted.
    pub allowed: bool,
    /// Counts in the window before this step.
    pub counts: Counts,
}

/// Limit on the slots. More than 60 are needed only after a run with a longer window has joined.
pub const MOST_SLOTS: usize = 128;
const SLOTS_PER_WINDOW: u64 = 60;

/// Counts of a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// End of the span, in milliseconds.
    pub until: u64,
    pub counts: Counts,
}

/// State shared by the runs of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Longest window requested while slots were kept, in milliseconds.
    pub span: u64,
    /// Oldest first.
    pub slots: Vec<Slot>,
}

impl Ledger {
    /// Answers a question and updates the ledger, by the limits of the run that asks. The answer describes the ledger
    /// before the update. A store makes each call atomic, so that two runs cannot both take the last retry. For Redis,
    /// `budget.lua` does the same: change both; a test compares them.
    pub fn answer(&mut self, limits: &BudgetLimits, question: Question, now: Duration) -> Answer {
        let counts = self.counts(limits, now);
        let allowed = limits.allow(counts);
        match question {
            Question::Attempt => self.count(NO_RETRY, now),
            Question::Retry if allowed => self.count(RETRY, now),
            Question::Retry => {}
        }
        Answer { allowed, counts }
    }

    /// Forgets what is too old at `now`, and returns the counts of the window that ends then. Another run may have
    /// asked for a longer window, so older slots than this window's may be kept.
    pub fn counts(&mut self, limits: &BudgetLimits, now: Duration) -> Counts {
        let now = millis(now);
        self.tidy(limits, now);
        let begins = now.saturating_sub(millis(limits.window));
        let mut counts = Counts::default();
        for slot in self.slots.iter().filter(|slot| slot.until > begins) {
            counts.add(slot.counts);
        }
        counts
    }

    /// Adds an attempt to the slot of this moment, which is the last one or is made. `tidy` has to come before, with
    /// the same `now`, so that no slot is in the future.
    fn count(&mut self, attempt: Counts, now: Duration) {
        let until = self.slot_end(millis(now));
        match self.slots.last_mut() {
            Some(last) if last.until >= until => last.counts.add(attempt),
            _ => self.slots.push(Slot {
                until,
                counts: attempt,
            }),
        }
        if self.slots.len() > MOST_SLOTS {
            // The oldest slot joins the next: its attempts count for longer, never for shorter.
            let oldest = self.slots.remove(0);
            self.slots[0].counts.add(oldest.counts);
        }
    }

    /// Drops slots that are older than the longest window of the questions so far. Moves slots in the future, left by a
    /// clock that was set back, to now, as they would otherwise count for too long, and joins slots with the same end.
    /// The longest window (`span`) is forgotten with the last slot that it kept.
    fn tidy(&mut self, limits: &BudgetLimits, now: u64) {
        let begins = now.saturating_sub(self.span);
        self.slots.retain(|slot| slot.until > begins);
        if self.slots.is_empty() {
            self.span = 0;
        }
        self.span = self.span.max(millis(limits.window));
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

    /// Returns the end of the slot in which `now` lies. Slots begin at multiples of a sixtieth of the longest window,
    /// so that all runs use the same ones.
    fn slot_end(&self, now: u64) -> u64 {
        let width = (self.span / SLOTS_PER_WINDOW).max(1);
        (now / width).saturating_add(1).saturating_mul(width)
    }
}

impl Counts {
    fn add(&mut self, added: Counts) {
        self.attempts = self.attempts.saturating_add(added.attempts);
        self.retries = self.retries.saturating_add(added.retries);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
