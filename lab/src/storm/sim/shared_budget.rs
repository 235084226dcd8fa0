//! The budget that all clients of a storm share, and the store that keeps it.

use std::time::Duration;

use backoff_cli::policy::budget::{BudgetLimits, Ledger, Question};

use super::storm::Storm;

/// A client waits for a reply as long as for its retry, but at least this long.
const LEAST_PATIENCE: Duration = Duration::from_millis(250);
/// A client waits for a reply no longer than this.
const MOST_PATIENCE: Duration = Duration::from_secs(5);

/// The reply to a client that wants to retry.
pub(super) enum Reply {
    Allowed,
    Denied,
    /// The client has stopped waiting for a reply. It retries, as the budget of its own machine allows the first ten
    /// attempts.
    Late,
}

/// A budget whose store takes one step at a time.
pub(super) struct SharedBudget {
    limits: BudgetLimits,
    ledger: Ledger,
    /// The duration of a step.
    step: Duration,
    /// The time at which the store has taken all steps that it was asked for.
    busy_until: Duration,
}

impl SharedBudget {
    /// Returns the budget of a storm, if it has one.
    pub(super) fn of(storm: &Storm) -> Option<SharedBudget> {
        let limits = storm.budget?;
        Some(SharedBudget {
            limits,
            ledger: Ledger::default(),
            step: storm.step,
            busy_until: Duration::ZERO,
        })
    }

    pub(super) fn count_first_attempt(&mut self, now: Duration) {
        self.ledger.answer(&self.limits, Question::Attempt, now);
        self.take_step(now);
    }

    /// Asks for a retry that begins after `wait`. A late reply counts no retry.
    pub(super) fn ask_for_retry(&mut self, now: Duration, wait: Duration) -> Reply {
        let patience = wait.clamp(LEAST_PATIENCE, MOST_PATIENCE);
        if self.take_step(now) > now + patience {
            return Reply::Late;
        }
        let answer = self.ledger.answer(&self.limits, Question::Retry, now);
        if answer.allowed {
            Reply::Allowed
        } else {
            Reply::Denied
        }
    }

    /// Takes a step that is asked for now, after all earlier ones. Returns the time at which it is done.
    fn take_step(&mut self, now: Duration) -> Duration {
        self.busy_until = self.busy_until.max(now) + self.step;
        self.busy_until
    }
}
