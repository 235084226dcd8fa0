//! A run under way: what the loop, the hooks and the budget share.

use std::time::Duration;

use rand::Rng;

use super::before_retry_env::ExtraEnv;
use super::event::{Event, JudgedAttempt, Moment, Reporter, Warning};
use super::host::{AttemptSpec, Host, RunError, Variable};
use super::plan::{Bounds, Identity, Plan};
use super::variables;
use crate::policy::classifier::Reason;
use crate::policy::outcome::Outcome;
use crate::policy::session::Session;

pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) identity: &'a Identity,
    pub(super) host: &'a mut dyn Host,
    pub(super) rng: &'a mut dyn Rng,
    pub(super) reporter: &'a mut Reporter<'a>,
    pub(super) session: Session<'a>,
    pub(super) store: StoreState,
    /// The budget has counted the next attempt: when it granted the retry, or for the run around this one.
    pub(super) is_counted: bool,
    pub(super) first_attempt_at: Duration,
    /// The number of the attempt that events are about, and of all so far.
    pub(super) attempt: u64,
    pub(super) total: u64,
    /// A wait that was decided on and has not begun.
    pub(super) planned_wait: Option<Duration>,
    pub(super) previous: Option<JudgedAttempt>,
    pub(super) extra_env: ExtraEnv,
}

/// What a run knows of the place where its budget is kept.
#[derive(Debug, Default)]
pub(super) struct StoreState {
    /// A warning has said what is wrong with it.
    pub(super) has_warned: bool,
    /// How many runs had given up in a row when this one began, as the first answer said.
    pub(super) earlier: Option<u64>,
    /// How many have now.
    pub(super) failed_runs: Option<u64>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        identity: &'a Identity,
        host: &'a mut dyn Host,
        rng: &'a mut dyn Rng,
        reporter: &'a mut Reporter<'a>,
    ) -> Run<'a> {
        Run {
            plan,
            identity,
            host,
            rng,
            reporter,
            session: Session::new(&plan.limits, &plan.delays),
            store: StoreState::default(),
            is_counted: plan.budget.as_ref().is_some_and(|budget| budget.is_counted),
            first_attempt_at: Duration::ZERO,
            attempt: 1,
            total: 0,
            planned_wait: None,
            previous: None,
            extra_env: ExtraEnv::default(),
        }
    }

    /// What the next attempt gets.
    pub(super) fn attempt_spec(&self) -> AttemptSpec {
        let counted = match &self.plan.budget {
            Some(budget) => Some(&*budget.place),
            // The first attempt is the same call as that of the run around this one.
            None => self.plan.nesting.counted.as_deref().filter(|_| self.total == 1),
        };
        let previous = self.previous.as_ref();
        let ended = previous.map(|previous| (&previous.outcome, previous.verdict.reason()));
        let bounds = self.plan.bounds_of(self.attempt);
        self.spec(bounds, variables::of_ended(ended), counted)
    }

    /// What the programs get that are asked or told about an attempt: none was counted for them.
    pub(super) fn spec_about(&self, outcome: &Outcome, reason: Option<&Reason>) -> AttemptSpec {
        let bounds = self.plan.bounds.without_those_of_an_attempt();
        let mut spec = self.spec(bounds, variables::of_ended(Some((outcome, reason))), None);
        spec.variables.extend(variables::of_end(&outcome.end));
        spec
    }

    fn spec(&self, bounds: Bounds, of_ended: [Variable; 2], counted: Option<&str>) -> AttemptSpec {
        let elapsed = self.host.elapsed().saturating_sub(self.first_attempt_at);
        let previous = self.previous.as_ref().map(|previous| &previous.outcome.end);
        let mut variables = variables::of_run(self.plan, self.identity, self.attempt, elapsed, previous, counted);
        variables.extend(of_ended);
        self.extra_env.add_to(&mut variables);
        AttemptSpec {
            bounds,
            deadline: self.plan.limits.deadline,
            variables,
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

    /// Writes what the reporter says of an event, if it says something.
    pub(super) fn emit(&mut self, event: &Event<'_>) -> Result<(), RunError> {
        let moment = self.moment();
        let Some(mut lines) = (self.reporter)(&moment, event) else {
            return Ok(());
        };
        if self.host.has_lost_lines() {
            let warning = (self.reporter)(&moment, &Event::Warning(Warning::LinesLost));
            lines.insert_str(0, &warning.unwrap_or_default());
        }
        self.host.write_log(&lines)
    }
}
