//! The variables that the command and the programs around it see.

use std::borrow::Cow;
use std::ffi::OsString;
use std::time::Duration;

use super::host::Variable;
use super::nesting::{AROUND, COUNTED};
use super::plan::{Identity, Plan};
use super::text::printable;
use crate::policy::classifier::Reason;
use crate::policy::outcome::{End, Outcome};

/// Variables that stand for no option.
pub(crate) const SET_BY_BACKOFF: &[&str] = &[
    "BACKOFF_ATTEMPT",
    "BACKOFF_ATTEMPT_LIMIT",
    "BACKOFF_RUN_ID",
    "BACKOFF_ROOT_ID",
    "BACKOFF_DEPTH",
    AROUND,
    COUNTED,
    "BACKOFF_ELAPSED",
    "BACKOFF_PREVIOUS_EXIT",
    "BACKOFF_EXIT",
    "BACKOFF_EXIT_SIGNAL",
    "BACKOFF_REASON",
    "BACKOFF_RAN_MS",
    "BACKOFF_DELAY",
    "BACKOFF_FAILED_RUNS",
    "BACKOFF_ENV",
];

/// What the command sees of the run it is part of; `elapsed` is the time since its first attempt.
pub(super) fn of_run(
    plan: &Plan,
    identity: &Identity,
    attempt: u64,
    elapsed: Duration,
    previous: Option<&End>,
    counted: Option<&str>,
) -> Vec<Variable> {
    let limit = plan.limits.attempts;
    let mut variables = vec![
        variable("BACKOFF_ATTEMPT", attempt.to_string()),
        variable(
            "BACKOFF_ATTEMPT_LIMIT",
            limit.map_or_else(String::new, |limit| limit.to_string()),
        ),
        variable("BACKOFF_RUN_ID", identity.run_id.clone()),
        variable("BACKOFF_ROOT_ID", identity.root_id.clone()),
        variable("BACKOFF_DEPTH", plan.nesting.depth.to_string()),
        variable("BACKOFF_ELAPSED", seconds(elapsed)),
        variable(
            "BACKOFF_PREVIOUS_EXIT",
            previous.map_or_else(String::new, |end| end.shell_status().to_string()),
        ),
    ];
    if plan.nesting.depth > 1 {
        let attempts = plan.nesting.outer_attempts;
        variables.push(variable(
            AROUND,
            attempts.map_or_else(String::new, |attempts| attempts.to_string()),
        ));
    }
    // All attempts of a run set the same variables.
    if plan.budget.is_some() || plan.nesting.counted.is_some() {
        variables.push(variable(COUNTED, counted.unwrap_or_default()));
    }
    if plan.c_locale {
        variables.push(variable("LC_ALL", "C.UTF-8".to_owned()));
    }
    variables
}

/// Of the attempt that a program is asked or told about, or of the one before: why it is a failure, and how long it ran.
pub(super) fn of_ended(ended: Option<(&Outcome, Option<&Reason>)>) -> [Variable; 2] {
    let reason = ended.and_then(|(outcome, reason)| Some(in_words(outcome, reason?)));
    let ran = ended.map(|(outcome, _)| outcome.ran.as_millis().to_string());
    [
        variable("BACKOFF_REASON", reason.unwrap_or_default()),
        variable("BACKOFF_RAN_MS", ran.unwrap_or_default()),
    ]
}

fn in_words(outcome: &Outcome, reason: &Reason) -> String {
    if let Some(failed) = reason.why.failed_program() {
        return format!("{outcome}; {failed}");
    }
    match (&reason.matched, reason.against) {
        // A variable cannot hold a NUL, which is escaped here as well.
        (Some(text), _) => printable(text),
        (None, Some(against)) => format!("{against} ({outcome})"),
        (None, None) => outcome.to_string(),
    }
}

/// What predicates and hooks see besides: how the attempt ended.
pub(super) fn of_end(end: &End) -> [Variable; 2] {
    let signal = match end {
        End::Signaled(signal) => signal.number().to_string(),
        _ => String::new(),
    };
    [
        variable("BACKOFF_EXIT", end.shell_status().to_string()),
        variable("BACKOFF_EXIT_SIGNAL", signal),
    ]
}

pub(crate) fn variable(name: &'static str, value: impl Into<OsString>) -> Variable {
    (Cow::Borrowed(name), value.into())
}

/// Seconds with milliseconds: `1.250`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{}.{:03}", duration.as_secs(), duration.subsec_millis())
}
