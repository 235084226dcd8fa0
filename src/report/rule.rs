//! The field `rule` of the JSON log and the report: the option that decided about a failure or the end of a run, or a
//! fixed word if none did. Programs compare these texts: they are part of the interface.

use crate::policy::classifier::{Verdict, Why};
use crate::policy::outcome::Outcome;
use crate::policy::session::GiveUp;
use crate::run::event::Event;
use crate::run::plan::Plan;

/// No rule applied, so the default did: a failure is transient, a command that cannot start is not.
const DEFAULT: &str = "default";
/// Retry rules were given, and none matched.
const NONE_MATCHED: &str = "none matched";
/// Output was lost, or its reader is gone.
const NO_READER: &str = "output not read";
/// Processes of the attempt could not be ended.
const SURVIVORS: &str = "survivors";

/// Returns the name of what decided whether a failure is retried; None for a success. If the command is not
/// idempotent (by `--idempotent no` or its words), this outweighs the rule that would have allowed a retry, unless the
/// failure is safe to repeat: it had no effect, or the user permits a retry.
pub(super) fn of_attempt(plan: &Plan, outcome: &Outcome, verdict: &Verdict) -> Option<String> {
    let reason = verdict.reason()?;
    let must_not_repeat = !plan.limits.idempotent && !reason.is_safe_to_repeat;
    if must_not_repeat && matches!(verdict, Verdict::Transient(_)) {
        return Some("--idempotent".to_owned());
    }
    let rule = match &reason.why {
        Why::Rule(name) => name.as_str(),
        Why::PredicateFailed { option, .. } => option,
        Why::BeforeRetryFailed(_) => "--before-retry",
        Why::NoRuleMatched => NONE_MATCHED,
        Why::ReaderGone if outcome.seen.reader_gone => NO_READER,
        Why::Unread => NO_READER,
        Why::Survivors => SURVIVORS,
        // Without `reader_gone`, the reader that is gone is that of another pipe or socket.
        Why::ByDefault | Why::CannotStart | Why::ReaderGone => DEFAULT,
    };
    Some(rule.to_owned())
}

/// Returns the name of what decided that the run gave up: a rule after a permanent failure, or else the option of the
/// limit. None if the event is not such an end.
pub(super) fn of_end(plan: &Plan, event: &Event<'_>) -> Option<String> {
    match event {
        Event::Stopped { stop, attempt } => match stop.gave_up()? {
            // The rule that made the failure permanent. A success is such an end only with `--until failure`.
            GiveUp::Permanent => of_attempt(plan, &attempt.outcome, &attempt.verdict)
                .or_else(|| Some(NO_READER.to_owned())),
            limit => Some(of_limit(limit).to_owned()),
        },
        // A limit on time passed before the first attempt.
        Event::NoTimeToStart(why) => Some(of_limit(*why).to_owned()),
        _ => None,
    }
}

/// Returns the option that made the run give up.
fn of_limit(why: GiveUp) -> &'static str {
    match why {
        // `of_end` names the rule instead.
        GiveUp::Permanent => DEFAULT,
        GiveUp::Attempts => "--attempts",
        GiveUp::Deadline => "--deadline",
        GiveUp::StopAfter => "--stop-after",
        GiveUp::Delay => "--stop-at-delay",
        GiveUp::RetryAfterTooLong => "--retry-after",
        GiveUp::Budget { .. } => "--budget",
        GiveUp::StoreDown => "--store-down",
        GiveUp::NotIdempotent => "--idempotent",
        GiveUp::Nested => "--nested",
        GiveUp::Stdin => "--stdin-limit",
    }
}
