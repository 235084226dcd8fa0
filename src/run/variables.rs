//! The variables that the command and the programs around it see.

use std::time::Duration;

use super::nesting::{AROUND, COUNTED, Counted};
use super::plan::{Identity, Plan};
use super::text::printable;
use crate::policy::classifier::Reason;
use crate::policy::outcome::{End, Outcome};

/// Variables that stand for no option.
pub(crate) const SET_BY_BACKOFF: &[&str] = &[
    "BACKOFF_ATTEMPT",
    "BACKOFF_ATTEMPT_LIMIT",
    "BACKOFF_RUN_ID",
    "BACKOFF_DEPTH",
    AROUND,
    COUNTED,
    "BACKOFF_ELAPSED",
    "BACKOFF_PREVIOUS_EXIT",
    "BACKOFF_EXIT",
    "BACKOFF_REASON",
    "BACKOFF_DELAY",
];

/// What the command sees of the run it is part of; `elapsed` is the time since its first attempt.
pub(super) fn of_attempt(
    plan: &Plan,
    identity: &Identity,
    attempt: u64,
    elapsed: Duration,
    previous: Option<&Outcome>,
    counted: Option<&Counted>,
) -> Vec<(&'static str, String)> {
    let limit = plan.limits.attempts;
    let mut variables = vec![
        ("BACKOFF_ATTEMPT", attempt.to_string()),
        (
            "BACKOFF_ATTEMPT_LIMIT",
            limit.map_or_else(String::new, |limit| limit.to_string()),
        ),
        ("BACKOFF_RUN_ID", identity.run_id.clone()),
        ("BACKOFF_DEPTH", plan.nesting.depth.to_string()),
        ("BACKOFF_ELAPSED", seconds(elapsed)),
        (
            "BACKOFF_PREVIOUS_EXIT",
            previous.map_or_else(String::new, |outcome| outcome.end.shell_status().to_string()),
        ),
    ];
    if !plan.nesting.around.is_empty() {
        let around: Vec<String> = plan.nesting.around.iter().map(ToString::to_string).collect();
        variables.push((AROUND, around.join(" ")));
    }
    // All attempts of a run set the same variables.
    if plan.budget.is_some() || plan.nesting.counted.is_some() {
        variables.push((COUNTED, counted.map_or_else(String::new, ToString::to_string)));
    }
    if plan.c_locale {
        variables.push(("LC_ALL", "C.UTF-8".to_owned()));
    }
    variables
}

/// What `--retry-if` and the hooks see besides: how the attempt ended and why that is a failure.
pub(super) fn of_failure(outcome: &Outcome, reason: Option<&Reason>) -> [(&'static str, String); 3] {
    let signal = match &outcome.end {
        End::Signaled(signal) => signal.number().to_string(),
        _ => String::new(),
    };
    let matched = reason.and_then(|reason| reason.matched.as_deref());
    [
        ("BACKOFF_EXIT", outcome.end.shell_status().to_string()),
        ("BACKOFF_SIGNAL", signal),
        (
            "BACKOFF_REASON",
            matched.map_or_else(|| outcome.end.to_string(), printable),
        ),
    ]
}

/// Seconds with milliseconds: `1.250`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{}.{:03}", duration.as_secs(), duration.subsec_millis())
}
