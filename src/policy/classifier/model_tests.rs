//! The classifier against a naive model.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::policy::outcome::Bound;
use crate::policy::samples;

/// Each rule has one of its own: the first four are for rules, the others for classes.
const PATTERNS: usize = 8;

fn codes() -> impl Strategy<Value = Option<CodeSet>> {
    prop::option::of((0_u8..4).prop_map(|code| samples::codes(&code.to_string())))
}

fn rule() -> impl Strategy<Value = Rule> {
    (any::<bool>(), codes(), any::<bool>(), any::<bool>()).prop_map(|(stops, codes, looks, safe)| Rule {
        stops,
        codes,
        signals: None,
        pattern: looks.then_some(0),
        is_safe_to_repeat: safe && !stops,
        name: format!("{stops} {codes:?}").into(),
    })
}

/// The same with the patterns from `first` on.
fn numbered(mut rules: Vec<Rule>, first: usize) -> Vec<Rule> {
    for (rule, own) in rules.iter_mut().zip(first..) {
        rule.pattern = rule.pattern.map(|_| own);
    }
    rules
}

fn classifier() -> impl Strategy<Value = Classifier> {
    let classes = prop::collection::vec((rule(), any::<Option<bool>>()), 0..=4).prop_map(|rules| {
        let (rules, timed_out): (Vec<_>, Vec<_>) = rules.into_iter().unzip();
        let rules = numbered(rules, 4).into_iter().zip(timed_out).enumerate();
        rules
            .map(|(class, (rule, timed_out))| ClassRule { rule, timed_out, class })
            .collect()
    });
    (prop::collection::vec(rule(), 0..=4), classes, any::<bool>()).prop_map(|(rules, classes, stop_on_timeout)| {
        Classifier {
            success_exit: samples::codes("0"),
            rules: numbered(rules, 0),
            classes,
            stop_on_timeout,
            ..Classifier::default()
        }
    })
}

/// The code that it exited with; None is a time-out.
fn outcome(code: Option<u8>, found: &[bool]) -> Outcome {
    let end = code.map_or(End::TimedOut(Bound::Timeout), End::Exited);
    let matched = found.iter().map(|found| found.then(|| "text".to_owned())).collect();
    let seen = Seen {
        matched,
        ..Seen::default()
    };
    Outcome {
        seen,
        ..Outcome::new(end, Duration::ZERO)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Success,
    Permanent,
    /// Whether it is safe to repeat.
    Transient(bool),
}

/// The verdict, and the class.
fn shown(verdict: &Verdict) -> (Judged, Option<usize>) {
    match verdict {
        Verdict::Success => (Judged::Success, None),
        Verdict::Transient(reason) => (Judged::Transient(reason.is_safe_to_repeat), reason.class),
        Verdict::Permanent(reason) => (Judged::Permanent, reason.class),
        Verdict::Ask(_) => unreachable!("nobody asks"),
    }
}

/// What the manual says, word by word.
fn naive(classifier: &Classifier, code: Option<u8>, found: &[bool]) -> (Judged, Option<usize>) {
    let holds = |rule: &Rule| {
        rule.codes
            .is_none_or(|codes| code.is_some_and(|code| codes.contains(code)))
            && rule.pattern.is_none_or(|pattern| found[pattern])
    };
    if code == Some(0) {
        return (Judged::Success, None);
    }
    let timed_out = code.is_none();
    // Stop rules about exit codes say nothing of a time-out, and one without any condition does not exist.
    let stops = |rule: &&Rule| rule.stops && holds(rule) && (!timed_out || rule.pattern.is_some());
    if classifier.rules.iter().any(|rule| stops(&rule)) || (timed_out && classifier.stop_on_timeout) {
        return (Judged::Permanent, None);
    }
    for class in &classifier.classes {
        if holds(&class.rule) && class.timed_out != Some(!timed_out) {
            let judged = if class.rule.stops {
                Judged::Permanent
            } else {
                Judged::Transient(class.rule.is_safe_to_repeat)
            };
            return (judged, Some(class.class));
        }
    }
    let mut retries = classifier.rules.iter().filter(|rule| !rule.stops).peekable();
    if timed_out || retries.peek().is_none() {
        return (Judged::Transient(false), None);
    }
    let met: Vec<&Rule> = retries.filter(|rule| holds(rule)).collect();
    if met.is_empty() {
        return (Judged::Permanent, None);
    }
    (Judged::Transient(met.iter().any(|rule| rule.is_safe_to_repeat)), None)
}

proptest! {
    // What goes wrong here takes several rules that have to meet.
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn the_first_rule_that_applies_decides(
        classifier in classifier(),
        code in prop::option::of(0_u8..4),
        found in prop::collection::vec(any::<bool>(), PATTERNS),
    ) {
        let verdict = classifier.judge(&outcome(code, &found));
        prop_assert_eq!(shown(&verdict), naive(&classifier, code, &found));
    }

    /// What is superseded once another pattern was found may be looked for no longer.
    #[test]
    fn nothing_that_is_superseded_changes_a_verdict(
        classifier in classifier(),
        code in prop::option::of(0_u8..4),
        order in Just((0..PATTERNS).collect::<Vec<_>>()).prop_shuffle(),
        there in prop::collection::vec(any::<bool>(), PATTERNS),
    ) {
        let superseded = classifier.superseded(PATTERNS);
        let mut open = [true; PATTERNS];
        let mut found = vec![false; PATTERNS];
        for pattern in order {
            if open[pattern] && there[pattern] {
                found[pattern] = true;
                for other in &superseded[pattern] {
                    open[*other] = false;
                }
            }
        }
        let all = classifier.judge(&outcome(code, &there));
        let some = classifier.judge(&outcome(code, &found));
        prop_assert_eq!(shown(&all), shown(&some));
    }
}
