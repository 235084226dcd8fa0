//! Rules by class of failure as mathematics: the classifier and the session against naive models.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::time::Duration;

use backoff_cli::config::values;
use backoff_cli::policy::classifier::{ClassRule, Classifier, Reason, Rule, Verdict, Why};
use backoff_cli::policy::delay::{Delays, Growth, Jitter};
use backoff_cli::policy::outcome::{Bound, End, Outcome, Seen};
use backoff_cli::policy::session::{Class, Decision, GiveUp, Limits, Session, Stop};
use backoff_cli::policy::sets::CodeSet;
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Each rule has one of its own: the first four are for rules, the others for classes.
const PATTERNS: usize = 8;

fn codes() -> impl Strategy<Value = Option<CodeSet>> {
    prop::option::of((0_u8..4).prop_map(|code| values::codes(&code.to_string()).unwrap()))
}

fn rule() -> impl Strategy<Value = Rule> {
    (any::<bool>(), codes(), any::<bool>()).prop_map(|(stops, codes, looks)| Rule {
        stops,
        codes,
        signals: None,
        pattern: looks.then_some(0),
        name: format!("{stops} {codes:?}"),
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
            success_exit: values::codes("0").unwrap(),
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

/// Some(true) is permanent, Some(false) transient, None a success; and the class.
fn shown(verdict: &Verdict) -> (Option<bool>, Option<usize>) {
    match verdict {
        Verdict::Success => (None, None),
        Verdict::Transient(reason) => (Some(false), reason.class),
        Verdict::Permanent(reason) => (Some(true), reason.class),
        Verdict::Ask(_) => unreachable!("nobody asks"),
    }
}

/// What the manual says, word by word.
fn naive(classifier: &Classifier, code: Option<u8>, found: &[bool]) -> (Option<bool>, Option<usize>) {
    let holds = |rule: &Rule| {
        rule.codes
            .is_none_or(|codes| code.is_some_and(|code| codes.contains(code)))
            && rule.pattern.is_none_or(|pattern| found[pattern])
    };
    if code == Some(0) {
        return (None, None);
    }
    let timed_out = code.is_none();
    // Stop rules about exit codes say nothing of a time-out, and one without any condition does not exist.
    let stops = |rule: &&Rule| rule.stops && holds(rule) && (!timed_out || rule.pattern.is_some());
    if classifier.rules.iter().any(|rule| stops(&rule)) || (timed_out && classifier.stop_on_timeout) {
        return (Some(true), None);
    }
    for class in &classifier.classes {
        if holds(&class.rule) && class.timed_out != Some(!timed_out) {
            return (Some(class.rule.stops), Some(class.class));
        }
    }
    let mut retries = classifier.rules.iter().filter(|rule| !rule.stops).peekable();
    if timed_out || retries.peek().is_none() {
        return (Some(false), None);
    }
    (Some(!retries.any(holds)), None)
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

    /// What is moot once another pattern was found may be looked for no longer.
    #[test]
    fn nothing_that_is_moot_changes_a_verdict(
        classifier in classifier(),
        code in prop::option::of(0_u8..4),
        order in Just((0..PATTERNS).collect::<Vec<_>>()).prop_shuffle(),
        there in prop::collection::vec(any::<bool>(), PATTERNS),
    ) {
        let moot = classifier.moot(PATTERNS);
        let mut open = [true; PATTERNS];
        let mut found = vec![false; PATTERNS];
        for pattern in order {
            if open[pattern] && there[pattern] {
                found[pattern] = true;
                for other in &moot[pattern] {
                    open[*other] = false;
                }
            }
        }
        let all = classifier.judge(&outcome(code, &there));
        let some = classifier.judge(&outcome(code, &found));
        prop_assert_eq!(shown(&all), shown(&some));
    }

    /// Each class counts and grows by itself.
    #[test]
    fn each_class_has_waits_of_its_own(
        terms in prop::collection::vec((1_u64..1000, 1_u32..4, prop::option::of(1_u64..5)), 1..4),
        failures in prop::collection::vec(0_usize..4, 1..20),
        attempts in prop::option::of(1_u64..15),
    ) {
        let delays = |base: u64, factor: u32| Delays {
            base: Duration::from_millis(base),
            cap: Duration::from_secs(30),
            growth: Growth::Exponential { factor: f64::from(factor) },
            jitter: Jitter::None,
        };
        let classes: Vec<Class> = terms
            .iter()
            .map(|(base, factor, attempts)| Class { delays: delays(*base, *factor), attempts: *attempts })
            .collect();
        let limits = Limits {
            attempts,
            deadline: None,
            stop_at_delay: None,
            reset_after: None,
            consecutive: 1,
            max_asked: None,
            leave_to_outer: false,
        };
        let ordinary = delays(500, 2);
        let mut session = Session::new(&limits, &ordinary, &classes);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = vec![0_u64; classes.len() + 1];
        for (kind, total) in failures.into_iter().zip(1_u64..) {
            let kind = kind % counts.len();
            let class = kind.checked_sub(1);
            let verdict = Verdict::Transient(Reason { why: Why::ByDefault, matched: None, unproven: false, class });
            let decision = session.next(&outcome(Some(1), &[]), &verdict, Duration::ZERO, &mut rng);
            let delays = class.map_or(&ordinary, |class| &classes[class].delays);
            let expected = Decision::Retry(delays.unjittered(counts[kind]));
            counts[kind] += 1;
            let of_class = class.and_then(|class| classes[class].attempts);
            let expected = match decision {
                _ if attempts == Some(total) => Decision::Stop(Stop::GaveUp(GiveUp::Attempts)),
                _ if of_class == Some(counts[kind]) => Decision::Stop(Stop::GaveUp(GiveUp::AttemptsOfClass)),
                _ => expected,
            };
            prop_assert_eq!(decision, expected);
            if let Decision::Stop(_) = decision {
                break;
            }
        }
    }
}
