//! Compares the classifier with a naive model on random rules. There are few codes and patterns, so several rules often
//! match one failure. Which of them decides is easy to get wrong.

use std::time::Duration;

use proptest::prelude::*;

use super::tests::{examined, pattern};
use super::*;
use crate::policy::outcome::TimeLimit;
use crate::policy::test_samples;

/// Limit on the user's rules, and on those of presets.
const RULES: usize = 3;

/// Generates the codes of a rule: none, or one small code, possibly with `timeout`.
fn codes() -> impl Strategy<Value = Option<CodeSet>> {
    let codes = (0_u8..4, any::<bool>()).prop_map(|(code, timeout)| {
        let timeout = if timeout { ",timeout" } else { "" };
        test_samples::codes(&format!("{code}{timeout}"))
    });
    prop::option::of(codes)
}

/// Generates rules, each with or without the pattern of its number. Numbers begin at `first`.
fn rules(first: usize) -> impl Strategy<Value = Vec<Rule>> {
    let rule = (any::<bool>(), codes(), any::<bool>(), any::<bool>());
    prop::collection::vec(rule, 0..=RULES).prop_map(move |rules| {
        let numbered = rules.into_iter().zip(first..);
        let rules = numbered.map(|((stops, codes, looks, safe), number)| Rule {
            kind: if stops {
                RuleKind::Stop
            } else {
                RuleKind::Retry
            },
            codes,
            pattern: looks.then(|| pattern(number)),
            is_safe_to_repeat: safe && !stops,
            name: format!("{stops} {codes:?}").into(),
        });
        rules.collect()
    })
}

/// Generates a classifier with its rules in the order of the plan.
fn classifier() -> impl Strategy<Value = Classifier> {
    (rules(0), rules(RULES)).prop_map(|(mut rules, mut of_presets)| {
        for rule in &mut rules {
            rule.is_safe_to_repeat = rule.kind == RuleKind::Retry;
        }
        rules.sort_by_key(|rule| rule.pattern.is_none());
        of_presets.sort_by_key(|rule| !rule.is_safe_to_repeat);
        let has_presets = !of_presets.is_empty();
        Classifier {
            success_exit: test_samples::codes("0"),
            rules,
            preset_rules: has_presets.then(|| PresetRules::new(Box::new(|| of_presets))),
            ..Classifier::default()
        }
    })
}

#[derive(Debug, PartialEq, Eq)]
enum VerdictKind {
    Success,
    Permanent,
    /// True if it is safe to repeat.
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

/// Judges as the manual says. `code` is None after a timeout, and `found` tells which patterns match.
fn naive(classifier: &Classifier, code: Option<u8>, found: &[bool]) -> VerdictKind {
    let is_found = |pattern: &Pattern| {
        (0..found.len())
            .any(|number| found[number] && pattern.text() == super::tests::pattern(number).text())
    };
    let holds = |rule: &&Rule| {
        let is_code = rule.codes.is_none_or(|codes| match code {
            Some(code) => codes.contains(code),
            None => codes.contains_timeout(),
        });
        let is_blind = rule.kind == RuleKind::Retry && rule.codes.is_none() && code.is_none();
        is_code && !is_blind && rule.pattern.as_ref().is_none_or(is_found)
    };
    let of = |rules: &[Rule], kind: RuleKind| -> Vec<Rule> {
        let rules = rules.iter().filter(|rule| rule.kind == kind);
        rules.filter(holds).cloned().collect()
    };
    let (own, presets) = (&classifier.rules, classifier.rules_of_presets());
    let retries = of(own, RuleKind::Retry);
    let preset_retries = of(presets, RuleKind::Retry);
    let has_retry_rule = !presets.is_empty() || own.iter().any(|rule| rule.kind == RuleKind::Retry);
    if code == Some(0) {
        VerdictKind::Success
    } else if !of(own, RuleKind::Stop).is_empty() {
        VerdictKind::Permanent
    } else if retries.iter().any(|rule| rule.pattern.is_some()) {
        VerdictKind::Transient(true)
    } else if !of(presets, RuleKind::Stop).is_empty() {
        VerdictKind::Permanent
    } else if !retries.is_empty() {
        VerdictKind::Transient(true)
    } else if !preset_retries.is_empty() {
        VerdictKind::Transient(preset_retries.iter().any(|rule| rule.is_safe_to_repeat))
    } else if code.is_none() || !has_retry_rule {
        VerdictKind::Transient(false)
    } else {
        VerdictKind::Permanent
    }
}

proptest! {
    // A bug here only shows if several rules match together.
    #![proptest_config(ProptestConfig::with_cases(5000))]

    /// Asserts which kind of rule wins, but not which rule the verdict names.
    #[test]
    fn rules_decide_as_in_the_naive_model(
        classifier in classifier(),
        code in prop::option::of(0_u8..4),
        found in prop::collection::vec(any::<bool>(), 2 * RULES),
    ) {
        let end = code.map_or(End::TimedOut(TimeLimit::Timeout), End::Exited);
        let verdict = classifier.judge(&Outcome::new(end, Duration::ZERO), &examined(&found));
        prop_assert_eq!(shown(&verdict), naive(&classifier, code, &found));
    }
}
