//! Judges an attempt: success, transient failure or permanent failure. A pure function from facts to a verdict.

use std::fmt;
use std::rc::Rc;

use super::sets::CodeSet;
use crate::policy::outcome::{End, Outcome, Seen};
use crate::policy::signal::Signal;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classifier {
    /// `--success-exit`: codes that count as success, as a shell shows them.
    pub success_exit: CodeSet,
    /// `--success-match`: patterns, at least one of which must match.
    pub success_match: Vec<usize>,
    /// `--fail-match`: patterns, none of which may match.
    pub fail_match: Vec<usize>,
    /// Rules about failures. Stop rules win.
    pub rules: Vec<Rule>,
    /// `--retry-if` decides if no rule does.
    pub asks: bool,
}

/// Classifies a failure that meets all conditions of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// True if the failure is permanent, false if transient.
    pub stops: bool,
    /// Exit codes that match; 126 and 127 also match a command that cannot start.
    pub codes: Option<CodeSet>,
    /// Pattern that a line of the output must match.
    pub pattern: Option<usize>,
    /// The failure may be retried even if the command is not idempotent: nothing was done, or the user says so.
    pub is_safe_to_repeat: bool,
    /// Name in messages: `--retry-exit`, `--for curl`.
    pub name: Rc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Success,
    /// A failure that a retry may resolve.
    Transient(Reason),
    /// A failure that no retry can resolve.
    Permanent(Reason),
    /// A failure that `--retry-if` classifies.
    Ask(Reason),
}

impl Verdict {
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Verdict::Success => None,
            Verdict::Transient(reason) | Verdict::Permanent(reason) | Verdict::Ask(reason) => Some(reason),
        }
    }

    /// Returns true if no message reports this end: the reader of a pipeline has seen enough, as in a shell. Without
    /// SIGPIPE the failure may have another reason.
    pub fn is_silent_end(&self, outcome: &Outcome) -> bool {
        let reader_is_gone = matches!(self, Verdict::Permanent(reason) if reason.why == Why::ReaderGone);
        reader_is_gone && outcome.ended_by_sigpipe()
    }
}

/// Cause of a failure, and the rule that classified it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub why: Why,
    /// Text that matched a pattern, if the pattern decided or made the attempt a failure.
    pub matched: Option<String>,
    /// Cause of the failure, if not the exit code alone.
    pub cause: Option<FailureCause>,
    /// A retry cannot take effect twice, or the user permits that.
    pub is_safe_to_repeat: bool,
}

impl Reason {
    /// Returns a reason that does not depend on the output.
    pub const fn new(why: Why) -> Reason {
        Reason {
            why,
            matched: None,
            cause: None,
            is_safe_to_repeat: false,
        }
    }
}

/// Cause of a failure despite a successful exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// The exit code is 0, which `--success-exit` does not list.
    SuccessExit,
    /// A `--fail-match` pattern matched.
    FailMatch,
    /// No `--success-match` pattern matched.
    NoSuccessMatch,
    /// `--success-if` says no.
    SuccessIf,
}

impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailureCause::SuccessExit => "not in --success-exit",
            FailureCause::FailMatch => "--fail-match",
            FailureCause::NoSuccessMatch => "no line matches --success-match",
            FailureCause::SuccessIf => "--success-if says no",
        })
    }
}

/// Reason why a failure is transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The rule with this name matched.
    Rule(String),
    /// The predicate of this option failed.
    PredicateFailed { option: &'static str, how: String },
    /// The failure was transient, but `--before-retry` failed.
    BeforeRetryFailed(String),
    /// Retry rules were given and none matched.
    NoRuleMatched,
    /// No rule applies: a timeout, or a failure without any retry rule.
    ByDefault,
    /// The command cannot be started: 126 or 127 from exec, or from the program that was to run it.
    CannotStart,
    /// The reader of the output is gone: the command died of SIGPIPE, or its output cannot be delivered.
    ReaderGone,
    /// Some output was not read and is lost.
    Unread,
}

impl Why {
    /// Returns the failure of a hook or predicate that the run depends on: `--retry-if failed: exit 5`.
    pub fn failed_program(&self) -> Option<String> {
        match self {
            Why::PredicateFailed { option, how } => Some(format!("{option} failed: {how}")),
            Why::BeforeRetryFailed(how) => Some(format!("--before-retry failed: {how}")),
            _ => None,
        }
    }
}

impl Classifier {
    /// Judges an attempt: first success or failure, then stop rules, then retry rules, then the default.
    pub fn judge(&self, outcome: &Outcome) -> Verdict {
        let Some(failure) = self.failure(outcome) else {
            return Verdict::Success;
        };
        match failure.end {
            End::TimedOut(_) => self.judge_time_out(&failure),
            _ => self.judge_failure(&failure),
        }
    }

    /// Judges a successful attempt that `--success-if` calls a failure.
    pub fn judge_denied(&self, outcome: &Outcome) -> Verdict {
        self.judge_failure(&Failure {
            end: &outcome.end,
            seen: &outcome.seen,
            could_not_start: outcome.could_not_start(),
            fail_match: None,
            cause: Some(FailureCause::SuccessIf),
        })
    }

    /// Returns true if the exit status alone is a success, whatever the output.
    pub(crate) fn has_good_code(&self, end: &End) -> bool {
        matches!(end, End::Exited(_) | End::Signaled(_)) && self.success_exit.contains(end.shell_status())
    }

    fn failure<'a>(&self, outcome: &'a Outcome) -> Option<Failure<'a>> {
        let Outcome { end, seen, .. } = outcome;
        let fail_match = self.fail_match.iter().find_map(|pattern| seen.text(*pattern));
        let is_proven = self.success_match.is_empty() || self.success_match.iter().any(|p| seen.text(*p).is_some());
        let cause = match self.has_good_code(end) {
            true if fail_match.is_some() => Some(FailureCause::FailMatch),
            true if is_proven => return None,
            true => Some(FailureCause::NoSuccessMatch),
            false => (*end == End::Exited(0)).then_some(FailureCause::SuccessExit),
        };
        Some(Failure {
            end,
            seen,
            could_not_start: outcome.could_not_start(),
            fail_match,
            cause,
        })
    }

    /// Judges a timeout. backoff causes a timeout, so only retry rules that name timeouts apply.
    fn judge_time_out(&self, failure: &Failure<'_>) -> Verdict {
        let mut stops = self.rules.iter().filter(|rule| rule.stops);
        if let Some(rule) = stops.find(|rule| rule.applies(failure)) {
            return failure.by_rule(rule);
        }
        // The output of another attempt would follow the gap in this one's.
        if failure.seen.unread {
            return failure.permanent(Why::Unread);
        }
        let speaks_of_it = |rule: &&Rule| rule.codes.is_some_and(|codes| codes.contains_timeout());
        let mut retries = self.rules.iter().filter(|rule| !rule.stops).filter(speaks_of_it);
        match retries.find(|rule| rule.applies(failure)) {
            Some(rule) => failure.by_rule(rule),
            None => failure.transient(Why::ByDefault),
        }
    }

    fn judge_failure(&self, failure: &Failure<'_>) -> Verdict {
        let first = |stops: bool| {
            self.rules
                .iter()
                .find(|rule| rule.stops == stops && rule.applies(failure))
        };
        if let Some(rule) = first(true) {
            return failure.by_rule(rule);
        }
        if failure.seen.reader_gone {
            return failure.permanent(Why::ReaderGone);
        }
        if let Some(rule) = first(false) {
            let is_safe = |rule: &Rule| !rule.stops && rule.is_safe_to_repeat && rule.applies(failure);
            let mut reason = failure.reason_of_rule(rule);
            reason.is_safe_to_repeat |= self.rules.iter().any(is_safe);
            return Verdict::Transient(reason);
        }
        match failure.end {
            _ if failure.could_not_start => failure.permanent(Why::CannotStart),
            End::Signaled(Signal::PIPE) => failure.permanent(Why::ReaderGone),
            _ if self.asks => Verdict::Ask(failure.reason(Why::ByDefault)),
            // Retry rules list transient failures of the command; the command itself calls this end a success.
            _ if failure.cause == Some(FailureCause::SuccessIf) => failure.transient(Why::ByDefault),
            _ if self.rules.iter().any(|rule| !rule.stops) => failure.permanent(Why::NoRuleMatched),
            _ => failure.transient(Why::ByDefault),
        }
    }

    /// Returns for each of `patterns` patterns the patterns that cannot change the verdict after its match and need no
    /// further search. Each rule has its own pattern.
    pub fn superseded(&self, patterns: usize) -> Vec<Vec<usize>> {
        let mut superseded: Vec<Vec<usize>> = vec![Vec::new(); patterns];
        for rule in &self.rules {
            let (true, Some(pattern)) = (rule.codes.is_none(), rule.pattern) else {
                continue;
            };
            // The rule matches by its pattern alone, whatever the exit code. So later rules cannot decide any more, and
            // rules with the same decision are redundant. Retry rules decide alike, but a retry is safe to repeat if
            // any matching rule says so.
            let adds_nothing = |other: &&Rule| {
                let says_less = rule.is_safe_to_repeat || !other.is_safe_to_repeat;
                let is_about_timeouts = other.codes.is_some_and(|codes| codes.contains_timeout());
                rule.stops || !other.stops && says_less && !is_about_timeouts
            };
            superseded[pattern].extend(self.rules.iter().filter(adds_nothing).filter_map(|other| other.pattern));
        }
        for pattern in &self.fail_match {
            superseded[*pattern].extend(self.fail_match.iter().chain(&self.success_match));
        }
        for pattern in &self.success_match {
            superseded[*pattern].extend(&self.success_match);
        }
        superseded
    }
}

/// A failed attempt.
struct Failure<'a> {
    end: &'a End,
    seen: &'a Seen,
    could_not_start: bool,
    /// Text that a `--fail-match` pattern matched.
    fail_match: Option<&'a str>,
    cause: Option<FailureCause>,
}

impl Failure<'_> {
    fn reason(&self, why: Why) -> Reason {
        Reason {
            why,
            matched: self.fail_match.map(str::to_owned),
            cause: self.cause,
            is_safe_to_repeat: self.could_not_start,
        }
    }

    fn transient(&self, why: Why) -> Verdict {
        Verdict::Transient(self.reason(why))
    }

    fn permanent(&self, why: Why) -> Verdict {
        Verdict::Permanent(self.reason(why))
    }

    fn reason_of_rule(&self, rule: &Rule) -> Reason {
        let mut reason = self.reason(Why::Rule(rule.name.to_string()));
        reason.is_safe_to_repeat |= rule.is_safe_to_repeat;
        if let Some(text) = rule.pattern.and_then(|pattern| self.seen.text(pattern)) {
            reason.matched = Some(text.to_owned());
        }
        reason
    }

    fn by_rule(&self, rule: &Rule) -> Verdict {
        let reason = self.reason_of_rule(rule);
        if rule.stops {
            Verdict::Permanent(reason)
        } else {
            Verdict::Transient(reason)
        }
    }
}

impl Rule {
    fn applies(&self, failure: &Failure<'_>) -> bool {
        let has_match = |pattern| failure.seen.text(pattern).is_some();
        self.codes.is_none_or(|codes| codes.contains_end(failure.end)) && self.pattern.is_none_or(has_match)
    }
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
