//! Explains the end of a run, and names the option that allows more.

use super::text::Text;
use super::words::{length, with_detail};
use crate::policy::classifier::{Verdict, Why};
use crate::policy::outcome::{Bound, End, exact};
use crate::policy::session::{GiveUp, Until};
use crate::run::event::JudgedAttempt;
use crate::run::text::printable;

impl Text<'_> {
    /// Adds the reason for the end in brackets, and advice.
    pub(super) fn explained(&self, how: String, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let advice = match why {
            GiveUp::Attempts => "; raise --attempts to allow more",
            GiveUp::Deadline if was_cut(attempt) => "",
            GiveUp::Deadline => "; raise --deadline to allow more",
            GiveUp::StopAfter => "; raise --stop-after to allow more",
            GiveUp::Delay => "; raise --stop-at-delay to allow more",
            GiveUp::RetryAfterTooLong => "; raise --max-retry-after to allow more",
            GiveUp::Budget(_) => "; raise --budget-ratio to allow more",
            GiveUp::StoreDown => "; use --store-down local to retry",
            GiveUp::Stdin if attempt.outcome.seen.input_error.is_none() => "; raise --stdin-limit to allow more",
            GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::Stdin => "",
        };
        with_detail(how, &self.reason(why, attempt)) + advice
    }

    fn reason(&self, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let JudgedAttempt { outcome, verdict } = attempt;
        let (limit, budget) = (self.limit(why), self.budget());
        match why {
            GiveUp::Permanent => permanent(verdict),
            GiveUp::Attempts if *verdict == Verdict::Success && self.plan.limits.until == Until::Success => {
                "too few successes in a row".to_owned()
            }
            GiveUp::Attempts => "attempt limit reached".to_owned(),
            GiveUp::Deadline | GiveUp::StopAfter => match verdict.reason().map(|reason| &reason.why) {
                Some(Why::PredicateFailed { option, how }) => format!("{option} failed: {how}: {limit}"),
                _ if was_cut(attempt) => limit,
                _ => format!("the next attempt would begin after {limit}"),
            },
            GiveUp::Delay => format!("the next wait would reach {limit}"),
            GiveUp::RetryAfterTooLong => {
                let asked = length(outcome.seen.wait_asked.unwrap_or_default());
                format!("the output asked to wait {asked}, longer than {limit}")
            }
            GiveUp::Budget(counts) => {
                let window = self.plan.budget.as_ref().map(|budget| length(budget.terms.window));
                let (retries, attempts, window) = (counts.retries, counts.attempts, window.unwrap_or_default());
                format!("{budget} exhausted: {retries} of {attempts} attempts in {window} were retries")
            }
            GiveUp::StoreDown => format!("the store of {budget} gives no answer"),
            GiveUp::NotIdempotent => {
                let why = printable(self.plan.not_idempotent.as_deref().unwrap_or_default());
                format!("it may have taken effect, and is not idempotent: {why}")
            }
            GiveUp::Nested => "--nested once leaves retries to the outer backoff".to_owned(),
            GiveUp::Stdin => {
                let too_much = "more was read than --stdin-limit allows";
                let error = outcome.seen.input_error.as_deref().unwrap_or(too_much);
                format!("standard input cannot be replayed: {error}")
            }
        }
    }

    /// Returns the limit on time that ended the run: `--deadline 5m`.
    pub(super) fn limit(&self, why: GiveUp) -> String {
        let limits = &self.plan.limits;
        let (option, value) = match why {
            GiveUp::StopAfter => ("stop-after", limits.stop_after),
            GiveUp::RetryAfterTooLong => ("max-retry-after", limits.max_retry_after),
            GiveUp::Delay => ("stop-at-delay", limits.stop_at_delay),
            _ => ("deadline", limits.deadline),
        };
        format!("--{option} {}", value.map(exact).unwrap_or_default())
    }
}

/// Returns true if the deadline ended the attempt or a predicate.
fn was_cut(attempt: &JudgedAttempt) -> bool {
    let why = attempt.verdict.reason().map(|reason| &reason.why);
    attempt.outcome.end == End::TimedOut(Bound::Deadline) || matches!(why, Some(Why::PredicateFailed { .. }))
}

fn permanent(verdict: &Verdict) -> String {
    match verdict.reason().map(|reason| &reason.why) {
        Some(Why::Rule(rule)) => format!("permanent: {rule}"),
        Some(Why::ReaderGone) => "its reader is gone".to_owned(),
        Some(Why::Unread) => "its output is cut off, as its reader stopped reading".to_owned(),
        Some(why) => match why.failed_program() {
            Some(failed) => format!("permanent: {failed}"),
            None => "permanent: no retry rule matches".to_owned(),
        },
        None => String::new(),
    }
}
