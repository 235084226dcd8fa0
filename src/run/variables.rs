//! The variables that the command and the programs around it see.

use std::time::Duration;

use super::{Identity, Moment, Order};
use crate::observe::text::harmless;
use crate::outcome::{End, Outcome};
use crate::plan::Plan;
use crate::policy::classifier::{Reason, Verdict};

/// What the command sees of the run it is part of.
pub(super) fn of_attempt(
    plan: &Plan,
    identity: &Identity,
    moment: &Moment,
    began: Duration,
    last: Option<&(Outcome, Verdict)>,
) -> Vec<(&'static str, String)> {
    let elapsed = moment.elapsed.saturating_sub(began);
    let mut variables = vec![
        ("BACKOFF_ATTEMPT", moment.attempt.to_string()),
        (
            "BACKOFF_ATTEMPT_LIMIT",
            plan.limits.attempts.map_or_else(String::new, |limit| limit.to_string()),
        ),
        ("BACKOFF_RUN_ID", identity.run_id.clone()),
        ("BACKOFF_DEPTH", plan.nesting.depth.to_string()),
        (
            "BACKOFF_ELAPSED",
            format!("{}.{:03}", elapsed.as_secs(), elapsed.subsec_millis()),
        ),
        (
            "BACKOFF_PREVIOUS_EXIT",
            last.map_or_else(String::new, |(outcome, _)| outcome.end.shell_status().to_string()),
        ),
    ];
    if plan.c_locale {
        variables.push(("LC_ALL", "C.UTF-8".to_owned()));
    }
    variables
}

/// What `--retry-if` sees besides the variables of the attempt.
pub(super) fn of_predicate(order: &Order<'_>, outcome: &Outcome, reason: &Reason) -> Vec<(&'static str, String)> {
    let signal = match &outcome.end {
        End::Signaled(signal) => signal.number().to_string(),
        _ => String::new(),
    };
    let mut variables = order.variables.clone();
    variables.push(("BACKOFF_EXIT", outcome.end.shell_status().to_string()));
    variables.push(("BACKOFF_SIGNAL", signal));
    variables.push((
        "BACKOFF_REASON",
        reason
            .matched
            .as_deref()
            .map_or_else(|| outcome.end.to_string(), harmless),
    ));
    variables
}
