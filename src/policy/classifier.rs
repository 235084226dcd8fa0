//! Did it fail, and is the failure transient? One pure function from facts to a verdict.

use super::sets::{CodeSet, SignalSet};
use crate::outcome::End;
use crate::signal::Signal;

/// The rules of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classifier {
    /// `--success-exit`: codes that are not a failure.
    pub success_exit: CodeSet,
    /// `--retry-exit`, if given.
    pub retry_exit: Option<CodeSet>,
    /// `--stop-exit`, if given.
    pub stop_exit: Option<CodeSet>,
    /// `--retry-signal`, if given.
    pub retry_signal: Option<SignalSet>,
    /// `--stop-signal`, if given.
    pub stop_signal: Option<SignalSet>,
    /// `--stop-on-timeout`.
    pub stop_on_timeout: bool,
}

/// What an outcome means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The attempt did what it should.
    Success,
    /// It failed, and may succeed if it is run again.
    Transient(Why),
    /// It failed, and running it again cannot help.
    Permanent(Why),
}

/// What decided that a failure is transient or permanent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The option with this name matched.
    Rule(&'static str),
    /// Retry rules were given and none matched.
    NoRuleMatched,
    /// No rule speaks of it: a time-out, or a failure while no retry rule was given.
    ByDefault,
    /// The command cannot be started: 126 or 127 from exec.
    CannotStart,
    /// It died of SIGPIPE: whoever read its output is gone.
    ReaderGone,
}

impl Classifier {
    /// Judges one attempt: first whether it failed, then stop rules, then retry rules, then what
    /// holds without any.
    pub fn judge(&self, end: &End) -> Verdict {
        if let End::Exited(code) = end
            && self.success_exit.contains(*code)
        {
            return Verdict::Success;
        }
        if let Some(rule) = self.stop_rule(end) {
            return Verdict::Permanent(Why::Rule(rule));
        }
        // A time-out is backoff's own doing; retry rules speak of what the command did.
        if let End::TimedOut(_) = end {
            return Verdict::Transient(Why::ByDefault);
        }
        if let Some(rule) = self.retry_rule(end) {
            return Verdict::Transient(Why::Rule(rule));
        }
        match end {
            End::NotStarted(_) => Verdict::Permanent(Why::CannotStart),
            End::Signaled(Signal::PIPE) => Verdict::Permanent(Why::ReaderGone),
            _ if self.has_retry_rules() => Verdict::Permanent(Why::NoRuleMatched),
            _ => Verdict::Transient(Why::ByDefault),
        }
    }

    fn stop_rule(&self, end: &End) -> Option<&'static str> {
        match end {
            End::TimedOut(_) => self.stop_on_timeout.then_some("--stop-on-timeout"),
            _ if lists(self.stop_exit.as_ref(), end) => Some("--stop-exit"),
            _ if names(self.stop_signal.as_ref(), end) => Some("--stop-signal"),
            _ => None,
        }
    }

    fn retry_rule(&self, end: &End) -> Option<&'static str> {
        match end {
            _ if lists(self.retry_exit.as_ref(), end) => Some("--retry-exit"),
            _ if names(self.retry_signal.as_ref(), end) => Some("--retry-signal"),
            _ => None,
        }
    }

    fn has_retry_rules(&self) -> bool {
        self.retry_exit.is_some() || self.retry_signal.is_some()
    }
}

/// Whether the codes list how it exited, or the 126 or 127 of a command that cannot be started.
fn lists(codes: Option<&CodeSet>, end: &End) -> bool {
    let code = match end {
        End::Exited(code) => *code,
        End::NotStarted(failure) => failure.code(),
        _ => return false,
    };
    codes.is_some_and(|codes| codes.contains(code))
}

fn names(signals: Option<&SignalSet>, end: &End) -> bool {
    matches!(end, End::Signaled(signal) if signals.is_some_and(|signals| signals.contains(*signal)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Bound, StartFailure};
    use crate::values;

    fn rules() -> Classifier {
        Classifier {
            success_exit: values::codes("0").unwrap(),
            ..Classifier::default()
        }
    }

    fn not_found() -> End {
        End::NotStarted(StartFailure {
            not_found: true,
            message: String::new(),
        })
    }

    #[test]
    fn without_rules_every_failure_is_transient_but_three() {
        let rules = rules();
        assert_eq!(rules.judge(&End::Exited(0)), Verdict::Success);
        for code in 1..=255 {
            assert_eq!(
                rules.judge(&End::Exited(code)),
                Verdict::Transient(Why::ByDefault),
                "{code}"
            );
        }
        assert_eq!(
            rules.judge(&End::Signaled(Signal::KILL)),
            Verdict::Transient(Why::ByDefault)
        );
        assert_eq!(
            rules.judge(&End::TimedOut(Bound::Timeout)),
            Verdict::Transient(Why::ByDefault)
        );
        assert_eq!(
            rules.judge(&End::Signaled(Signal::PIPE)),
            Verdict::Permanent(Why::ReaderGone)
        );
        assert_eq!(rules.judge(&not_found()), Verdict::Permanent(Why::CannotStart));
    }

    #[test]
    fn a_stop_rule_beats_a_retry_rule() {
        let mut rules = rules();
        rules.retry_exit = Some(values::codes("1-9").unwrap());
        rules.stop_exit = Some(values::codes("7").unwrap());
        assert_eq!(
            rules.judge(&End::Exited(6)),
            Verdict::Transient(Why::Rule("--retry-exit"))
        );
        assert_eq!(
            rules.judge(&End::Exited(7)),
            Verdict::Permanent(Why::Rule("--stop-exit"))
        );
        assert_eq!(rules.judge(&End::Exited(10)), Verdict::Permanent(Why::NoRuleMatched));
        assert_eq!(
            rules.judge(&End::Signaled(Signal::TERM)),
            Verdict::Permanent(Why::NoRuleMatched)
        );
        assert_eq!(
            rules.judge(&End::TimedOut(Bound::Timeout)),
            Verdict::Transient(Why::ByDefault)
        );
    }

    #[test]
    fn what_cannot_start_is_transient_only_if_listed() {
        let mut rules = rules();
        rules.retry_exit = Some(values::codes("127").unwrap());
        assert_eq!(rules.judge(&not_found()), Verdict::Transient(Why::Rule("--retry-exit")));
        let not_executable = End::NotStarted(StartFailure {
            not_found: false,
            message: String::new(),
        });
        assert_eq!(rules.judge(&not_executable), Verdict::Permanent(Why::CannotStart));
    }

    #[test]
    fn signals_and_time_outs_have_rules_of_their_own() {
        let mut rules = rules();
        rules.stop_on_timeout = true;
        rules.retry_signal = Some(values::signals("PIPE").unwrap());
        rules.stop_signal = Some(values::signals("KILL").unwrap());
        assert_eq!(
            rules.judge(&End::TimedOut(Bound::Deadline)),
            Verdict::Permanent(Why::Rule("--stop-on-timeout"))
        );
        assert_eq!(
            rules.judge(&End::Signaled(Signal::PIPE)),
            Verdict::Transient(Why::Rule("--retry-signal"))
        );
        assert_eq!(
            rules.judge(&End::Signaled(Signal::KILL)),
            Verdict::Permanent(Why::Rule("--stop-signal"))
        );
        assert_eq!(rules.judge(&End::Exited(1)), Verdict::Permanent(Why::NoRuleMatched));
    }
}
