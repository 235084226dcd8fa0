//! Policies: which one was chosen, and whether all of them are right.

use super::resolve::{plan_of, value};
use crate::cli::parse::CommandLine;
use crate::config::load::{Config, Policy, PolicySource};
use crate::config::settings::{Layer, Settings, Usage};
use crate::config::values;
use crate::search::pattern::Pattern;

/// Judges all that a configuration file says, also what is not used now: a mistake must not wait for the night in
/// which its policy is chosen. Only that a regular expression is too large is not found here; that takes long.
pub(super) fn check(config: &Config) -> Result<(), Usage> {
    let nothing = CommandLine::default();
    let defaults = Settings::new(&nothing, &[]).with(&config.defaults);
    if !config.defaults.entries.is_empty() {
        let (settings, rules) = with(&defaults, chosen(&defaults, config)?);
        plan_of(&settings, rules, &[], Pattern::parse)?;
    }
    for policy in &config.policies {
        if matches!(policy.source, PolicySource::File { .. }) {
            let (settings, rules) = with(&defaults, Some(policy));
            plan_of(&settings, rules, &[], Pattern::parse)?;
        }
    }
    Ok(())
}

/// `--policy`
pub(super) fn chosen<'c>(settings: &Settings<'_>, config: &'c Config) -> Result<Option<&'c Policy>, Usage> {
    let policies: Vec<_> = config.policies.iter().map(|policy| (&*policy.name, policy)).collect();
    Ok(value(settings.read("policy", |text| values::one_of(text, &policies))?))
}

/// A policy is weaker than flags and variables, and stronger than `[defaults]`.
pub(super) fn with<'a>(settings: &Settings<'a>, policy: Option<&'a Policy>) -> (Settings<'a>, &'a [Layer]) {
    match policy {
        Some(policy) => (settings.with(&policy.sets), &policy.rules),
        None => (settings.clone(), &[]),
    }
}
