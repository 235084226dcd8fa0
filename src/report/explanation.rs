//! Explains the end of a run, and names the option that allows more.

use super::text::Text;
use super::words::{limiting_option, still_run, typed_limit, with_detail};
use crate::policy::classifier::{Rule, Verdict, Why};
use crate::policy::outcome::{End, TimeLimit};
use crate::policy::session::{GiveUp, Until};
use crate::policy::sets::CodeSet;
use crate::run::event::JudgedAttempt;
use crate::text::{length, printable};

/// End of an attempt by the deadline.
const BY_DEADLINE: End = End::TimedOut(TimeLimit::Deadline);

impl Text<'_> {
    /// Adds the reason for the end in brackets, and advice.
    pub(super) fn explained(&self, how: String, why: GiveUp, attempt: &JudgedAttempt) -> String {
        // The deadline ended the predicate, even if `--stop-after` has passed, too.
        let why = match attempt.verdict.reason().map(|reason| &reason.why) {
            Some(Why::PredicateFailed { .. }) if why == GiveUp::StopAfter => GiveUp::Deadline,
            _ => why,
        };
        let advice = match (why, limiting_option(&self.plan.limits, why)) {
            (GiveUp::StoreDown, _) => "; use --store-down local to retry".to_owned(),
            // The attempt may hang, so more time may not help.
            (GiveUp::Deadline, _) if attempt.outcome.end == BY_DEADLINE => String::new(),
            (GiveUp::Stdin, _) if attempt.outcome.seen.input_error.is_some() => String::new(),
            // A single attempt was asked for.
            (GiveUp::Attempts, _) if self.plan.limits.attempts == Some(1) => String::new(),
            (GiveUp::NotIdempotent, _) if !self.is_typed_not_idempotent() => {
                "; use --idempotent yes if a repetition does no harm".to_owned()
            }
            (GiveUp::Permanent, _) => self.rule_to_add(attempt),
            (_, Some((option, _))) => format!("; raise --{option} to allow more"),
            (_, None) => String::new(),
        };
        with_detail(how, &self.reason(why, attempt)) + &advice
    }

    /// Returns true if the user says that the command is not idempotent.
    fn is_typed_not_idempotent(&self) -> bool {
        let reason = self.plan.not_idempotent.as_ref();
        reason.is_some_and(|reason| reason.is_typed)
    }

    fn reason(&self, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let JudgedAttempt { outcome, verdict } = attempt;
        let (limit, budget) = (typed_limit(&self.plan.limits, why), self.budget());
        match why {
            GiveUp::Permanent if !outcome.survivors.is_empty() => still_run(outcome),
            GiveUp::Permanent => self.permanent(verdict, outcome.seen.reader_gone),
            GiveUp::Attempts
                if *verdict == Verdict::Success && self.plan.limits.until == Until::Success =>
            {
                "too few successes in a row".to_owned()
            }
            GiveUp::Attempts => "attempt limit reached".to_owned(),
            GiveUp::Deadline | GiveUp::StopAfter => {
                match verdict.reason().map(|reason| &reason.why) {
                    Some(Why::PredicateFailed { option, how }) => {
                        format!("{option} failed: {how}: {limit}")
                    }
                    _ if outcome.end == BY_DEADLINE => limit,
                    _ => format!("the next attempt would begin after {limit}"),
                }
            }
            GiveUp::Delay => format!("the next wait would reach {limit}"),
            GiveUp::RetryAfterTooLong => {
                let asked = length(outcome.seen.wait_asked.unwrap_or_default());
                format!("the output asked to wait {asked}, longer than {limit}")
            }
            GiveUp::Budget(counts) => {
                let window = self
                    .plan
                    .budget
                    .as_ref()
                    .map(|budget| length(budget.limits.window));
                let (retries, attempts, window) =
                    (counts.retries, counts.attempts, window.unwrap_or_default());
                format!(
                    "{budget} exhausted: {retries} of {attempts} attempts in {window} were retries"
                )
            }
            GiveUp::StoreDown => format!("the store of {budget} cannot be used"),
            GiveUp::NotIdempotent => {
                let reason = self.plan.not_idempotent.as_ref();
                let why = reason.map_or(String::new(), |reason| printable(&reason.why));
                format!("it may have taken effect, and is not idempotent: {why}")
            }
            GiveUp::Nested => "--nested once leaves retries to the outer backoff".to_owned(),
            GiveUp::Stdin => {
                let error = outcome.seen.input_error.as_deref();
                let error = error.unwrap_or("more was read than --stdin-limit allows");
                format!("standard input cannot be replayed: {error}")
            }
        }
    }

    /// Returns the reason why the failure is permanent. `reader_gone`: backoff could not deliver the output.
    fn permanent(&self, verdict: &Verdict, reader_gone: bool) -> String {
        let how = match verdict.reason().map(|reason| &reason.why) {
            Some(Why::Rule(rule)) => rule.clone(),
            Some(Why::ReaderGone) if reader_gone => {
                return "the reader of its output is gone".to_owned();
            }
            // SIGPIPE of another pipe or socket, or a failed start.
            Some(Why::ReaderGone | Why::CannotStart) => {
                return "permanent unless --retry-exit lists it".to_owned();
            }
            Some(Why::Unread) => {
                return "its output is cut off, as its reader stopped reading".to_owned();
            }
            Some(why) => why
                .shell_command_failure()
                .unwrap_or_else(|| self.no_match()),
            None => return String::new(),
        };
        format!("permanent: {how}")
    }

    /// Says that no retry rule matched, and names the preset if all retry rules are of one preset.
    fn no_match(&self) -> String {
        match self.only_preset() {
            Some(preset) => format!("no rule of {preset} matches"),
            None => "no retry rule matches".to_owned(),
        }
    }

    /// Returns `--for NAME` if all retry rules are of this preset.
    fn only_preset(&self) -> Option<&str> {
        let mut names = self.retry_rules().map(|rule| &*rule.name);
        let first = names.next().filter(|name| name.starts_with("--for"))?;
        names.all(|name| name == first).then_some(first)
    }

    fn retry_rules(&self) -> impl Iterator<Item = &Rule> {
        let rules = self.plan.classifier.rules.iter();
        rules.filter(|rule| !rule.stops)
    }

    /// Returns what would have to match if no rule of the only preset does, and the option that adds a rule.
    fn rule_to_add(&self, attempt: &JudgedAttempt) -> String {
        let why = attempt.verdict.reason().map(|reason| &reason.why);
        let preset = match (why, self.only_preset()) {
            (Some(Why::NoRuleMatched), Some(preset)) => preset.trim_start_matches("--for "),
            _ => return String::new(),
        };
        let end = &attempt.outcome.end;
        let is_known = |rule: &Rule| rule.codes.is_none_or(|codes| codes.contains_end(end));
        let code = match end {
            End::Exited(code) if *code != 0 => code.to_string(),
            End::Signaled(signal) => signal.to_string(),
            _ => String::new(),
        };
        if code.is_empty() || self.retry_rules().any(is_known) {
            let lines = format!("it retries on lines that --list-presets {preset} shows");
            return format!("; {lines}; add -r TEXT to retry on another");
        }
        let codes = self.retry_rules().filter_map(|rule| rule.codes);
        let codes = codes.reduce(CodeSet::union).map(|codes| codes.to_string());
        let codes = codes.unwrap_or_default();
        format!(
            "; it retries exit {codes} (--list-presets {preset}); add -e {code} to retry this, too"
        )
    }
}
