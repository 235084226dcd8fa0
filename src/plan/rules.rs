//! Rules about failures, from options and presets. Patterns are identified by their index in one list.

use std::hash::RandomState;
use std::rc::Rc;

use crate::config::presets::{self, PresetName, RowVerdict};
use crate::config::said::{Said, UsageError};
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::classifier::{Classifier, Rule};
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;
use crate::search::scanner::MOST_PLACES;

/// The patterns of a run, added one after the other.
#[derive(Default)]
struct Patterns {
    list: Vec<Pattern>,
    places: usize,
}

impl Patterns {
    /// Adds a pattern of a statement. Returns an error if all patterns together take too long to search for.
    fn add(&mut self, pattern: Pattern, said: Option<&Said>) -> Result<usize, UsageError> {
        self.places = self.places.saturating_add(pattern.places());
        self.list.push(pattern);
        match said {
            Some(said) if self.places > MOST_PLACES => Err(said.unreadable(format!(
                "makes the patterns too large together (over {MOST_PLACES} characters and classes, repetitions written out); \
                 try smaller repetitions"
            ))),
            _ => Ok(self.list.len() - 1),
        }
    }

    fn add_all(&mut self, settings: &Settings, long: &str) -> Result<Vec<usize>, UsageError> {
        let said = settings.each(long);
        said.map(|said| self.add(said.read(values::regex)?, Some(said)))
            .collect()
    }
}

/// Returns the classifier and its patterns. `program` is the wrapped program.
pub(super) fn classifier(
    settings: &Settings,
    presets: &[PresetName],
    program: Option<&str>,
    trusted: &[PresetName],
) -> Result<(Classifier, Vec<Pattern>), UsageError> {
    let mut patterns = Patterns::default();
    let success_match = patterns.add_all(settings, "success-match")?;
    let fail_match = patterns.add_all(settings, "fail-match")?;
    let mut rules = of_options(settings, &mut patterns)?;
    add_presets(settings, presets, program, trusted, &mut patterns, &mut rules)?;
    if !patterns.list.is_empty() {
        // Regex engines need hash maps: fails before the start if no random numbers are available to seed them.
        let _ = RandomState::new();
    }
    let success_exit = settings.all("success-exit", values::success_codes)?;
    let success_exit = success_exit.into_iter().map(|codes| codes.all).reduce(CodeSet::union);
    let classifier = Classifier {
        success_exit: success_exit.unwrap_or_else(|| CodeSet::of(0)),
        success_match,
        fail_match,
        rules,
        asks: settings.said("retry-if").is_some(),
    };
    Ok((classifier, patterns.list))
}

fn of_options(settings: &Settings, patterns: &mut Patterns) -> Result<Vec<Rule>, UsageError> {
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
        let found = patterns.add_all(settings, long)?.into_iter();
        rules.extend(found.map(|pattern| rule(long, None, Some(pattern))));
    }
    for long in ["stop-exit", "retry-exit"] {
        let codes = settings.all(long, values::codes)?.into_iter().reduce(CodeSet::union);
        rules.extend(codes.map(|codes| rule(long, Some(codes), None)));
    }
    Ok(rules)
}

fn add_presets(
    settings: &Settings,
    presets: &[PresetName],
    program: Option<&str>,
    trusted: &[PresetName],
    patterns: &mut Patterns,
    rules: &mut Vec<Rule>,
) -> Result<(), UsageError> {
    let said = settings.said("for");
    let is_prepared = settings.said("before-retry").is_some();
    for (name, preset) in presets::chosen(presets, program) {
        let rule_name: Rc<str> = format!("--for {}", preset.name).into();
        for row in preset.rows() {
            let pattern = row
                .text
                .map(|text| patterns.add(Pattern::known(text), said))
                .transpose()?;
            rules.push(Rule {
                stops: match row.verdict {
                    RowVerdict::Stop => true,
                    RowVerdict::Behind => !is_prepared,
                    RowVerdict::Retry | RowVerdict::Refused => false,
                },
                codes: row.codes,
                pattern,
                is_safe_to_repeat: row.verdict == RowVerdict::Refused && trusted.contains(&name),
                name: Rc::clone(&rule_name),
            });
        }
    }
    Ok(())
}
