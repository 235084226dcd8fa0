//! What this invocation is for, and the plan for it.

use std::ffi::OsString;
use std::rc::Rc;

use super::assemble::{Outer, plan};
use super::layers::Layers;
use super::program::wrapped_program;
use super::{effective, remarks, waits};
use crate::budget::client::Store;
use crate::cli::words::Document;
use crate::config::layer::Policy;
use crate::config::load::Config;
use crate::config::settings::{Settings, is_on};
use crate::config::sourced::UsageError;
use crate::run::plan::Plan;

/// What this invocation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Run the command.
    Run,
    /// Print the waits.
    Plan,
    /// `--plot`
    Plot,
    /// Print the names of presets, or the rules of those that stand in the place of a command.
    ListPresets,
    ListPolicies,
    Generate(Document),
}

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) action: Action,
    pub(crate) plan: Plan,
    /// Where the plan's budget is kept.
    pub(crate) store: Store,
}

/// What flags and variables ask for, with the configuration behind them.
pub(crate) fn resolve(
    said: &Settings,
    command: &[OsString],
    variables: &[(OsString, OsString)],
    config: &Config,
) -> Result<Request, UsageError> {
    check(config)?;
    let defaults = defaults(config);
    let layers = Layers {
        policy: chosen([Some(said), defaults], config)?,
        defaults,
    };
    let mut settings = said.clone();
    layers.fill_in(&mut settings)?;
    let action = action(&settings, command)?;
    // Only presets go by it.
    let words = settings
        .presets
        .as_ref()
        .map_or_else(Vec::new, |_| wrapped_program(command));
    let (mut plan, store) = plan(&settings, command, &words, Outer::from(variables))?;
    // The outermost run has said it for those within.
    if plan.nesting.depth == 1 || plan.output.verbosity >= 1 {
        plan.warnings = remarks::misspelt(variables);
    }
    if plan.output.verbosity >= 1 {
        plan.remarks = remarks::unknown(variables);
        plan.remarks.extend(waits::raised_cap(&settings, &plan.delays));
        let is_found = |_: &&String| settings.idempotent.is_none();
        let why_not = plan.not_idempotent.as_ref().filter(is_found);
        plan.remarks
            .extend(why_not.map(|why| format!("--idempotent no: {why}")));
    }
    plan.remarks_on_failure = remarks::on_failure(&settings, &words);
    plan.remark_on_retry = remarks::on_retry(&settings, command);
    if plan.output.verbosity >= 2 {
        plan.effective = effective::settings(&settings, &config.file, &plan, words.first().copied());
    }
    Ok(Request { action, plan, store })
}

fn action(settings: &Settings, command: &[OsString]) -> Result<Action, UsageError> {
    Ok(match &settings.generate {
        Some(document) => Action::Generate(document.value),
        None if is_on(&settings.list_presets) => Action::ListPresets,
        None if is_on(&settings.list_policies) => Action::ListPolicies,
        None if is_on(&settings.plot) => Action::Plot,
        None if is_on(&settings.plan) => Action::Plan,
        None if command.is_empty() => {
            return Err(UsageError(
                "no command given; try backoff -- COMMAND, or backoff --help".into(),
            ));
        }
        None => Action::Run,
    })
}

/// `[defaults]`
fn defaults(config: &Config) -> Option<&Settings> {
    config.defaults.as_ref().map(|layer| &layer.settings)
}

/// `--policy`, as the first of these says.
fn chosen(layers: [Option<&Settings>; 2], config: &Config) -> Result<Option<Rc<Policy>>, UsageError> {
    let name = layers.into_iter().flatten().find_map(|layer| layer.policy.as_ref());
    name.map(|name| config.policy(name)).transpose()
}

/// Judges all that a configuration file says, also what is not used now: a mistake must not wait for the night in
/// which its policy is chosen.
fn check(config: &Config) -> Result<(), UsageError> {
    let defaults = defaults(config);
    let judge = |policy: Option<Rc<Policy>>| {
        let layers = Layers { policy, defaults };
        let mut settings = Settings::default();
        layers.fill_in(&mut settings)?;
        plan(&settings, &[], &[], Outer::default()).map(drop)
    };
    if defaults.is_some() {
        judge(chosen([None, defaults], config)?)?;
    }
    config.policies.iter().try_for_each(|own| judge(Some(Rc::clone(own))))
}

#[cfg(test)]
pub(super) mod tests;
