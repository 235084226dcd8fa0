//! Rules about failures, from options and presets. Patterns are identified by their index in one list.

use std::hash::RandomState;
use std::rc::Rc;

use super::idempotence::is_single_request;
use super::program::Command;
use crate::config::presets::{self, RowVerdict};
use crate::config::said::{Said, UsageError};
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::classifier::{Classifier, Rule};
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;
use crate::search::scanner::MOST_PLACES;

/// The patterns of a run, each with its statement.
type Patterns<'s> = Vec<(Pattern, &'s Said)>;

/// Returns the classifier and its patterns.
pub(super) fn classifier(settings: &Settings, command: &Command<'_>) -> Result<(Classifier, Vec<Pattern>), UsageError> {
    let mut patterns = Patterns::new();
    let success_match = add(settings, "success-match", &mut patterns)?;
    let fail_match = add(settings, "fail-match", &mut patterns)?;
    let mut rules = of_options(settings, &mut patterns)?;
    if let Some(said) = settings.said("for") {
        let is_prepared = settings.said("before-retry").is_some();
        add_presets(command, is_prepared, said, &mut patterns, &mut rules);
    }
    let mut places = 0_usize;
    for (pattern, said) in &patterns {
        places = places.saturating_add(pattern.places());
        if places > MOST_PLACES {
            return Err(said.unreadable(format!(
                "makes the patterns too large together (over {MOST_PLACES} characters and classes, repetitions written out); \
                 try smaller repetitions"
            )));
        }
    }
    if !patterns.is_empty() {
        // Regex engines need hash maps: fails before the start if no random numbers are available to seed them.
        let _ = RandomState::new();
    }
    let success_exit = settings.all("success-exit", values::success_codes)?.into_iter();
    let success_exit = success_exit.map(|codes| codes.all).reduce(CodeSet::union);
    let classifier = Classifier {
        success_exit: success_exit.unwrap_or_else(|| CodeSet::of(0)),
        success_match,
        fail_match,
        rules,
        asks: settings.said("retry-if").is_some(),
    };
    Ok((classifier, patterns.into_iter().map(|(pattern, _)| pattern).collect()))
}

/// Adds the patterns of an option and returns their indices.
fn add<'s>(settings: &'s Settings, long: &str, patterns: &mut Patterns<'s>) -> Result<Vec<usize>, UsageError> {
    let first = patterns.len();
    for said in settings.each(long) {
        patterns.push((said.read(values::regex)?, said));
    }
    Ok((first..patterns.len()).collect())
}

fn of_options<'s>(settings: &'s Settings, patterns: &mut Patterns<'s>) -> Result<Vec<Rule>, UsageError> {
    let mut rules = Vec::new();
    // A retry rule of the user marks the failure as safe to retry.
    let rule = |long: &str, codes, pattern| Rule {
        stops: long.starts_with("stop"),
        codes,
        pattern,
        is_safe_to_repeat: long.starts_with("retry"),
        name: format!("--{long}").into(),
    };
    for long in ["stop-match", "retry-match"] {
        let added = add(settings, long, patterns)?.into_iter();
        rules.extend(added.map(|pattern| rule(long, None, Some(pattern))));
    }
    for long in ["stop-exit", "retry-exit"] {
        let codes = settings.all(long, values::codes)?.into_iter().reduce(CodeSet::union);
        rules.extend(codes.map(|codes| rule(long, Some(codes), None)));
    }
    Ok(rules)
}

/// Adds the rules of presets. A refusal proves that nothing was done only if it is of the program's only request.
fn add_presets<'s>(
    command: &Command<'_>,
    is_prepared: bool,
    said: &'s Said,
    patterns: &mut Patterns<'s>,
    rules: &mut Vec<Rule>,
) {
    let program = command.wrapped.first().copied();
    for (name, preset) in presets::chosen(&command.presets, program) {
        let is_its_own = program.is_some_and(|program| name.is_for(program));
        let is_trusted = is_its_own && is_single_request(&command.wrapped);
        let rule_name: Rc<str> = format!("--for {}", preset.name).into();
        for row in preset.rows() {
            let pattern = row.text.map(|text| {
                patterns.push((Pattern::known(text), said));
                patterns.len() - 1
            });
            rules.push(Rule {
                stops: match row.verdict {
                    RowVerdict::Stop => true,
                    RowVerdict::Behind => !is_prepared,
                    RowVerdict::Retry | RowVerdict::Refused => false,
                },
                codes: row.codes,
                pattern,
                is_safe_to_repeat: row.verdict == RowVerdict::Refused && is_trusted,
                name: Rc::clone(&rule_name),
            });
        }
    }
}
