//! A run under way: what the loop, the hooks and the budget share.

use std::time::Duration;

use super::event::{Event, Moment};
use super::host::{AttemptSpec, Host, RunError};
use super::observer::Observer;
use super::plan::{Bounds, Identity, Plan, SharedBudget};
use super::variables;
use crate::policy::classifier::Verdict;
use crate::policy::outcome::Outcome;
use crate::policy::session::Session;

/// A run under way.
pub(super) struct Run<'a, H, R, O> {
    pub(super) plan: &'a Plan,
    pub(super) identity: &'a Identity,
    pub(super) host: &'a mut H,
    pub(super) rng: &'a mut R,
    pub(super) observer: &'a mut O,
    pub(super) session: Session<'a>,
    /// As long as it can be asked.
    pub(super) budget: Option<&'a SharedBudget>,
    /// When the first attempt was about to start.
    pub(super) first_began: Duration,
    /// The number of the attempt that events are about, and of all so far.
    pub(super) attempt: u64,
    pub(super) total: u64,
    pub(super) last: Option<(Outcome, Verdict)>,
}

impl<H: Host, R, O: Observer> Run<'_, H, R, O> {
    /// What is common to the command and to those who are asked about it.
    pub(super) fn attempt_spec(&self, bounds: Bounds) -> AttemptSpec {
        let elapsed = self.host.elapsed().saturating_sub(self.first_began);
        let previous = self.last.as_ref().map(|(outcome, _)| outcome);
        AttemptSpec {
            bounds,
            deadline: self.plan.limits.deadline,
            variables: variables::of_attempt(self.plan, self.identity, self.attempt, elapsed, previous),
        }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment {
            attempt: self.attempt,
            total: self.total,
            elapsed: self.host.elapsed(),
            time_of_day: self.host.time_of_day(),
        }
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) -> Result<(), RunError> {
        match self.observer.line(&self.moment(), event) {
            Some(line) => self.host.say(&line),
            None => Ok(()),
        }
    }
}
