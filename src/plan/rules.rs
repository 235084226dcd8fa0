//! Rules about failures, from options and presets. Patterns are identified by their index in one list.

use std::rc::Rc;

use crate::command::http::is_single_request;
use crate::command::program::{Command, is_backoff};
use crate::config::presets::{self, RowVerdict};
use crate::config::settings::Settings;
use crate::config::values::{self, Parsed};
use crate::policy::classifier::{Classifier, Rule};
use crate::policy::outcome::End;
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;
use crate::search::scanner::{MOST_PLACES, Patterns};

/// The status of backoff's own errors.
const FAULT_CODE: u8 = 125;

/// Returns the classifier and its patterns.
pub(super) fn classifier(
    settings: &Settings,
    words: &[&str],
    command: &Command<'_>,
) -> Parsed<(Classifier, Patterns)> {
    let mut patterns = Vec::new();
    // Appends the patterns of an option, and returns their indexes.
    let mut add = |long: &str| -> Parsed<Vec<usize>> {
        let first = patterns.len();
        patterns.extend(settings.all(long, values::regex)?);
        Ok((first..patterns.len()).collect())
    };
    let success_match = add("success-match")?;
    let fail_match = add("fail-match")?;
    // A retry rule of the user marks the failure as safe to retry.
    let rule = |long: &str, codes, pattern| Rule {
        stops: long.starts_with("stop"),
        codes,
        pattern,
        is_safe_to_repeat: long.starts_with("retry"),
        name: format!("--{long}").into(),
    };
    // Messages name the first rule that applies. Patterns precede codes, as patterns also give the text that matched.
    let mut rules = Vec::new();
    let mut retry_exit = CodeSet::default();
    for long in ["stop-match", "retry-match"] {
        rules.extend(
            add(long)?
                .into_iter()
                .map(|pattern| rule(long, None, Some(pattern))),
        );
    }
    for long in ["stop-exit", "retry-exit"] {
        let codes = settings
            .all(long, values::codes)?
            .into_iter()
            .reduce(CodeSet::union);
        rules.extend(codes.map(|codes| rule(long, Some(codes), None)));
        if long == "retry-exit" {
            retry_exit = codes.unwrap_or_default();
        }
    }
    let has_before_retry = settings.find("before-retry").is_some();
    rules.extend(preset_rules(command, has_before_retry, &mut patterns));
    rules.extend(rule_for_inner_backoff(words, &rules));
    let places = patterns
        .iter()
        .map(Pattern::places)
        .fold(0, usize::saturating_add);
    if places > MOST_PLACES {
        let problem = format!(
            "the patterns are too large together (over {MOST_PLACES} characters and classes)"
        );
        return Err((problem + "; tip: try smaller repetitions").into());
    }
    let success_exit = settings
        .all("success-exit", values::success_codes)?
        .into_iter();
    let success_exit = success_exit.map(|codes| codes.all).reduce(CodeSet::union);
    let classifier = Classifier {
        success_exit: success_exit.unwrap_or_else(|| CodeSet::of(0)),
        success_match,
        fail_match,
        rules,
        retry_exit,
        has_retry_if: settings.find("retry-if").is_some(),
    };
    Ok((classifier, Patterns::new(patterns)))
}

/// Returns the rule that a usage error of an inner backoff is permanent, unless a rule retries its status.
fn rule_for_inner_backoff(words: &[&str], rules: &[Rule]) -> Option<Rule> {
    let mentions_backoff = words.iter().any(|word| word.contains("backoff"));
    if !mentions_backoff || !is_backoff(words) {
        return None;
    }
    let usage_error = End::Exited(FAULT_CODE);
    let retries = |rule: &Rule| {
        let has_code = rule
            .codes
            .is_some_and(|codes| codes.contains_end(&usage_error));
        has_code && &*rule.name == "--retry-exit"
    };
    if rules.iter().any(retries) {
        return None;
    }
    Some(Rule {
        stops: true,
        codes: Some(CodeSet::of(FAULT_CODE)),
        pattern: None,
        is_safe_to_repeat: false,
        name: "usage error of the inner backoff".into(),
    })
}

/// Returns the rules of presets, and appends their patterns.
fn preset_rules(
    command: &Command<'_>,
    has_before_retry: bool,
    patterns: &mut Vec<Pattern>,
) -> Vec<Rule> {
    let mut rules = Vec::new();
    // Presets share lists, and so texts.
    let mut known: Vec<(&str, usize)> = Vec::new();
    let program = command.wrapped.first().copied();
    for (name, preset) in presets::chosen(&command.presets, program) {
        // A refusal proves that nothing was done only if the program makes no other request.
        let is_proof = program.is_some_and(|program| name.is_for(program))
            && is_single_request(&command.wrapped);
        let rule_name: Rc<str> = format!("--for {}", preset.name).into();
        let has = |word| command.wrapped.contains(&word);
        for row in preset
            .rows()
            .iter()
            .filter(|row| !row.unless.is_some_and(has))
        {
            let pattern = row.text.map(|text| {
                let index = known
                    .iter()
                    .find(|(other, _)| *other == text)
                    .map(|(_, index)| *index);
                index.unwrap_or_else(|| {
                    known.push((text, patterns.len()));
                    patterns.extend(row.pattern());
                    patterns.len() - 1
                })
            });
            rules.push(Rule {
                stops: row.verdict == RowVerdict::Stop
                    || row.verdict == RowVerdict::Behind && !has_before_retry,
                codes: row.codes,
                pattern,
                is_safe_to_repeat: row.verdict == RowVerdict::Refused && is_proof,
                name: Rc::clone(&rule_name),
            });
        }
    }
    rules
}
