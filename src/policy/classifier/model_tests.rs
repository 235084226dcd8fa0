//! Compares the classifier with a naive model on random rules. Few codes and patterns, so that several rules often
//! match one failure: which of them decides is easy to get wrong.

use proptest::prelude::*;

use super::tests::outcome;
use super::*;
use crate::policy::outcome::TimeLimit;
use crate::policy::test_samples;

/// Each rule has its own pattern.
const PATTERNS: usize = 4;

/// Generates the codes of a rule: none, or one small code, perhaps with `timeout`.
fn codes() -> impl Strategy<Value = Option<CodeSet>> {
    let codes = (0_u8..4, any::<bool>()).prop_map(|(code, timeout)| {
        let mut codes = test_samples::codes(&code.to_string());
        if timeout {
            codes.add_timeout();
        }
        codes
    });
    prop::option::of(codes)
}

/// Generates a rule. Its pattern, if any, is 0, which `classifier` replaces.
fn rule() -> impl Strategy<Value = Rule> {
    (any::<bool>(), codes(), any::<bool>(), any::<bool>()).prop_map(
        |(stops, codes, looks, safe)| Rule {
            kind: if stops {
                RuleKind::Stop
            } else {
                RuleKind::Retry
            },
            codes,
            pattern: looks.then_some(0),
            is_safe_to_repeat: safe && !stops,
            name: format!("{stops} {codes:?}").into(),
        },
    )
}

/// Generates a classifier with up to [`PATTERNS`] rules. The pattern of a rule has the rule's own index.
fn classifier() -> impl Strategy<Value = Classifier> {
    prop::collection::vec(rule(), 0..=PATTERNS).prop_map(|mut rules| {
        for (own, rule) in rules.iter_mut().enumerate() {
            rule.pattern = rule.pattern.map(|_| own);
        }
        Classifier {
            success_exit: test_samples::codes("0"),
            rules,
            ..Classifier::default()
        }
    })
}

#[derive(Debug, PartialEq, Eq)]
enum VerdictKind {
    Success,
    Permanent,
    /// True if a retry is safe to repeat.
    Transient(bool),
}

/// Returns the part of a verdict that the model predicts.
fn shown(verdict: &Verdict) -> VerdictKind {
    match verdict {
        Verdict::Success => VerdictKind::Success,
        Verdict::Transient(reason) => VerdictKind::Transient(reason.is_safe_to_repeat),
        Verdict::Permanent(_) => VerdictKind::Permanent,
        Verdict::Ask(_) => unreachable!("the model has no predicates"),
    }
}

/// Judges by the text of the manual. `code` is None after a timeout; `found` says of each pattern if the output
/// matched.
fn naive(classifier: &Classifier, code: Option<u8>, found: &[bool]) -> VerdictKind {
    let holds = |rule: &Rule| {
        rule.codes
            .is_none_or(|codes| code.map_or(codes.contains_timeout(), |code| codes.contains(code)))
            && rule.pattern.is_none_or(|pattern| found[pattern])
    };
    if code == Some(0) {
        return VerdictKind::Success;
    }
    let timed_out = code.is_none();
    if classifier
        .rules
        .iter()
        .any(|rule| rule.kind == RuleKind::Stop && holds(rule))
    {
        return VerdictKind::Permanent;
    }
    let mut retries = classifier
        .rules
        .iter()
        .filter(|rule| rule.kind == RuleKind::Retry)
        .peekable();
    if timed_out {
        let mut naming = retries
            .filter(|rule| rule.codes.is_some_and(|codes| codes.contains_timeout()) && holds(rule));
        return VerdictKind::Transient(naming.any(|rule| rule.is_safe_to_repeat));
    }
    if retries.peek().is_none() {
        return VerdictKind::Transient(false);
    }
    let met: Vec<&Rule> = retries.filter(|rule| holds(rule)).collect();
    if met.is_empty() {
        return VerdictKind::Permanent;
    }
    VerdictKind::Transient(met.iter().any(|rule| rule.is_safe_to_repeat))
}

proptest! {
    // A fault here needs several rules that match together.
    #![proptest_config(ProptestConfig::with_cases(5000))]

    /// Asserts that any stop rule that applies makes a failure permanent, wherever it stands; else any retry rule makes
    /// it transient, and any that is safe to repeat makes it safe. Which rule the verdict names is not compared.
    #[test]
    fn rules_decide_as_in_the_naive_model(
        classifier in classifier(),
        code in prop::option::of(0_u8..4),
        found in prop::collection::vec(any::<bool>(), PATTERNS),
    ) {
        let verdict = classifier.judge(&outcome(code.map_or(End::TimedOut(TimeLimit::Timeout), End::Exited), &found));
        prop_assert_eq!(shown(&verdict), naive(&classifier, code, &found));
    }
}
