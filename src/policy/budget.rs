//! The retry budget limits the retries of all runs that share a name to a share of their attempts.
//!
//! It is two counts, of the recent attempts and the recent retries, which both fade with the window. A retry is allowed
//! while there are fewer attempts than the minimum, or while retries / attempts is below the ratio; an allowed retry is
//! counted in the same step. So `retries <= max(min, ratio * attempts + 1)` at every moment, up to a half, as attempts
//! are rounded for the minimum. Source: "Addressing Cascading Failures" in *Site Reliability Engineering* (Beyer and
//! others, 2016), per-client retry budget of 10%; Finagle's `RetryBudget` for the minimum.

use std::time::Duration;

/// The options of a budget, as one run has them; runs of one budget may have different ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetLimits {
    /// Allowed share of retries among attempts, from 0 to 1.
    pub ratio: f64,
    /// While there are fewer attempts, every retry is allowed.
    pub min: u64,
    /// Mean time that an attempt counts: after it, e^-1 = 37% of an attempt are left.
    pub window: Duration,
}

/// A request of a run to its shared budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Counts an attempt that is no retry: the first of a run, or one after a success.
    Attempt,
    /// Asks for a retry, and counts an allowed one.
    Retry,
}

/// The answer to either question, by the counts before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// A retry is allowed; a requested one has then been counted.
    pub allowed: bool,
    /// Retries per thousand recent attempts.
    pub retries_per_mille: u32,
}

/// What a store keeps of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// The time of the last change, in milliseconds since the UNIX epoch.
    pub at: f64,
    /// Recent attempts, including retries.
    pub attempts: f64,
    pub retries: f64,
}

impl Counts {
    /// Answers a question at the time `now` (since the UNIX epoch), and changes the counts accordingly. A store makes
    /// each call atomic, so that two runs cannot both take the last retry. For Redis, `budget.lua` does the same:
    /// change both; a test compares them.
    pub fn answer(&mut self, limits: &BudgetLimits, question: Question, now: Duration) -> Answer {
        let now = millis(now);
        // None passes if the clock was set back.
        let passed = (now - self.at).max(0.0);
        let left = (-passed / millis(limits.window)).exp();
        self.at = now;
        self.attempts *= left;
        self.retries *= left;
        let is_below_min = self.attempts.round() < limits.min as f64;
        let allowed = is_below_min || self.retries < limits.ratio * self.attempts;
        let answer = Answer {
            allowed,
            retries_per_mille: per_mille(self.retries, self.attempts),
        };
        if question == Question::Attempt || allowed {
            self.attempts += 1.0;
        }
        if question == Question::Retry && allowed {
            self.retries += 1.0;
        }
        answer
    }
}

/// Returns the share of `retries` in `attempts`; 0 without attempts.
pub fn per_mille(retries: f64, attempts: f64) -> u32 {
    if attempts > 0.0 {
        (1000.0 * retries / attempts).round() as u32
    } else {
        0
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests;
