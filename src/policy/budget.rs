//! A retry budget limits the retries of all runs that share a name to a fraction of their attempts.
//!
//! It keeps two counts, of recent attempts and recent retries. Both decay exponentially with the window. A retry is
//! allowed if there are fewer attempts than the minimum, or if retries / attempts is below the ratio. An allowed retry
//! is counted in the same step. So `retries <= max(min, ratio * attempts + 1)` always holds within 0.5, because
//! attempts are rounded for the minimum. Source: "Addressing Cascading Failures" in *Site Reliability Engineering*
//! (Beyer and others, 2016), per-client retry budget of 10%; Finagle's `RetryBudget` for the minimum.

use std::time::Duration;

/// Options of a budget. Runs that share a budget may have different ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetLimits {
    /// Allowed ratio of retries to attempts, from 0 to 1.
    pub ratio: f64,
    /// Below this number of attempts, every retry is allowed.
    pub min: u64,
    /// Time constant of the decay. After one window, e^-1 = 37% of a count is left.
    pub window: Duration,
}

/// A run's request to its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Counts an attempt that is not a retry: the first of a run, or one after a success.
    Attempt,
    /// Asks for a retry, and counts it if allowed.
    Retry,
}

/// The answer to either question, from the counts before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// True if a retry is allowed. One that was asked for is then already counted.
    pub allowed: bool,
    /// Retries per thousand recent attempts.
    pub retries_per_mille: u32,
}

/// The stored state of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Time of the last change, in milliseconds since the UNIX epoch.
    pub at: f64,
    /// Recent attempts, including retries.
    pub attempts: f64,
    pub retries: f64,
}

impl Counts {
    /// Answers a question at the time `now` (since the UNIX epoch) and updates the counts. A store makes each call
    /// atomic, so two runs cannot both take the last retry. `budget.lua` is the same formula for Redis. Change both. A
    /// test compares them.
    pub fn answer(&mut self, limits: &BudgetLimits, question: Question, now: Duration) -> Answer {
        let now = millis(now);
        // No time passes if the clock was set back.
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

/// Returns `retries` per thousand `attempts`, or 0 without attempts.
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
#[path = "tests/budget.rs"]
mod tests;
