//! The rules about failures: those of options, of presets, and of the policy. Patterns are known by their place in one
//! list.

use std::hash::RandomState;
use std::rc::Rc;

use super::idempotence::Idempotence;
use super::layers::Layers;
use super::waits;
use crate::cli::defaults;
use crate::config::layer::PolicyRule;
use crate::config::presets::{self, PresetName, RowVerdict};
use crate::config::settings::{Settings, is_on};
use crate::config::sourced::{Sourced, UsageError, value};
use crate::policy::classifier::{ClassRule, Classifier, Rule};
use crate::policy::session::FailureClass;
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;
use crate::search::scanner::MOST_PLACES;

/// What is looked for so far.
#[derive(Default)]
struct Patterns(Vec<Pattern>);

impl Patterns {
    fn add(&mut self, pattern: Pattern) -> usize {
        self.0.push(pattern);
        self.0.len() - 1
    }

    fn add_all(&mut self, said: &[Sourced<Pattern>]) -> Vec<usize> {
        said.iter().map(|pattern| self.add(pattern.value.clone())).collect()
    }
}

/// The classifier, and the patterns that it goes by. `words` are those of the program in the end.
pub(super) fn classifier(
    settings: &Settings,
    layers: &Layers<'_>,
    words: &[&str],
    idempotence: &Idempotence,
) -> Result<(Classifier, Vec<Pattern>), UsageError> {
    let mut patterns = Patterns::default();
    let success_match = patterns.add_all(&settings.success_match);
    let fail_match = patterns.add_all(&settings.fail_match);
    let mut rules = of_options(settings, &mut patterns);
    add_presets(settings, words, idempotence, &mut patterns, &mut rules);
    let classes = of_policy(layers, &mut patterns);
    check_places(settings, layers, &patterns.0)?;
    let classifier = Classifier {
        success_exit: codes(&settings.success_exit).unwrap_or_else(|| CodeSet::of(defaults::SUCCESS_EXIT)),
        success_match,
        fail_match,
        rules,
        classes,
        stop_on_timeout: is_on(&settings.stop_on_timeout),
        asks: settings.retry_if.is_some(),
    };
    Ok((classifier, patterns.0))
}

fn of_options(settings: &Settings, patterns: &mut Patterns) -> Vec<Rule> {
    let rule = |name: &str, stops| Rule {
        stops,
        codes: None,
        signals: None,
        pattern: None,
        // A user who asks for a retry says that it may be.
        is_safe_to_repeat: !stops,
        name: format!("--{name}").into(),
    };
    let mut rules = Vec::new();
    for (name, stops, said) in [
        ("stop-match", true, &settings.stop_match),
        ("retry-match", false, &settings.retry_match),
    ] {
        rules.extend(patterns.add_all(said).into_iter().map(|pattern| Rule {
            pattern: Some(pattern),
            ..rule(name, stops)
        }));
    }
    for (name, stops, said) in [
        ("stop-exit", true, &settings.stop_exit),
        ("retry-exit", false, &settings.retry_exit),
    ] {
        rules.extend(codes(said).map(|codes| Rule {
            codes: Some(codes),
            ..rule(name, stops)
        }));
    }
    for (name, stops, said) in [
        ("stop-signal", true, &settings.stop_signal),
        ("retry-signal", false, &settings.retry_signal),
    ] {
        rules.extend(value(said).map(|signals| Rule {
            signals: Some(signals),
            ..rule(name, stops)
        }));
    }
    rules
}

/// The codes of an option that adds up; None where nothing was said.
fn codes(said: &[Sourced<CodeSet>]) -> Option<CodeSet> {
    said.iter().map(|codes| codes.value).reduce(CodeSet::union)
}

/// `--for`
fn add_presets(
    settings: &Settings,
    words: &[&str],
    idempotence: &Idempotence,
    patterns: &mut Patterns,
    rules: &mut Vec<Rule>,
) {
    let names: &[PresetName] = settings.presets.as_ref().map_or(&[], |said| &said.value);
    for (name, preset) in presets::chosen(names, words.first().copied()) {
        let rule_name: Rc<str> = format!("--for {}", preset.name).into();
        rules.reserve(preset.rows.len());
        patterns.0.reserve(preset.rows.len());
        for row in &preset.rows {
            let pattern = row.text.map(|text| patterns.add(Pattern::known(text)));
            rules.push(Rule {
                stops: match row.verdict {
                    RowVerdict::Stop => true,
                    RowVerdict::Behind => settings.before_retry.is_none(),
                    RowVerdict::Retry | RowVerdict::Refused => false,
                },
                codes: row.codes,
                signals: None,
                pattern,
                is_safe_to_repeat: row.verdict == RowVerdict::Refused && idempotence.trusts(name),
                name: Rc::clone(&rule_name),
            });
        }
    }
}

/// The rules of the policy. Each of several patterns has a row of its own.
fn of_policy(layers: &Layers<'_>, patterns: &mut Patterns) -> Vec<ClassRule> {
    let mut rows = Vec::new();
    for (class, rule) in layers.rules().iter().enumerate() {
        let mut alternatives: Vec<Option<usize>> = Vec::new();
        alternatives.extend(
            rule.patterns
                .iter()
                .map(|(pattern, _)| Some(patterns.add(pattern.clone()))),
        );
        if alternatives.is_empty() {
            alternatives.push(None);
        }
        rows.extend(alternatives.into_iter().map(|pattern| ClassRule {
            rule: Rule {
                stops: rule.stops,
                codes: rule.exit,
                signals: rule.signals,
                pattern,
                is_safe_to_repeat: !rule.stops,
                name: rule.name.to_string().into(),
            },
            timed_out: rule.timed_out,
            class,
        }));
    }
    rows
}

/// What holds for the failures of each rule of the policy.
pub(super) fn classes(layers: &Layers<'_>) -> Result<Vec<FailureClass>, UsageError> {
    layers.rules().iter().map(|rule| class(layers, rule)).collect()
}

/// Few policies have rules, and it takes much of the stack.
#[inline(never)]
fn class(layers: &Layers<'_>, rule: &PolicyRule) -> Result<FailureClass, UsageError> {
    Ok(FailureClass {
        delays: waits::of_class(&layers.of_rule(rule)?)?,
        attempts: value(&rule.settings.attempts).flatten(),
    })
}

/// Returns an error about the pattern that makes all of them together too large to be searched for soon.
fn check_places(settings: &Settings, layers: &Layers<'_>, patterns: &[Pattern]) -> Result<(), UsageError> {
    if !patterns.is_empty() {
        // Engines need hash maps: if there are no random numbers to seed them, that is an error before the start.
        let _ = RandomState::new();
    }
    let mut places: usize = 0;
    for (index, pattern) in patterns.iter().enumerate() {
        places = places.saturating_add(pattern.places());
        if places > MOST_PLACES {
            let problem = format!(
                "makes the patterns too large together (over {MOST_PLACES} characters and classes, repetitions written out); \
                 try smaller repetitions"
            );
            return Err(wrong(settings, layers, patterns.len(), index, &problem));
        }
    }
    Ok(())
}

/// The patterns of options, in the order of the list.
fn of_options_in_order(settings: &Settings) -> impl Iterator<Item = &Sourced<Pattern>> {
    [
        &settings.success_match,
        &settings.fail_match,
        &settings.stop_match,
        &settings.retry_match,
    ]
    .into_iter()
    .flatten()
}

/// The error that there is something wrong with one of the patterns in the list of so many: those of options, of presets, of
/// the policy's rules.
fn wrong(settings: &Settings, layers: &Layers<'_>, count: usize, index: usize, problem: &str) -> UsageError {
    if let Some(said) = of_options_in_order(settings).nth(index) {
        return said.unreadable(problem);
    }
    let of_rules: Vec<_> = layers.rules().iter().flat_map(|rule| &rule.patterns).collect();
    let of_rule = (index + of_rules.len())
        .checked_sub(count)
        .and_then(|at| of_rules.get(at));
    match (of_rule, &settings.presets) {
        (Some((pattern, source)), _) => source.wrong(&format!("{:?} {problem}", pattern.as_str())),
        (None, Some(said)) => said.unreadable(problem),
        (None, None) => UsageError(problem.to_owned()),
    }
}
