use std::time::Duration;

use super::*;
use crate::policy::outcome::{Bound, StartFailure};
use crate::policy::test_samples::codes;

fn rules(rules: &[Rule]) -> Classifier {
    Classifier {
        success_exit: codes("0"),
        rules: rules.to_vec(),
        ..Classifier::default()
    }
}

fn rule(stops: bool, codes: Option<&str>, pattern: Option<usize>) -> Rule {
    let name = if stops { "stop" } else { "retry" }.to_owned();
    Rule {
        stops,
        codes: codes.map(self::codes),
        pattern,
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

fn judge(classifier: &Classifier, end: End) -> (char, Option<Why>) {
    shown(classifier.judge(&Outcome::new(end, Duration::ZERO)))
}

fn judge_output(classifier: &Classifier, code: u8, found: &[bool]) -> (char, Option<Why>) {
    let matched = found.iter().map(|found| found.then(|| "text".to_owned())).collect();
    let seen = Seen {
        matched,
        ..Seen::default()
    };
    shown(classifier.judge(&Outcome {
        seen,
        ..Outcome::new(End::Exited(code), Duration::ZERO)
    }))
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
        assert_eq!(judge(&rules, End::Exited(code)), ('t', Some(Why::ByDefault)), "{code}");
    }
    assert_eq!(judge(&rules, End::Signaled(Signal::KILL)), ('t', Some(Why::ByDefault)));
    assert_eq!(
        judge(&rules, End::TimedOut(Bound::Timeout)),
        ('t', Some(Why::ByDefault))
    );
    assert_eq!(judge(&rules, End::Signaled(Signal::PIPE)), ('p', Some(Why::ReaderGone)));
    assert_eq!(judge(&rules, not_found()), ('p', Some(Why::CannotStart)));
}

#[test]
fn a_stop_rule_beats_a_retry_rule() {
    let rules = rules(&[rule(false, Some("1-9"), None), rule(true, Some("7"), None)]);
    assert_eq!(judge(&rules, End::Exited(6)), ('t', by("retry")));
    assert_eq!(judge(&rules, End::Exited(7)), ('p', by("stop")));
    assert_eq!(judge(&rules, End::Exited(10)), ('p', Some(Why::NoRuleMatched)));
    assert_eq!(
        judge(&rules, End::Signaled(Signal::TERM)),
        ('p', Some(Why::NoRuleMatched))
    );
    assert_eq!(
        judge(&rules, End::TimedOut(Bound::Timeout)),
        ('t', Some(Why::ByDefault))
    );
}

#[test]
fn what_cannot_start_is_transient_only_if_listed() {
    let rules = rules(&[rule(false, Some("127"), None)]);
    assert_eq!(judge(&rules, not_found()), ('t', by("retry")));
    let not_executable = End::NotStarted(StartFailure {
        not_found: false,
        message: String::new(),
    });
    assert_eq!(judge(&rules, not_executable), ('p', Some(Why::CannotStart)));
}

#[test]
fn signals_and_timeouts_are_ends_like_codes() {
    let (killed, timed_out) = (End::Signaled(Signal::KILL), End::TimedOut(Bound::Deadline));
    let mut on_timeout = codes("137");
    on_timeout.add_timeout();
    let stops = rules(&[Rule {
        codes: Some(on_timeout),
        ..rule(true, None, None)
    }]);
    assert_eq!(judge(&stops, timed_out.clone()), ('p', by("stop")));
    assert_eq!(judge(&stops, killed.clone()), ('p', by("stop")));
    assert_eq!(judge(&stops, End::Exited(124)), ('t', Some(Why::ByDefault)));
    let retries = rules(&[Rule {
        codes: Some(on_timeout),
        ..rule(false, None, None)
    }]);
    assert_eq!(judge(&retries, timed_out), ('t', by("retry")));
    assert_eq!(judge(&retries, killed), ('t', by("retry")));
    assert_eq!(judge(&retries, End::Exited(1)), ('p', Some(Why::NoRuleMatched)));
    assert_eq!(
        judge(&retries, End::Signaled(Signal::PIPE)),
        ('p', Some(Why::ReaderGone))
    );
}

#[test]
fn output_can_make_a_failure_and_prove_a_success() {
    let mut rules = rules(&[]);
    (rules.success_match, rules.fail_match) = (vec![0, 1], vec![2]);
    assert_eq!(judge_output(&rules, 0, &[false, true, false]).0, 's');
    assert_eq!(judge_output(&rules, 0, &[false, false, false]).0, 't');
    assert_eq!(judge_output(&rules, 0, &[true, false, true]).0, 't');
    assert_eq!(judge_output(&rules, 1, &[true, false, false]).0, 't');
}

#[test]
fn a_rule_takes_all_its_conditions() {
    let rules = rules(&[rule(false, Some("22"), Some(0)), rule(true, None, Some(1))]);
    assert_eq!(judge_output(&rules, 22, &[true, false]), ('t', by("retry")));
    assert_eq!(
        judge_output(&rules, 22, &[false, false]),
        ('p', Some(Why::NoRuleMatched))
    );
    assert_eq!(judge_output(&rules, 1, &[true, false]), ('p', Some(Why::NoRuleMatched)));
    assert_eq!(judge_output(&rules, 22, &[true, true]), ('p', by("stop")));
    assert_eq!(judge_output(&rules, 0, &[true, true]).0, 's');
}

#[test]
fn the_predicate_is_asked_where_no_rule_decides() {
    let mut rules = rules(&[rule(false, Some("7"), None), rule(true, Some("8"), None)]);
    rules.asks = true;
    assert_eq!(judge(&rules, End::Exited(7)).0, 't');
    assert_eq!(judge(&rules, End::Exited(8)).0, 'p');
    assert_eq!(judge(&rules, End::Exited(9)).0, 'a');
    assert_eq!(judge(&rules, End::Exited(0)).0, 's');
    assert_eq!(judge(&rules, End::TimedOut(Bound::Timeout)).0, 't');
}

#[test]
fn what_makes_a_failure_of_an_exit_code_is_known() {
    let mut rules = Classifier {
        success_exit: codes("0,3"),
        success_match: vec![0],
        fail_match: vec![1],
        ..rules(&[])
    };
    let cause = |rules: &Classifier, end: End, found: [bool; 2]| {
        let seen = Seen {
            matched: found.iter().map(|found| found.then(|| "text".to_owned())).collect(),
            ..Seen::default()
        };
        let verdict = rules.judge(&Outcome {
            seen,
            ..Outcome::new(end, Duration::ZERO)
        });
        verdict.reason().map(|reason| reason.cause)
    };
    assert_eq!(cause(&rules, End::Exited(0), [true, false]), None);
    for code in [0, 3] {
        let end = || End::Exited(code);
        assert_eq!(cause(&rules, end(), [true, true]), Some(Some(FailureCause::FailMatch)));
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
    assert_eq!(cause(&rules, End::Signaled(Signal::TERM), [true, false]), Some(None));
    let shown = [
        FailureCause::SuccessExit,
        FailureCause::FailMatch,
        FailureCause::NoSuccessMatch,
        FailureCause::SuccessIf,
    ];
    assert_eq!(
        shown.map(|cause| cause.to_string()),
        [
            "not in --success-exit",
            "--fail-match",
            "no line matches --success-match",
            "--success-if says no"
        ]
    );
}

#[test]
fn a_program_that_failed_is_named() {
    let failed = |why: Why| why.failed_program();
    let how = || "exit 5".to_owned();
    let asked = Why::PredicateFailed {
        option: "--retry-if",
        how: how(),
    };
    assert_eq!(failed(asked).as_deref(), Some("--retry-if failed: exit 5"));
    let prepared = failed(Why::BeforeRetryFailed(how()));
    assert_eq!(prepared.as_deref(), Some("--before-retry failed: exit 5"));
    assert_eq!(failed(Why::ByDefault), None);
}

#[test]
fn what_is_denied_is_judged_as_a_failure() {
    let denied = |classifier: &Classifier, code: u8, found: bool| {
        let seen = Seen {
            matched: vec![found.then(|| "text".to_owned())],
            ..Seen::default()
        };
        let verdict = classifier.judge_denied(&Outcome {
            seen,
            ..Outcome::new(End::Exited(code), Duration::ZERO)
        });
        let cause = verdict.reason().and_then(|reason| reason.cause);
        assert_eq!(cause, Some(FailureCause::SuccessIf));
        shown(verdict)
    };
    assert_eq!(denied(&rules(&[]), 0, false), ('t', Some(Why::ByDefault)));
    let mut rules = rules(&[
        rule(true, None, Some(0)),
        rule(true, Some("3"), None),
        rule(false, Some("4"), None),
    ]);
    assert_eq!(denied(&rules, 0, true), ('p', by("stop")));
    assert_eq!(denied(&rules, 3, false), ('p', by("stop")));
    assert_eq!(denied(&rules, 4, false), ('t', by("retry")));
    // Here a retry rule makes no other failure permanent.
    assert_eq!(denied(&rules, 0, false), ('t', Some(Why::ByDefault)));
    rules.asks = true;
    assert_eq!(denied(&rules, 0, false), ('a', Some(Why::ByDefault)));
}

#[test]
fn every_failure_has_a_reason() {
    let mut rules = rules(&[rule(false, Some("7"), None), rule(true, Some("8"), None)]);
    rules.asks = true;
    for (code, why) in [(0, None), (7, by("retry")), (8, by("stop")), (9, Some(Why::ByDefault))] {
        let verdict = rules.judge(&Outcome::new(End::Exited(code), Duration::ZERO));
        assert_eq!(verdict.reason().map(|reason| reason.why.clone()), why, "{code}");
    }
}

#[test]
fn what_cannot_matter_any_more_is_superseded() {
    let mut rules = rules(&[
        rule(true, None, Some(0)),
        rule(false, None, Some(1)),
        rule(false, None, Some(2)),
        rule(false, Some("1"), Some(3)),
    ]);
    (rules.success_match, rules.fail_match) = (vec![4, 5], vec![6]);
    let superseded = rules.superseded(7);
    assert_eq!(superseded[0], [0, 1, 2, 3]);
    assert_eq!(superseded[1], [1, 2, 3]);
    assert!(superseded[3].is_empty());
    assert_eq!(superseded[4], [4, 5]);
    assert_eq!(superseded[6], [6, 4, 5]);
}

#[test]
fn one_rule_that_makes_a_retry_safe_is_enough() {
    let safe = |rule: Rule| Rule {
        is_safe_to_repeat: true,
        ..rule
    };
    let mut rules = rules(&[
        rule(false, None, Some(0)),
        rule(false, Some("5"), None),
        safe(rule(false, None, Some(1))),
        safe(rule(false, Some("7"), None)),
    ]);
    let is_safe = |rules: &Classifier, end: End, found: [bool; 2]| {
        let matched = found.map(|found| found.then(|| "text".to_owned())).to_vec();
        let outcome = Outcome {
            seen: Seen {
                matched,
                ..Seen::default()
            },
            ..Outcome::new(end, Duration::ZERO)
        };
        match rules.judge(&outcome) {
            Verdict::Transient(reason) => reason.is_safe_to_repeat,
            other => panic!("{other:?}"),
        }
    };
    assert!(!is_safe(&rules, End::Exited(5), [false, false]));
    assert!(!is_safe(&rules, End::Exited(9), [true, false]));
    assert!(is_safe(&rules, End::Exited(7), [true, false]));
    assert!(is_safe(&rules, End::Exited(5), [true, true]));
    // The effect of an attempt that timed out is unknown, whatever the output.
    assert!(!is_safe(&rules, End::TimedOut(Bound::Timeout), [true, true]));
    // So the search for the safe rule goes on after another rule matched.
    assert_eq!(rules.superseded(2), [vec![0], vec![0, 1]]);
    // Nothing ran.
    rules.rules.push(rule(false, Some("127"), None));
    assert!(is_safe(&rules, not_found(), [false, false]));
}
