use std::time::{Duration, SystemTime};

use super::*;
use crate::policy::outcome::{StartFailure, TimeLimit};
use crate::policy::test_samples::codes;

fn rules(rules: &[Rule]) -> Classifier {
    Classifier {
        success_exit: codes("0"),
        rules: rules.to_vec(),
        ..Classifier::default()
    }
}

fn rule(kind: RuleKind, codes: Option<&str>, pattern: Option<usize>) -> Rule {
    let name = match kind {
        RuleKind::Stop => "stop",
        RuleKind::Retry => "retry",
    };
    Rule {
        kind,
        codes: codes.map(self::codes),
        pattern: pattern.map(self::pattern),
        is_safe_to_repeat: false,
        name: name.into(),
    }
}

fn not_found() -> End {
    End::NotStarted(StartFailure {
        not_found: true,
        message: String::new(),
    })
}

pub(super) fn pattern(number: usize) -> Pattern {
    Pattern::parse(&format!("pattern {number}")).unwrap()
}

/// Returns an output that matches the marked patterns.
pub(super) fn examined(found: &[bool]) -> Examined {
    let found = found.iter().enumerate().filter(|(_, found)| **found);
    let found = found.map(|(number, _)| (format!("pattern {number}"), "text".to_owned()));
    Examined::new(found.collect(), Vec::new(), SystemTime::UNIX_EPOCH)
}

fn outcome(end: End) -> Outcome {
    Outcome::new(end, Duration::ZERO)
}

fn judge(classifier: &Classifier, end: End) -> (char, Option<Why>) {
    judge_output(classifier, end, &[])
}

fn judge_output(classifier: &Classifier, end: End, found: &[bool]) -> (char, Option<Why>) {
    shown(classifier.judge(&outcome(end), &examined(found)))
}

fn shown(verdict: Verdict) -> (char, Option<Why>) {
    match verdict {
        Verdict::Success => ('s', None),
        Verdict::Transient(reason) => ('t', Some(reason.why)),
        Verdict::Permanent(reason) => ('p', Some(reason.why)),
        Verdict::Ask(reason) => ('a', Some(reason.why)),
    }
}

fn by(name: &str) -> Option<Why> {
    Some(Why::Rule(name.to_owned()))
}

#[test]
fn without_rules_every_failure_is_transient_but_three() {
    let rules = rules(&[]);
    assert_eq!(judge(&rules, End::Exited(0)), ('s', None));
    for code in 1..=255 {
        assert_eq!(
            judge(&rules, End::Exited(code)),
            ('t', Some(Why::Default)),
            "{code}"
        );
    }
    assert_eq!(
        judge(&rules, End::Signaled(Signal::KILL)),
        ('t', Some(Why::Default))
    );
    assert_eq!(
        judge(&rules, End::TimedOut(TimeLimit::Timeout)),
        ('t', Some(Why::Default))
    );
    assert_eq!(
        judge(&rules, End::Signaled(Signal::PIPE)),
        ('p', Some(Why::NotRead))
    );
    assert_eq!(judge(&rules, not_found()), ('p', Some(Why::Default)));
}

#[test]
fn a_stop_rule_beats_a_retry_rule() {
    let rules = rules(&[
        rule(RuleKind::Retry, Some("1-9"), None),
        rule(RuleKind::Stop, Some("7"), None),
    ]);
    assert_eq!(judge(&rules, End::Exited(6)), ('t', by("retry")));
    assert_eq!(judge(&rules, End::Exited(7)), ('p', by("stop")));
    assert_eq!(
        judge(&rules, End::Exited(10)),
        ('p', Some(Why::NoneMatched))
    );
    assert_eq!(
        judge(&rules, End::Signaled(Signal::TERM)),
        ('p', Some(Why::NoneMatched))
    );
    assert_eq!(
        judge(&rules, End::TimedOut(TimeLimit::Timeout)),
        ('t', Some(Why::Default))
    );
}

#[test]
fn a_command_that_cannot_start_is_transient_only_if_listed() {
    let rules = rules(&[rule(RuleKind::Retry, Some("127"), None)]);
    assert_eq!(judge(&rules, not_found()), ('t', by("retry")));
    let not_executable = End::NotStarted(StartFailure {
        not_found: false,
        message: String::new(),
    });
    assert_eq!(judge(&rules, not_executable), ('p', Some(Why::Default)));
}

#[test]
fn signals_and_timeouts_are_ends_like_codes() {
    let (killed, timed_out) = (
        End::Signaled(Signal::KILL),
        End::TimedOut(TimeLimit::Deadline),
    );
    let stops = rules(&[rule(RuleKind::Stop, Some("137,timeout"), None)]);
    assert_eq!(judge(&stops, timed_out.clone()), ('p', by("stop")));
    assert_eq!(judge(&stops, killed.clone()), ('p', by("stop")));
    assert_eq!(judge(&stops, End::Exited(124)), ('t', Some(Why::Default)));
    let retries = rules(&[rule(RuleKind::Retry, Some("137,timeout"), None)]);
    assert_eq!(judge(&retries, timed_out), ('t', by("retry")));
    assert_eq!(judge(&retries, killed), ('t', by("retry")));
    assert_eq!(
        judge(&retries, End::Exited(1)),
        ('p', Some(Why::NoneMatched))
    );
    assert_eq!(
        judge(&retries, End::Signaled(Signal::PIPE)),
        ('p', Some(Why::NotRead))
    );
}

#[test]
fn output_can_make_a_failure_and_prove_a_success() {
    let mut rules = rules(&[]);
    (rules.success_match, rules.fail_match) = (vec![pattern(0), pattern(1)], vec![pattern(2)]);
    assert_eq!(
        judge_output(&rules, End::Exited(0), &[false, true, false]).0,
        's'
    );
    assert_eq!(
        judge_output(&rules, End::Exited(0), &[false, false, false]).0,
        't'
    );
    assert_eq!(
        judge_output(&rules, End::Exited(0), &[true, false, true]).0,
        't'
    );
    assert_eq!(
        judge_output(&rules, End::Exited(1), &[true, false, false]).0,
        't'
    );
}

#[test]
fn the_predicate_is_asked_if_no_rule_decides() {
    let mut rules = rules(&[
        rule(RuleKind::Retry, Some("7"), None),
        rule(RuleKind::Stop, Some("8"), None),
    ]);
    rules.has_retry_if = true;
    assert_eq!(judge(&rules, End::Exited(7)).0, 't');
    assert_eq!(judge(&rules, End::Exited(8)).0, 'p');
    assert_eq!(judge(&rules, End::Exited(9)).0, 'a');
    assert_eq!(judge(&rules, End::Exited(0)).0, 's');
    assert_eq!(judge(&rules, End::TimedOut(TimeLimit::Timeout)).0, 't');
}

#[test]
fn the_cause_of_a_failure_despite_a_good_exit_code_is_known() {
    let mut rules = Classifier {
        success_exit: codes("0,3"),
        success_match: vec![pattern(0)],
        fail_match: vec![pattern(1)],
        ..rules(&[])
    };
    let cause = |rules: &Classifier, end: End, found: [bool; 2]| {
        let verdict = rules.judge(&outcome(end), &examined(&found));
        verdict.reason().map(|reason| reason.cause)
    };
    assert_eq!(cause(&rules, End::Exited(0), [true, false]), None);
    for code in [0, 3] {
        let end = || End::Exited(code);
        assert_eq!(
            cause(&rules, end(), [true, true]),
            Some(Some(FailureCause::FailMatch))
        );
        assert_eq!(
            cause(&rules, end(), [false, false]),
            Some(Some(FailureCause::NoSuccessMatch))
        );
    }
    assert_eq!(cause(&rules, End::Exited(1), [true, true]), Some(None));
    rules.success_exit = codes("3");
    assert_eq!(
        cause(&rules, End::Exited(0), [true, true]),
        Some(Some(FailureCause::SuccessExit))
    );
    assert_eq!(
        cause(&rules, End::Signaled(Signal::TERM), [true, false]),
        Some(None)
    );
}

#[test]
fn a_hook_or_predicate_that_failed_is_named() {
    let failed = Why::Failed {
        option: "--retry-if",
        how: "exit 5".to_owned(),
    };
    assert_eq!(
        failed.failure().as_deref(),
        Some("--retry-if failed: exit 5")
    );
    assert_eq!(Why::Default.failure(), None);
    assert_eq!(FailureCause::SuccessIf.to_string(), "--success-if says no");
}

#[test]
fn a_success_that_success_if_denies_is_judged_as_a_failure() {
    let denied = |classifier: &Classifier, code: u8, found: bool| {
        let verdict = classifier.judge_denied(&outcome(End::Exited(code)), &examined(&[found]));
        let cause = verdict.reason().and_then(|reason| reason.cause);
        assert_eq!(cause, Some(FailureCause::SuccessIf));
        shown(verdict)
    };
    assert_eq!(denied(&rules(&[]), 0, false), ('t', Some(Why::Default)));
    let mut rules = rules(&[
        rule(RuleKind::Stop, None, Some(0)),
        rule(RuleKind::Stop, Some("3"), None),
        rule(RuleKind::Retry, Some("4"), None),
    ]);
    assert_eq!(denied(&rules, 0, true), ('p', by("stop")));
    assert_eq!(denied(&rules, 3, false), ('p', by("stop")));
    assert_eq!(denied(&rules, 4, false), ('t', by("retry")));
    // Here a retry rule does not make other failures permanent.
    assert_eq!(denied(&rules, 0, false), ('t', Some(Why::Default)));
    rules.has_retry_if = true;
    assert_eq!(denied(&rules, 0, false), ('a', Some(Why::Default)));
}

#[test]
fn an_attempt_that_did_not_start_is_safe_to_repeat() {
    let verdict = |end| {
        rules(&[rule(RuleKind::Retry, Some("1,127"), None)]).judge(&outcome(end), &examined(&[]))
    };
    let is_safe = |end| verdict(end).reason().unwrap().is_safe_to_repeat;
    assert!(is_safe(not_found()) && !is_safe(End::Exited(127)));
}

#[test]
fn a_failure_without_a_reader_is_permanent_unless_a_stop_rule_says_why() {
    let rules = rules(&[
        rule(RuleKind::Retry, Some("1,124,timeout"), None),
        rule(RuleKind::Stop, Some("2"), None),
    ]);
    for (end, stops, by_sigpipe) in [
        (End::Exited(1), false, false),
        (End::Exited(2), true, false),
        (End::TimedOut(TimeLimit::Idle), false, false),
        (End::Exited(141), false, true),
        (End::Signaled(Signal::PIPE), false, true),
    ] {
        for (reader_gone, unread) in [(true, false), (true, true)] {
            let mut outcome = outcome(end.clone());
            (outcome.seen.reader_gone, outcome.seen.unread) = (reader_gone, unread);
            let verdict = rules.judge(&outcome, &examined(&[]));
            // Like a shell, backoff prints nothing about a pipeline whose reader has seen enough.
            assert_eq!(
                verdict.is_silent_end(&outcome),
                by_sigpipe && !unread,
                "{end}"
            );
            let why = if stops {
                by("stop")
            } else {
                Some(Why::NotRead)
            };
            assert_eq!(shown(verdict), ('p', why), "{end}");
        }
    }
}
