//! The rules of a policy: which failures belong to a class, and what holds for them.
//!
//! A rule is a layer of the settings: above its policy, below variables and flags. So its waits are read as all
//! waits are.

use super::streams::ReadPattern;
use super::waits;
use crate::config::settings::{Layer, Settings, Usage};
use crate::config::values;
use crate::policy::classifier::{ClassRule, Rule};
use crate::policy::session::Class;
use crate::search::pattern::Pattern;

const VERDICTS: &[(&str, bool)] = &[("transient", false), ("permanent", true)];

/// What holds for a failure that is not tried again, beside its conditions.
const OF_PERMANENT: &[&str] = &["exit", "signal", "match", "timed-out", "verdict"];

/// The rules as the classifier has them, and the patterns they look for.
pub(super) fn rules(
    rules: &[Layer],
    read_pattern: ReadPattern,
    patterns: &mut Vec<Pattern>,
) -> Result<Vec<ClassRule>, Usage> {
    let mut found = Vec::new();
    for (class, rule) in rules.iter().enumerate() {
        let mut alternatives = Vec::new();
        for pattern in rule.read_all("match", read_pattern)? {
            alternatives.push(Some(patterns.len()));
            patterns.push(pattern);
        }
        if alternatives.is_empty() {
            alternatives.push(None);
        }
        let row = ClassRule {
            rule: Rule {
                stops: stops(rule)?,
                codes: rule.read("exit", values::codes)?,
                signals: rule.read("signal", values::signals)?,
                pattern: None,
                name: rule.name.clone(),
            },
            timed_out: rule.read("timed-out", values::switch)?,
            class,
        };
        // One row for each of several patterns.
        found.extend(alternatives.into_iter().map(|pattern| ClassRule {
            rule: Rule {
                pattern,
                ..row.rule.clone()
            },
            ..row
        }));
    }
    Ok(found)
}

/// What holds for the failures of each rule.
pub(super) fn classes(settings: &Settings<'_>, rules: &[Layer]) -> Result<Vec<Class>, Usage> {
    rules
        .iter()
        .map(|rule| {
            Ok(Class {
                delays: waits::of_class(&settings.with(rule))?,
                attempts: rule.read("attempts", values::attempts)?.flatten(),
            })
        })
        .collect()
}

fn stops(rule: &Layer) -> Result<bool, Usage> {
    let stops = rule
        .read("verdict", |text| values::one_of(text, VERDICTS))?
        .unwrap_or(false);
    match rule.entries.iter().find(|entry| !OF_PERMANENT.contains(&entry.key)) {
        Some(entry) if stops => {
            let problem = format!("{:?} means nothing for a failure that is not tried again", entry.key);
            Err(rule.wrong(entry, &problem))
        }
        _ => Ok(stops),
    }
}
