//! The rules about failures: those of options and of presets. Patterns are known by their place in one list.

use std::hash::RandomState;
use std::rc::Rc;

use super::idempotence::Idempotence;
use crate::cli::defaults;
use crate::config::presets::{self, PresetName, RowVerdict};
use crate::config::settings::Settings;
use crate::config::sourced::{Sourced, UsageError};
use crate::policy::classifier::{Classifier, Rule};
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
    words: &[&str],
    idempotence: &Idempotence,
) -> Result<(Classifier, Vec<Pattern>), UsageError> {
    let mut patterns = Patterns::default();
    let success_match = patterns.add_all(&settings.success_match);
    let fail_match = patterns.add_all(&settings.fail_match);
    let mut rules = of_options(settings, &mut patterns);
    add_presets(settings, words, idempotence, &mut patterns, &mut rules);
    check_places(settings, &patterns.0)?;
    let classifier = Classifier {
        success_exit: success_exit(settings),
        success_match,
        fail_match,
        rules,
        asks: settings.retry_if.is_some(),
    };
    Ok((classifier, patterns.0))
}

fn of_options(settings: &Settings, patterns: &mut Patterns) -> Vec<Rule> {
    let rule = |name: &str, stops| Rule {
        stops,
        codes: None,
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
    rules
}

/// `--success-exit`
fn success_exit(settings: &Settings) -> CodeSet {
    let said = settings.success_exit.iter().map(|said| said.value.all);
    said.reduce(CodeSet::union)
        .unwrap_or_else(|| CodeSet::of(defaults::SUCCESS_EXIT))
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
        for row in preset.rows() {
            let pattern = row.text.map(|text| patterns.add(Pattern::known(text)));
            rules.push(Rule {
                stops: match row.verdict {
                    RowVerdict::Stop => true,
                    RowVerdict::Behind => settings.before_retry.is_none(),
                    RowVerdict::Retry | RowVerdict::Refused => false,
                },
                codes: row.codes,
                pattern,
                is_safe_to_repeat: row.verdict == RowVerdict::Refused && idempotence.trusts(name),
                name: Rc::clone(&rule_name),
            });
        }
    }
}

/// Returns an error about the pattern that makes all of them together too large to be searched for soon.
fn check_places(settings: &Settings, patterns: &[Pattern]) -> Result<(), UsageError> {
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
            return Err(wrong(settings, index, &problem));
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

/// Returns the error about one of the patterns: those of options stand first, those of presets follow.
fn wrong(settings: &Settings, index: usize, problem: &str) -> UsageError {
    match (of_options_in_order(settings).nth(index), &settings.presets) {
        (Some(said), _) => said.unreadable(problem),
        (None, Some(said)) => said.unreadable(problem),
        (None, None) => UsageError(problem.to_owned()),
    }
}
