//! Builds a run from settings: merges all sources, checks across options, fills in defaults.

mod idempotence;
mod in_effect;
mod limits;
mod output;
mod remarks;
mod rules;
mod without_effect;

use std::ffi::OsString;

use self::idempotence::Idempotence;
use self::limits::{Budgeted, Premises, StartDelays};
use self::remarks::Remarks;
use self::rules::Rules;
use crate::budget::client::Store;
use crate::command::Surroundings;
use crate::command::nesting::nesting;
use crate::command::program::WrappedCommand;
use crate::config::policies::Config;
use crate::config::presets::PresetName;
use crate::config::settings::{Settings, Variables};
use crate::options::problem::Checked;
use crate::options::{
    BEFORE_RETRY, C_LOCALE, FOR, NESTED, Nested, ON_GIVE_UP, ON_RETRY, RETRY_IF, SEED, SUCCESS_IF,
    TIMEOUT, UNTIL,
};
use crate::policy::delay::Delays;
use crate::policy::session::Limits;
use crate::run::plan::{Nesting, OutputOptions, Plan};

/// A plan, and the store of its budget.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) store: Store,
}

/// The sources of a plan beside the settings.
#[derive(Clone, Copy)]
struct Sources<'r> {
    command: &'r [OsString],
    variables: &'r Variables,
    config: &'r Config,
    surroundings: &'r dyn Surroundings,
}

/// Returns the plan of a run. `settings` hold flags and variables; adds the policy that they select, then `[defaults]`.
pub(crate) fn plan(
    settings: &mut Settings,
    command: &[OsString],
    variables: &Variables,
    config: &Config,
    surroundings: &dyn Surroundings,
) -> Checked<Planned> {
    check(config, surroundings)?;
    settings.add(config.policy(settings)?)?;
    settings.add(config.defaults()?)?;
    let sources = Sources {
        command,
        variables,
        config,
        surroundings,
    };
    build(settings, sources)
}

/// Checks the whole configuration file, unused parts too, so that a mistake shows before its policy is first used.
fn check(config: &Config, surroundings: &dyn Surroundings) -> Checked<()> {
    let mut layers: Vec<_> = config
        .policies
        .iter()
        .map(|policy| policy.settings.clone())
        .collect();
    if !config.defaults.is_empty() {
        // The policy that the defaults select, or none.
        layers.push(config.policy(&Settings::default())?);
    }
    let sources = Sources {
        command: &[],
        variables: &[],
        config,
        surroundings,
    };
    for layer in layers {
        let mut settings = Settings::default();
        settings.add(layer)?;
        settings.add(config.defaults.clone())?;
        build(&settings, sources)?;
    }
    Ok(())
}

/// Parts of a plan that depend on each other.
struct Parts {
    rules: Rules,
    idempotence: Idempotence,
    nesting: Nesting,
    delays: Delays,
    limits: Limits,
    start: StartDelays,
    budgeted: Budgeted,
    output: OutputOptions,
}

/// Builds the plan of a run. Reads every option, so that every text is checked.
fn build(settings: &Settings, sources: Sources<'_>) -> Checked<Planned> {
    output::check_command_line_only(settings)?;
    let texts: Vec<_> = sources
        .command
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let words: Vec<&str> = texts.iter().map(|word| &**word).collect();
    let command = WrappedCommand::new(&words, preset_names(settings)?);
    let parts = parts(settings, sources, &words, &command)?;
    let remarks = remarks(settings, sources, &words, &command, &parts);
    let planned = assemble(settings, sources.command, parts, remarks)?;
    // Last, as a text that cannot be read is the first thing to mend.
    without_effect::check(settings)?;
    Ok(planned)
}

/// Builds the parts, in an order in which each has what it depends on.
fn parts(
    settings: &Settings,
    sources: Sources<'_>,
    words: &[&str],
    command: &WrappedCommand<'_>,
) -> Checked<Parts> {
    let idempotence = idempotence::idempotence(settings, words, command, sources.surroundings)?;
    let nested = settings.value(&NESTED)?;
    let nesting = nesting(sources.variables, nested, words);
    let until = settings.value(&UNTIL)?;
    let rules = rules::rules(settings, words, command)?;
    let delays = limits::delays(settings, until)?;
    let premises = Premises {
        until,
        idempotent: idempotence.why_not.is_none(),
        leave_to_outer: nested == Nested::Once && nesting.depth > 0,
    };
    let limits = limits::limits(settings, premises)?;
    let start = limits::start_delays(settings, &limits)?;
    let budgeted = limits::budget(settings, delays.cap, nesting.counted_budget.as_deref())?;
    Ok(Parts {
        rules,
        idempotence,
        nesting,
        delays,
        limits,
        start,
        budgeted,
        output: output::output(settings)?,
    })
}

/// Returns the warnings and remarks about settings that are valid, but may not be meant.
fn remarks(
    settings: &Settings,
    sources: Sources<'_>,
    words: &[&str],
    command: &WrappedCommand<'_>,
    parts: &Parts,
) -> Remarks {
    let output = &parts.output;
    let mut remarks = Remarks::on_variables(sources.variables, &parts.nesting, output);
    remarks.add_not_idempotent(output, parts.idempotence.why_not.as_ref());
    if output.verbosity >= 2 {
        let lines = remarks::settings_and_rules(
            settings,
            command,
            sources.config,
            &parts.limits,
            &parts.delays,
        );
        remarks.remarks.extend(lines);
    }
    remarks.on_failure = remarks::on_failure(settings, command, words);
    remarks
}

/// Returns the presets of `--for`.
fn preset_names(settings: &Settings) -> Checked<Vec<PresetName>> {
    let Some(setting) = settings.find(&FOR) else {
        return Ok(Vec::new());
    };
    PresetName::of_list(&setting.read(&FOR)?).map_err(|problem| setting.error(problem))
}

/// Reads the options on which no other part depends, and puts the parts together.
fn assemble(
    settings: &Settings,
    command: &[OsString],
    parts: Parts,
    remarks: Remarks,
) -> Checked<Planned> {
    let attempts = parts.limits.attempts;
    let plan = Plan {
        command: command.to_vec(),
        streams: output::streams(settings, parts.rules.patterns, attempts)?,
        classifier: parts.rules.classifier,
        retry_if: settings.get(&RETRY_IF)?,
        success_if: settings.get(&SUCCESS_IF)?,
        attempt_limits: limits::attempt_limits(settings)?,
        timeouts: settings.get(&TIMEOUT)?.unwrap_or_default(),
        initial_delay: parts.start.initial,
        splay: parts.start.splay,
        seed: settings.get(&SEED)?,
        budget: parts.budgeted.budget,
        overrides: output::overrides(settings)?,
        on_retry: settings.get(&ON_RETRY)?,
        before_retry: settings.get(&BEFORE_RETRY)?,
        on_give_up: settings.get(&ON_GIVE_UP)?,
        c_locale: settings.is_on(&C_LOCALE)?,
        warnings: remarks.warnings,
        nesting: parts.nesting,
        remarks: remarks.remarks,
        remarks_on_failure: remarks.on_failure,
        remark_on_retry: parts.idempotence.remark,
        not_idempotent: parts.idempotence.why_not,
        output: parts.output,
        limits: parts.limits,
        delays: parts.delays,
    };
    Ok(Planned {
        plan,
        store: parts.budgeted.store,
    })
}

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;
