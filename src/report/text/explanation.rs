//! Why a run ended as it did, and the option that would change that.

use std::time::Duration;

use super::super::words::span;
use super::Text;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::{Bound, End, Outcome, exact};
use crate::policy::session::{GiveUp, Until};
use crate::run::text::printable;

impl Text<'_> {
    /// Why that is the end, in brackets.
    pub(super) fn explanation(&self, why: GiveUp, verdict: &Verdict, outcome: &Outcome) -> String {
        match (why, verdict) {
            (GiveUp::Permanent, Verdict::Permanent(reason)) => match &reason.why {
                Why::Rule(rule) => format!(" (permanent: {rule})"),
                Why::ReaderGone => " (its reader is gone)".into(),
                Why::Unread => " (its output is cut off, as nobody read on)".into(),
                why => match why.failed_program() {
                    Some(failed) => format!(" (permanent: {failed})"),
                    None => " (permanent: no retry rule matches)".into(),
                },
            },
            (GiveUp::Permanent, _) => String::new(),
            (
                GiveUp::Deadline,
                Verdict::Transient(Reason {
                    why: failed @ Why::PredicateFailed { .. },
                    ..
                }),
            ) => {
                let failed = failed.failed_program().unwrap_or_default();
                format!(" ({failed}: {})", self.option(why))
            }
            (GiveUp::Deadline, _) if outcome.end == End::TimedOut(Bound::Deadline) => {
                format!(" ({})", self.option(why))
            }
            (GiveUp::Attempts, Verdict::Success) if self.limits.until == Until::Success => {
                format!(" (too few successes in a row: {})", self.option(why))
            }
            (GiveUp::RetryAfterTooLong, _) => {
                let asked = outcome.seen.wait_asked.unwrap_or_default();
                format!(
                    " (the output asked to wait {}, longer than {})",
                    span(asked),
                    self.option(why)
                )
            }
            (GiveUp::Budget(counts), _) => format!(
                " ({} is spent: {} of {} attempts in {} were retries; --budget-ratio allows more)",
                self.budget(),
                counts.retries,
                counts.attempts,
                span(self.budget.map_or(Duration::ZERO, |budget| budget.terms.window))
            ),
            (GiveUp::StoreDown, _) => format!(
                " (the store of {} gives no answer; --store-down local allows retries)",
                self.budget()
            ),
            (GiveUp::NotIdempotent, _) => {
                let why = printable(self.not_idempotent.unwrap_or_default());
                format!(" (it may have been carried out, and is not idempotent: {why})")
            }
            (GiveUp::Nested, _) => " (left to the outer backoff: --nested once)".into(),
            (GiveUp::Stdin, _) => match &outcome.seen.input_error {
                Some(error) => format!(" (standard input cannot be given again: {error})"),
                None => " (standard input cannot be given again: more was read than --stdin-limit allows)".into(),
            },
            (_, _) => self.bound(why),
        }
    }

    /// The bound that has ended the run, and the option that would raise it.
    fn bound(&self, why: GiveUp) -> String {
        let option = self.option(why);
        match why {
            GiveUp::Deadline | GiveUp::StopAfter => format!(" (the next attempt would begin after {option})"),
            GiveUp::Delay => format!(" (the next wait would reach {option})"),
            _ => format!(" (no attempt is left: {option})"),
        }
    }

    /// `--attempts 5`
    pub(super) fn option(&self, why: GiveUp) -> String {
        let option = |name: &str, value: Option<String>| format!("--{name} {}", value.unwrap_or_default());
        match why {
            GiveUp::Deadline => option("deadline", self.limits.deadline.map(exact)),
            GiveUp::StopAfter => option("stop-after", self.limits.stop_after.map(exact)),
            GiveUp::RetryAfterTooLong => option("max-retry-after", self.limits.max_retry_after.map(exact)),
            GiveUp::Delay => option("stop-at-delay", self.limits.stop_at_delay.map(exact)),
            _ => option("attempts", self.limits.attempts.map(|attempts| attempts.to_string())),
        }
    }
}
