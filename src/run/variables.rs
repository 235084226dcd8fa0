//! Variables that tell the command, predicates and hooks their place in the run: `BACKOFF_ATTEMPT` and others, which
//! the man page lists. A nested backoff reads some of them.

use std::fmt;
use std::time::Duration;

use super::host::AttemptSpec;
use super::plan::AttemptLimits;
use super::state::Run;
use super::variable_list::VariableList;
use crate::policy::classifier::Reason;
use crate::policy::outcome::Outcome;
use crate::policy::signal::Signal;
use crate::text::printable;

/// Product of the attempt limits of the runs around the run that sets the variable. The limit of that run itself is
/// `BACKOFF_ATTEMPT_LIMIT`.
pub(crate) const AROUND: &str = "BACKOFF_AROUND";
/// Name and place of the budget that counted the attempt.
pub(crate) const COUNTED: &str = "BACKOFF_COUNTED";

/// Time that the command has left. Never inherited, because the limit of an outer run, or of the run that started a
/// daemon, is out of date.
pub(crate) const LEFT: &str = "BACKOFF_LEFT";

/// Variables that backoff sets. No option corresponds to them.
#[rustfmt::skip]
pub(crate) const SET_BY_BACKOFF: &[&str] = &[
    "BACKOFF_ATTEMPT", "BACKOFF_ATTEMPT_LIMIT", "BACKOFF_RUN_ID", "BACKOFF_ROOT_ID", "BACKOFF_DEPTH", AROUND, COUNTED,
    "BACKOFF_ELAPSED", "BACKOFF_PREVIOUS_EXIT", "BACKOFF_EXIT", "BACKOFF_EXIT_SIGNAL", "BACKOFF_REASON", "BACKOFF_RAN_MS",
    "BACKOFF_DELAY", LEFT,
];

impl Run<'_> {
    /// Sets the variables of the attempt that begins in its `spec`, which already has the limits. Variables about the
    /// last end describe the previous attempt, and are empty for the first one.
    pub(super) fn set_variables_of_attempt(&self, spec: &mut AttemptSpec) {
        let counted_by = match &self.plan.budget {
            Some(budget) => Some(&*budget.place),
            // The outer run counted its attempt, which is also this run's first attempt.
            None if self.session.total == 1 => self.plan.nesting.counted_budget.as_deref(),
            None => None,
        };
        let outcome = self.previous.as_ref().map(|previous| &previous.outcome);
        let reason = self
            .previous
            .as_ref()
            .and_then(|previous| previous.verdict.reason());
        self.set_common_variables(&mut spec.variables, outcome, reason, counted_by);
        let until_deadline = spec
            .deadline
            .map(|deadline| deadline.saturating_sub(self.host.elapsed()));
        // The nearer of both limits, None without any.
        let timeout = spec.attempt_limits.timeout;
        if let Some(left) = timeout.into_iter().chain(until_deadline).min() {
            spec.variables.set(LEFT, Seconds(left));
        }
    }

    /// Returns the limits and variables of a predicate or hook about the attempt that ended with `outcome`. `reason` is
    /// why the attempt failed, as far as it is judged, None for a success. The only time limit is the deadline.
    pub(super) fn spec_about(&self, outcome: &Outcome, reason: Option<&Reason>) -> AttemptSpec {
        let mut spec = self.spec_without_variables(self.plan.attempt_limits.clone());
        // Predicates and hooks may be silent.
        spec.attempt_limits.idle = None;
        let signal = outcome.end.signal().map(Signal::number);
        let variables = &mut spec.variables;
        self.set_common_variables(variables, Some(outcome), reason, None);
        variables.set("BACKOFF_EXIT", outcome.end.shell_status());
        variables.set("BACKOFF_EXIT_SIGNAL", OrEmpty(signal));
        spec
    }

    /// Returns the limits of a program, without variables so far.
    pub(super) fn spec_without_variables(&self, attempt_limits: AttemptLimits) -> AttemptSpec {
        AttemptSpec {
            attempt_limits,
            deadline: self.plan.limits.deadline,
            variables: VariableList::default(),
        }
    }

    /// Sets the variables that commands, predicates and hooks have in common. `outcome` and `reason` belong to the
    /// attempt that ended last. For a predicate or hook, `self.previous` is the attempt before that one. `counted_by`
    /// is the place of the budget that counted the attempt, so that a nested run does not count the same call again.
    /// None for a predicate or hook, whose nested runs make calls of their own.
    fn set_common_variables(
        &self,
        variables: &mut VariableList,
        outcome: Option<&Outcome>,
        reason: Option<&Reason>,
        counted_by: Option<&str>,
    ) {
        let plan = self.plan;
        self.set_place(variables);
        // An empty value replaces that of an outer run.
        if plan.budget.is_some() || plan.nesting.counted_budget.is_some() {
            variables.set(COUNTED, counted_by.unwrap_or_default());
        }
        let judged = outcome.zip(reason);
        let reason = judged.map(|(outcome, reason)| ReasonText { outcome, reason });
        variables.set("BACKOFF_REASON", OrEmpty(reason));
        let ran = outcome.map(|outcome| outcome.ran.as_millis());
        variables.set("BACKOFF_RAN_MS", OrEmpty(ran));
    }

    /// Sets the variables that tell the place of an attempt in its run, and of the run among outer runs. A variable
    /// without a value is set empty, or the command would inherit that of an outer run.
    fn set_place(&self, variables: &mut VariableList) {
        let nesting = &self.plan.nesting;
        let elapsed = self.host.elapsed().saturating_sub(self.first_attempt_at);
        let previous = self.previous.as_ref();
        let previous_exit = previous.map(|attempt| attempt.outcome.end.shell_status());
        variables.set("BACKOFF_ATTEMPT", self.session.attempt);
        variables.set("BACKOFF_ATTEMPT_LIMIT", OrEmpty(self.plan.limits.attempts));
        variables.set("BACKOFF_RUN_ID", &self.identity.run_id);
        variables.set("BACKOFF_ROOT_ID", &self.identity.root_id);
        // A run in the command is one level deeper.
        variables.set("BACKOFF_DEPTH", nesting.depth.saturating_add(1));
        variables.set("BACKOFF_ELAPSED", Seconds(elapsed));
        variables.set("BACKOFF_PREVIOUS_EXIT", OrEmpty(previous_exit));
        // Without an outer run, there is no value to replace.
        if nesting.depth > 0 {
            variables.set(AROUND, OrEmpty(nesting.outer_attempts));
        }
    }
}

/// Formats as `BACKOFF_REASON`, which says why the attempt failed: the failure of a predicate or hook, else the output
/// that matched, else the cause, else how the command ended.
struct ReasonText<'a> {
    outcome: &'a Outcome,
    reason: &'a Reason,
}

impl fmt::Display for ReasonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReasonText { outcome, reason } = self;
        if let Some(failed) = reason.why.failure() {
            return write!(f, "{outcome}; {failed}");
        }
        match (&reason.matched, reason.cause) {
            // Also escapes NUL, which no variable can hold.
            (Some(text), _) => f.write_str(&printable(text)),
            (None, Some(cause)) => write!(f, "{cause} ({outcome})"),
            (None, None) => write!(f, "{outcome}"),
        }
    }
}

/// Formats as the value, or as nothing if there is none.
pub(super) struct OrEmpty<T>(pub(super) Option<T>);

impl<T: fmt::Display> fmt::Display for OrEmpty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => Ok(()),
        }
    }
}

/// Formats as seconds with milliseconds: `1.250`.
pub(super) struct Seconds(pub(super) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0.as_secs(), self.0.subsec_millis())
    }
}
