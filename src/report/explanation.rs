//! Explains the end of a run, and names the option that allows more: the part of a sentence that tells why no attempt
//! follows.

use super::text::Sentences;
use super::words::{limiting_option, survivors, typed_limit, with_detail};
use crate::policy::classifier::{Rule, RuleKind, Verdict, Why};
use crate::policy::outcome::Outcome;
use crate::policy::session::{GiveUp, Until};
use crate::run::event::JudgedAttempt;
use crate::text::{length, printable};

const READER_GONE: &str = "the reader of its output is gone";

impl Sentences<'_> {
    /// Returns `how`, which tells how `attempt`, the last one, ended, with the reason for the end of the run in
    /// brackets, and advice after it: `exit 7 (attempt limit reached); raise --attempts to allow more`.
    pub(super) fn explained(&self, how: String, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let advice = self.advice(why, attempt);
        with_detail(how, &self.reason(why, attempt)) + &advice
    }

    /// Returns advice that names the option that allows more, or nothing if none would help.
    fn advice(&self, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let outcome = &attempt.outcome;
        let is_useless = match why {
            // The deadline ended the attempt, which may hang, or the output, which has no reader: more time may not
            // help.
            GiveUp::Deadline => outcome.ended_by_deadline(),
            // The system failed to keep the input, which no `--stdin-limit` changes.
            GiveUp::Stdin => outcome.seen.input_error.is_some(),
            // A single attempt was asked for.
            GiveUp::Attempts => self.plan.limits.attempts == Some(1),
            _ => false,
        };
        if is_useless {
            return String::new();
        }
        match why {
            GiveUp::NotIdempotent if !self.is_idempotent_option_no() => {
                "; use --idempotent yes if a repetition does no harm".to_owned()
            }
            GiveUp::Permanent if self.may_be_in_another_language(attempt) => {
                "; its messages may not be in English: try env LC_ALL=C.UTF-8 COMMAND".to_owned()
            }
            GiveUp::Permanent => self.rule_to_add(attempt).to_owned(),
            _ => match limiting_option(&self.plan.limits, why) {
                Some(limit) => format!("; raise --{} to allow more", limit.option),
                None => String::new(),
            },
        }
    }

    /// Returns true if the command is not idempotent as the option says so, from any source: to advise the opposite
    /// would contradict the user.
    fn is_idempotent_option_no(&self) -> bool {
        let reason = self.plan.not_idempotent.as_ref();
        reason.is_some_and(|reason| reason.is_by_option)
    }

    /// Returns the reason for the end of the run, with the option that set it: `the next wait would reach
    /// --stop-at-delay 5m`. Foreign text in it is escaped.
    fn reason(&self, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let JudgedAttempt { outcome, verdict } = attempt;
        let limit = typed_limit(&self.plan.limits, why);
        match why {
            GiveUp::Permanent if !outcome.survivors.is_empty() => survivors(outcome),
            GiveUp::Permanent => self.permanent(verdict, outcome),
            GiveUp::Attempts => self.too_many_attempts(verdict).to_owned(),
            GiveUp::Deadline | GiveUp::StopAfter => {
                if let Some(Why::PredicateFailed { option, how }) = verdict.why() {
                    // `how` says that the deadline ended the predicate: after any other failure of one, the end is
                    // `Permanent`.
                    format!("{option} failed: {how}: {limit}")
                } else if outcome.ended_by_deadline() {
                    limit
                } else {
                    format!("the next attempt would begin after {limit}")
                }
            }
            GiveUp::Delay => format!("the next wait would reach {limit}"),
            GiveUp::RetryAfterTooLong => {
                let asked = length(outcome.seen.wait_asked.unwrap_or_default());
                format!("the output asked to wait {asked}, longer than {limit}")
            }
            GiveUp::Budget { retries_per_mille } => self.budget_exhausted(retries_per_mille),
            GiveUp::StoreDown => format!(
                "the store of {} cannot be used: --store-down deny",
                self.budget()
            ),
            GiveUp::NotIdempotent => self.not_idempotent(),
            GiveUp::Nested => "--nested once leaves retries to the outer backoff".to_owned(),
            GiveUp::Stdin => {
                let error = outcome.seen.input_error.as_deref();
                let error = error.unwrap_or("more was read than --stdin-limit allows");
                format!("standard input cannot be replayed: {error}")
            }
        }
    }

    /// Returns the reason if `--attempts` ended the run. If success is the goal, a run only goes on after one to
    /// confirm it (`--consecutive`).
    fn too_many_attempts(&self, verdict: &Verdict) -> &'static str {
        if *verdict == Verdict::Success && self.plan.limits.until == Until::Success {
            "too few successes in a row"
        } else {
            "attempt limit reached"
        }
    }

    /// Returns the reason if the budget allowed no retry: `budget "api" exhausted: 9.8% of recent attempts were retries`.
    fn budget_exhausted(&self, retries_per_mille: u32) -> String {
        let budget = self.budget();
        let (percent, tenths) = (retries_per_mille / 10, retries_per_mille % 10);
        format!("{budget} exhausted: {percent}.{tenths}% of recent attempts were retries")
    }

    /// Returns the statement that a retry could do harm, with the reason why the command is taken for one that must not
    /// be repeated: what the user or the words of the command say.
    fn not_idempotent(&self) -> String {
        let why = match &self.plan.not_idempotent {
            Some(reason) => printable(&reason.why),
            None => String::new(),
        };
        format!("it may have taken effect, and is not idempotent: {why}")
    }

    /// Returns why the failure is permanent, by the verdict: a rule that forbids a retry (`permanent: --stop-exit`), a
    /// predicate or `--before-retry` that failed itself, no retry rule that matches, a failed start, SIGPIPE, or lost
    /// output. A success comes here only with `--until failure`, if its output has no reader. Processes that still run
    /// have a reason of their own, in the caller.
    fn permanent(&self, verdict: &Verdict, outcome: &Outcome) -> String {
        let Some(why) = verdict.why() else {
            return READER_GONE.to_owned();
        };
        let how = match why {
            Why::Rule(rule) => rule.clone(),
            // backoff itself found no reader for the output, which no option changes.
            Why::ReaderGone if outcome.seen.reader_gone => {
                return READER_GONE.to_owned();
            }
            // SIGPIPE of another pipe or socket, or a failed start.
            Why::ReaderGone | Why::CannotStart => return "permanent".to_owned(),
            Why::Unread => {
                return "its output is cut off, as its reader stopped reading".to_owned();
            }
            // Either a predicate or `--before-retry` failed itself, or no retry rule matches the failed command.
            _ => match why.predicate_or_hook_failure() {
                Some(failure) => failure,
                None => self.no_match(),
            },
        };
        format!("permanent: {how}")
    }

    /// Returns the statement that no retry rule matched, with the preset if all retry rules are of one preset.
    fn no_match(&self) -> String {
        match self.only_preset() {
            Some(preset) => format!("no rule of {preset} matches"),
            None => "no retry rule matches".to_owned(),
        }
    }

    /// Returns `--for NAME`, the name of each rule of a preset, if no other rule can retry; None if there are others,
    /// which no sentence about the preset would explain, or no preset.
    fn only_preset(&self) -> Option<&str> {
        let classifier = &self.plan.classifier;
        let mut own_rules = classifier.rules.iter();
        if own_rules.any(|rule| rule.kind == RuleKind::Retry) {
            return None;
        }
        let mut names = classifier.rules_of_presets().iter().map(|rule| &*rule.name);
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }

    /// Returns true if a preset may have missed a line of the failure only because it is not in English: none of its
    /// rules matched, but one lacks only its text.
    fn may_be_in_another_language(&self, attempt: &JudgedAttempt) -> bool {
        let end = &attempt.outcome.end;
        let lacks_only_text = |rule: &Rule| {
            rule.kind == RuleKind::Retry && rule.codes.is_none_or(|codes| codes.contains_end(end))
        };
        let mut of_presets = self.plan.classifier.rules_of_presets().iter();
        self.plan.may_be_translated
            && matches!(attempt.verdict.why(), Some(Why::NoRuleMatched))
            && of_presets.any(lacks_only_text)
    }

    /// Returns advice for a failure that no rule of the only preset matches. Nothing after any other failure, and with
    /// rules of the user's own, who knows how to add one.
    fn rule_to_add(&self, attempt: &JudgedAttempt) -> &'static str {
        match (attempt.verdict.why(), self.only_preset()) {
            (Some(Why::NoRuleMatched), Some(_)) => "; add -r TEXT, or --for NAME, to retry this",
            _ => "",
        }
    }
}
