//! Judges an attempt by how it ended and what it printed: success, transient failure or permanent failure. Where the
//! options leave the decision to predicates (commands of the user), the run then asks them.

use std::cell::LazyCell;
use std::fmt;
use std::rc::Rc;

use super::sets::CodeSet;
use crate::policy::outcome::{End, Outcome};
use crate::policy::signal::Signal;
use crate::search::examined::Examined;
use crate::search::pattern::Pattern;

/// The rules of presets, loaded at the first failure.
pub type PresetRules = LazyCell<Vec<Rule>, Box<dyn FnOnce() -> Vec<Rule>>>;

/// The options that tell success from failure, and transient from permanent failures.
#[derive(Debug, Default)]
pub struct Classifier {
    /// `--success-exit`: codes that count as success, as a shell shows them.
    pub success_exit: CodeSet,
    /// `--success-match`: at least one must match.
    pub success_match: Vec<Pattern>,
    /// `--fail-match`: none may match.
    pub fail_match: Vec<Pattern>,
    /// The user's rules about failures. Those with a pattern come first, because they override more.
    pub rules: Vec<Rule>,
    /// Rules of the presets in use (`--for`), None if there are none. Those that are safe to repeat precede others of
    /// their kind.
    pub preset_rules: Option<PresetRules>,
    /// `--retry-exit`, which is also one of the rules. Only this option makes an interruption of the command transient.
    pub retry_exit: CodeSet,
    /// `--retry-if` is given. It decides if no rule does, except after a timeout, a failed start, SIGPIPE or lost
    /// output, or if processes are still running.
    pub has_retry_if: bool,
}

/// Verdict of a rule on the failures that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// The failure is permanent.
    Stop,
    /// The failure is transient, unless a stop rule or an earlier check in `judge_failure` makes it permanent.
    Retry,
}

/// Classifies failures that meet all its conditions.
#[derive(Debug, Clone)]
pub struct Rule {
    pub kind: RuleKind,
    /// Ends that match: exit codes, possibly `timeout`. 126 and 127 also match a command that cannot start.
    pub codes: Option<CodeSet>,
    /// Pattern that an output line must match.
    pub pattern: Option<Pattern>,
    /// The failure may be retried even if the command is not idempotent, because nothing was done or the user says so.
    pub is_safe_to_repeat: bool,
    /// Name in messages: `--retry-exit`, `--for curl`.
    pub name: Rc<str>,
}

/// What an attempt means for the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Success,
    /// A failure that a retry may fix, or one whose predicate was cut off by the deadline, which ends the run.
    Transient(Reason),
    /// A failure that no retry can fix.
    Permanent(Reason),
    /// A failure for `--retry-if` to classify. The run replaces it, except with `--until failure`, which does not ask.
    Ask(Reason),
}

impl Verdict {
    /// Returns the reason for a failure, None for a success.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Verdict::Success => None,
            Verdict::Transient(reason) | Verdict::Permanent(reason) | Verdict::Ask(reason) => {
                Some(reason)
            }
        }
    }

    /// Returns why the attempt failed, if it did.
    pub(crate) fn why(&self) -> Option<&Why> {
        self.reason().map(|reason| &reason.why)
    }

    /// Returns true if the deadline cut off the predicate that was judging the attempt. Any other failure of a
    /// predicate is permanent.
    pub(super) fn is_cut_off_by_deadline(&self) -> bool {
        matches!(self, Verdict::Transient(reason) if matches!(reason.why, Why::Failed { .. }))
    }

    /// Returns true if neither a message (without `-v`) nor `--on-give-up` reports this end. The output's reader is
    /// gone and SIGPIPE killed the command, about which a shell is also silent (`cmd | head`). Any other end may have
    /// another cause, and SIGPIPE may come from another pipe or socket.
    pub fn is_silent_end(&self, outcome: &Outcome) -> bool {
        let is_about_reader =
            matches!(self, Verdict::Permanent(reason) if reason.why == Why::NotRead);
        let seen = &outcome.seen;
        is_about_reader && seen.reader_gone && !seen.unread && outcome.ended_by_sigpipe()
    }
}

/// Cause of a failure, and the rule that classified it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub why: Why,
    /// Beginning of the text that matched the rule's pattern or, without one, a `--fail-match` pattern.
    pub matched: Option<String>,
    /// Cause of the failure, unless it is the exit code alone.
    pub cause: Option<FailureCause>,
    /// A retry cannot take effect twice, or the user allows it.
    pub is_safe_to_repeat: bool,
}

impl Reason {
    /// Returns a reason without matched text, and not safe to repeat.
    pub const fn new(why: Why) -> Reason {
        Reason {
            why,
            matched: None,
            cause: None,
            is_safe_to_repeat: false,
        }
    }
}

/// Cause of a failure with exit code 0, or with another code that counts as success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// `--success-exit` does not list the exit code 0.
    SuccessExit,
    /// A `--fail-match` pattern matched.
    FailMatch,
    /// No `--success-match` pattern matched.
    NoSuccessMatch,
    /// `--success-if` says no.
    SuccessIf,
}

/// Formats the cause as messages show it next to the end: `--fail-match` in `matched "bad" (exit 0; --fail-match)`.
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

/// What made a failure transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The rule with this name matched, or `--retry-if` decided.
    Rule(String),
    /// The predicate of this option itself failed, or `--before-retry` did after another attempt was decided. With
    /// `--until`, that may follow a success.
    Failed { option: &'static str, how: String },
    /// Retry rules were given and none matched.
    NoneMatched,
    /// No rule applies: a timeout, a failed start (126, 127), a failure without retry rules, or one that only
    /// `--success-if` reports. Also the reason in a [`Verdict::Ask`].
    Default,
    /// Output was lost unread or has no reader, or SIGPIPE killed the command.
    NotRead,
    /// Processes of the attempt are still running. Another attempt would run next to them.
    Survivors,
}

impl Why {
    /// Returns how a predicate or hook failed that the run depends on: `--retry-if failed: exit 5`. None if something
    /// else decided.
    pub fn failure(&self) -> Option<String> {
        match self {
            Why::Failed { option, how } => Some(format!("{option} failed: {how}")),
            _ => None,
        }
    }
}

impl Classifier {
    /// Judges an attempt: first success or failure, by the exit code, `--fail-match` and `--success-match` in this
    /// order, then a failure by the rules. Predicates (`--success-if`, `--retry-if`) run later, because they are
    /// processes.
    pub fn judge(&self, outcome: &Outcome, examined: &Examined) -> Verdict {
        let end = &outcome.end;
        let mut fail_match = self.fail_match.iter();
        let fail_match = fail_match.find_map(|pattern| examined.find(pattern));
        let cause = if *end == End::Exited(0) && !self.has_good_code(end) {
            Some(FailureCause::SuccessExit)
        } else if !self.has_good_code(end) {
            // The end explains itself.
            None
        } else if fail_match.is_some() {
            Some(FailureCause::FailMatch)
        } else if self.lacks_success_match(examined) {
            Some(FailureCause::NoSuccessMatch)
        } else {
            return Verdict::Success;
        };
        self.judge_failure(&Failure {
            outcome,
            examined,
            fail_match,
            cause,
        })
    }

    /// Returns true if `--success-match` is given and no line matches.
    fn lacks_success_match(&self, examined: &Examined) -> bool {
        let mut patterns = self.success_match.iter();
        !self.success_match.is_empty() && patterns.all(|pattern| examined.find(pattern).is_none())
    }

    /// Judges a success that `--success-if` denies. No `--fail-match` pattern matched, or it would not be a success.
    pub fn judge_denied(&self, outcome: &Outcome, examined: &Examined) -> Verdict {
        self.judge_failure(&Failure {
            outcome,
            examined,
            fail_match: None,
            cause: Some(FailureCause::SuccessIf),
        })
    }

    /// Returns true if the command ran and its status alone counts as success.
    pub(crate) fn has_good_code(&self, end: &End) -> bool {
        matches!(end, End::Exited(_) | End::Signaled(_)) && self.success_exit.contains_end(end)
    }

    /// Returns SIGINT or SIGQUIT if it killed the command, or a program whose end the command reports (130, 131). The
    /// user may have pressed Ctrl-C on the command's own terminal (`sudo`, `ssh -t`, `docker run -it`) and wants no
    /// further attempt, so the caller ends the run without a verdict. Returns None for any other end, if
    /// `--success-exit` or `--retry-exit` lists the code, and after a timeout, because backoff itself then sent the
    /// signal.
    pub fn interruption(&self, outcome: &Outcome) -> Option<Signal> {
        let end = &outcome.end;
        if self.has_good_code(end) || self.retry_exit.contains_end(end) {
            return None;
        }
        match end {
            End::Exited(_) | End::Signaled(_) => [Signal::INT, Signal::QUIT]
                .into_iter()
                .find(|signal| end.code() == Some(signal.shell_status())),
            End::TimedOut(_) | End::NotStarted(_) | End::Unended => None,
        }
    }

    /// Judges a failed attempt. The first of these decides: survivors, the user's stop rules, lost output or reader,
    /// the user's retry patterns, stop rules of presets, other retry rules. `judge_without_rule` judges the rest.
    fn judge_failure(&self, failure: &Failure<'_>) -> Verdict {
        let Outcome {
            survivors, seen, ..
        } = failure.outcome;
        // Before all rules, because the next attempt would run into the survivors' locks and ports.
        if !survivors.is_empty() {
            return failure.permanent(Why::Survivors);
        }
        if let Some(stop) = failure.first(&self.rules, RuleKind::Stop) {
            return Verdict::Permanent(failure.by_rule(stop));
        }
        // The output of another attempt would follow the gap, or also have no reader.
        if seen.unread || seen.reader_gone {
            return failure.permanent(Why::NotRead);
        }
        let retry = failure.first(&self.rules, RuleKind::Retry);
        if let Some(retry) = retry
            && retry.pattern.is_some()
        {
            return Verdict::Transient(failure.by_rule(retry));
        }
        if let Some(stop) = failure.first(self.rules_of_presets(), RuleKind::Stop) {
            return Verdict::Permanent(failure.by_rule(stop));
        }
        if let Some(retry) = retry {
            return Verdict::Transient(failure.by_rule(retry));
        }
        if let Some(retry) = failure.first(self.rules_of_presets(), RuleKind::Retry) {
            return Verdict::Transient(failure.by_rule(retry));
        }
        self.judge_without_rule(failure)
    }

    /// Returns the rules of presets, none without `--for`.
    pub fn rules_of_presets(&self) -> &[Rule] {
        self.preset_rules.as_ref().map_or(&[], |rules| rules)
    }

    /// Returns true if some rule can make a failure transient, so that all others are permanent.
    fn has_retry_rule(&self) -> bool {
        let mut rules = self.rules.iter();
        self.preset_rules.is_some() || rules.any(|rule| rule.kind == RuleKind::Retry)
    }

    /// Judges a failure to which no rule applies: by a cause that backoff itself knows, else by `--retry-if`, else as
    /// permanent if there are retry rules and as transient if not.
    fn judge_without_rule(&self, failure: &Failure<'_>) -> Verdict {
        // Causes that backoff itself knows, without asking `--retry-if`.
        match failure.outcome.end {
            End::NotStarted(_) => return failure.permanent(Why::Default),
            // The next attempt would run next to the command. Never reached, because such a run ends without a verdict.
            End::Unended => return failure.permanent(Why::Survivors),
            // Usually the reader of the output is gone, and does not come back for another attempt.
            End::Signaled(Signal::PIPE) => return failure.permanent(Why::NotRead),
            // Transient even with retry rules, because these list failures that the command reports.
            End::TimedOut(_) => return failure.transient(),
            End::Exited(_) | End::Signaled(_) => {}
        }
        if self.has_retry_if {
            return Verdict::Ask(failure.reason(Why::Default));
        }
        // Retry rules list failures that the command reports. If only `--success-if` says no, the command reported
        // success.
        if self.has_retry_rule() && failure.cause != Some(FailureCause::SuccessIf) {
            failure.permanent(Why::NoneMatched)
        } else {
            failure.transient()
        }
    }
}

/// A failed attempt to be judged.
struct Failure<'a> {
    outcome: &'a Outcome,
    examined: &'a Examined,
    /// Text that a `--fail-match` pattern matched.
    fail_match: Option<String>,
    cause: Option<FailureCause>,
}

impl Failure<'_> {
    fn permanent(&self, why: Why) -> Verdict {
        Verdict::Permanent(self.reason(why))
    }

    /// Returns the verdict on a failure that may be retried although no rule says so.
    fn transient(&self) -> Verdict {
        Verdict::Transient(self.reason(Why::Default))
    }

    /// Returns the reason for a verdict, to which `by_rule` adds the rule. Without a rule, only a command that did not
    /// start is safe to repeat, because it certainly had no effect.
    fn reason(&self, why: Why) -> Reason {
        Reason {
            why,
            matched: self.fail_match.clone(),
            cause: self.cause,
            is_safe_to_repeat: self.outcome.has_not_run(),
        }
    }

    fn first<'r>(&self, rules: &'r [Rule], kind: RuleKind) -> Option<&'r Rule> {
        let mut rules = rules.iter().filter(|rule| rule.kind == kind);
        rules.find(|rule| rule.applies(self.outcome, self.examined))
    }

    /// Returns the reason for a verdict by a rule, with the text that its pattern matched.
    fn by_rule(&self, rule: &Rule) -> Reason {
        let mut reason = self.reason(Why::Rule(rule.name.to_string()));
        if let Some(pattern) = &rule.pattern {
            reason.matched = self.examined.find(pattern);
        }
        reason.is_safe_to_repeat |= rule.is_safe_to_repeat;
        reason
    }
}

impl Rule {
    /// Returns true if the failure meets all conditions of the rule: one of its codes, and a match of its pattern. A
    /// condition that the rule lacks is met, but a retry rule without codes never applies to a timeout.
    fn applies(&self, outcome: &Outcome, examined: &Examined) -> bool {
        let has_code = self
            .codes
            .is_none_or(|codes| codes.contains_end(&outcome.end));
        // A timeout is transient by default. A retry pattern alone must not mark it safe to repeat, because the command
        // kept running after it printed the text. Codes may, because they list `timeout`.
        let is_retry_without_codes = self.kind == RuleKind::Retry && self.codes.is_none();
        if is_retry_without_codes && matches!(outcome.end, End::TimedOut(_)) {
            return false;
        }
        let has_match = |pattern: &Pattern| examined.find(pattern).is_some();
        // Searching the output takes longest, so it comes last.
        has_code && self.pattern.as_ref().is_none_or(has_match)
    }
}

#[cfg(test)]
#[path = "tests/classifier_model.rs"]
mod model_tests;
#[cfg(test)]
#[path = "tests/classifier.rs"]
mod tests;
