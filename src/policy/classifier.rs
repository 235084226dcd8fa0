//! Did it fail, and is the failure transient? One pure function from facts to a verdict.

use super::sets::{CodeSet, SignalSet};
use crate::policy::outcome::{End, Outcome, Seen};
use crate::policy::signal::Signal;

/// The rules of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classifier {
    /// `--success-exit`: codes that are not a failure.
    pub success_exit: CodeSet,
    /// `--success-match`: patterns of which one must have been found.
    pub success_match: Vec<usize>,
    /// `--fail-match`: patterns of which none may have been found.
    pub fail_match: Vec<usize>,
    /// Rules about failures. Those that stop win.
    pub rules: Vec<Rule>,
    /// The rules of a policy, in their order: after the rules that stop, the first that applies decides.
    pub classes: Vec<ClassRule>,
    /// `--stop-on-timeout`.
    pub stop_on_timeout: bool,
    /// `--retry-if` is to be asked where no rule decides.
    pub asks: bool,
}

/// What holds for a failure that meets all conditions of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether such a failure is permanent; otherwise it is transient.
    pub stops: bool,
    /// It exited with one of these codes (126 and 127 of a command that cannot start included).
    pub codes: Option<CodeSet>,
    /// It died of one of these signals.
    pub signals: Option<SignalSet>,
    /// Its output had a line that this pattern matches.
    pub pattern: Option<usize>,
    /// What a person calls the rule: `--retry-exit`, `--for curl`.
    pub name: String,
}

/// A rule of a policy: it also says which class of failures this is, as each class has waits of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRule {
    /// The rule itself.
    pub rule: Rule,
    /// Whether it is about time-outs only, or about all but time-outs; None is both.
    pub timed_out: Option<bool>,
    /// The class of the failures that it is about. Rules of the same class stand next to each other.
    pub class: usize,
}

/// What an outcome means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The attempt did what it should.
    Success,
    /// It failed, and may succeed if it is run again.
    Transient(Reason),
    /// It failed, and running it again cannot help.
    Permanent(Reason),
    /// It failed, and `--retry-if` is to say what that means.
    Ask(Reason),
}

impl Verdict {
    /// Why it is a failure, if it is one.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Verdict::Success => None,
            Verdict::Transient(reason) | Verdict::Permanent(reason) | Verdict::Ask(reason) => Some(reason),
        }
    }
}

/// Why a failure is one, and what decided about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What decided.
    pub why: Why,
    /// The text that a pattern was found in, where that decided or made it a failure.
    pub matched: Option<String>,
    /// It is a failure because no `--success-match` was found.
    pub unproven: bool,
    /// The class of failures that it belongs to, where a rule of a policy decided.
    pub class: Option<usize>,
}

/// What decided that a failure is transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The rule with this name matched.
    Rule(String),
    /// `--retry-if` could not say, for this reason.
    PredicateFailed(String),
    /// Retry rules were given and none matched.
    NoRuleMatched,
    /// No rule speaks of it: a time-out, or a failure while no retry rule was given.
    ByDefault,
    /// The command cannot be started: 126 or 127 from exec.
    CannotStart,
    /// It died of SIGPIPE, or its output has nowhere to go: whoever read it is gone.
    ReaderGone,
}

impl Classifier {
    /// Judges one attempt: first whether it failed, then stop rules, then the rules of a policy, then retry
    /// rules, then what holds without any.
    pub fn judge(&self, outcome: &Outcome) -> Verdict {
        let Outcome { end, seen, .. } = outcome;
        let failed_by = self.fail_match.iter().find_map(|pattern| seen.text(*pattern));
        let is_proven = self.success_match.is_empty() || self.success_match.iter().any(|p| seen.text(*p).is_some());
        let has_good_code = matches!(end, End::Exited(code) if self.success_exit.contains(*code));
        if has_good_code && failed_by.is_none() && is_proven {
            return Verdict::Success;
        }
        let reason = |why, text: Option<&str>| Reason {
            why,
            matched: text.or(failed_by).map(str::to_owned),
            unproven: has_good_code && failed_by.is_none(),
            class: None,
        };
        let by_rule = |rule: &Rule| reason(Why::Rule(rule.name.clone()), rule.pattern.and_then(|p| seen.text(p)));

        let by_class = || {
            let first = self.classes.iter().find(|class| class.applies(end, seen))?;
            let reason = Reason {
                class: Some(first.class),
                ..by_rule(&first.rule)
            };
            Some(if first.rule.stops {
                Verdict::Permanent(reason)
            } else {
                Verdict::Transient(reason)
            })
        };

        if let End::TimedOut(_) = end {
            let by_output = self
                .rules
                .iter()
                .find(|rule| rule.stops && rule.pattern.is_some() && rule.applies(end, seen));
            return match by_output {
                Some(rule) => Verdict::Permanent(by_rule(rule)),
                None if self.stop_on_timeout => {
                    Verdict::Permanent(reason(Why::Rule("--stop-on-timeout".to_owned()), None))
                }
                // A time-out is backoff's own doing; retry rules speak of what the command did.
                None => by_class().unwrap_or_else(|| Verdict::Transient(reason(Why::ByDefault, None))),
            };
        }
        let first = |stops: bool| {
            self.rules
                .iter()
                .find(|rule| rule.stops == stops && rule.applies(end, seen))
        };
        if let Some(rule) = first(true) {
            return Verdict::Permanent(by_rule(rule));
        }
        if seen.reader_gone {
            return Verdict::Permanent(reason(Why::ReaderGone, None));
        }
        if let Some(verdict) = by_class() {
            return verdict;
        }
        if let Some(rule) = first(false) {
            return Verdict::Transient(by_rule(rule));
        }
        match end {
            End::NotStarted(_) => Verdict::Permanent(reason(Why::CannotStart, None)),
            End::Signaled(Signal::PIPE) => Verdict::Permanent(reason(Why::ReaderGone, None)),
            _ if self.asks => Verdict::Ask(reason(Why::ByDefault, None)),
            _ if self.rules.iter().any(|rule| !rule.stops) => Verdict::Permanent(reason(Why::NoRuleMatched, None)),
            _ => Verdict::Transient(reason(Why::ByDefault, None)),
        }
    }

    /// For each of `patterns` patterns those that are of no interest once it was found, so that
    /// nothing is looked for that cannot change a verdict any more. Each rule has a pattern of its own.
    pub fn superseded(&self, patterns: usize) -> Vec<Vec<usize>> {
        let stops = || self.rules.iter().filter(|rule| rule.stops);
        let retries = || self.rules.iter().filter(|rule| !rule.stops);
        // Rules in the order in which they decide: all that stop, those of a policy one by one, all that retry.
        let classes = || self.classes.iter().map(|class| &class.rule);
        let all = || stops().chain(classes()).chain(retries());
        let after_stops = stops().count();
        let after_classes = after_stops + self.classes.len();
        let mut superseded: Vec<Vec<usize>> = vec![Vec::new(); patterns];
        for (i, rule) in all().enumerate() {
            let (true, Some(pattern)) = (rule.codes.is_none() && rule.signals.is_none(), rule.pattern) else {
                continue;
            };
            // Met by its pattern alone, whatever the exit code: what would decide later cannot any more, nor
            // what would decide the same.
            let weaker = match i {
                _ if i < after_stops => 0,
                _ if i >= after_classes => after_classes,
                // The pattern may be found in an attempt that another condition then excludes.
                _ if self.classes[i - after_stops].timed_out.is_some() => continue,
                _ => i,
            };
            superseded[pattern].extend(all().skip(weaker).filter_map(|rule| rule.pattern));
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

impl Rule {
    /// Whether a failure meets every condition.
    fn applies(&self, end: &End, seen: &Seen) -> bool {
        let code = match end {
            End::Exited(code) => Some(*code),
            End::NotStarted(failure) => Some(failure.code()),
            End::Signaled(_) | End::TimedOut(_) => None,
        };
        self.codes
            .is_none_or(|codes| code.is_some_and(|code| codes.contains(code)))
            && self
                .signals
                .is_none_or(|set| matches!(end, End::Signaled(signal) if set.contains(*signal)))
            && self.pattern.is_none_or(|pattern| seen.text(pattern).is_some())
    }
}

impl ClassRule {
    fn applies(&self, end: &End, seen: &Seen) -> bool {
        let timed_out = matches!(end, End::TimedOut(_));
        self.timed_out.is_none_or(|asked| asked == timed_out) && self.rule.applies(end, seen)
    }
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
