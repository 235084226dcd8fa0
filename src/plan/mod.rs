//! Builds a run from settings: merges all sources, checks across options, fills in defaults. All usage errors are found
//! here, before anything starts: a run at night must not end at its first retry because of a typo.

mod contradictions;
mod delays;
mod idempotence;
mod in_effect;
mod limits;
mod locale;
mod nesting;
mod output;
mod remarks;
mod rules;
mod without_effect;

use self::delays::DecidedDelays;
use self::in_effect::Deciders;
use self::limits::{BudgetAndStore, Premises};
use self::remarks::Remarks;
use self::rules::Rules;
use crate::budget::store::Store;
use crate::cli::parse::CommandLine;
use crate::config::policies::Config;
use crate::config::setting::{Setting, Source};
use crate::config::settings::{Settings, Variables};
use crate::options::problem::Checked;
use crate::options::{
    ATTEMPTS, BEFORE_RETRY, FOR, INITIAL_DELAY, NESTED, Nested, ON_GIVE_UP, ON_RETRY, RETRY_IF,
    SEED, SPLAY, SUCCESS_IF, TIMEOUT, UNTIL,
};
use crate::policy::delay::Delays;
use crate::policy::session::Limits;
use crate::presets::names::PresetName;
use crate::presets::program::WrappedCommand;
use crate::presets::scripts::Surroundings;
use crate::run::plan::{Nesting, NotIdempotent, OutputOptions, Plan};

/// A plan, and the store of its budget.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) store: Store,
}

/// Inputs of a plan beside the settings.
#[derive(Clone, Copy)]
struct Sources<'r> {
    typed: &'r CommandLine,
    variables: &'r Variables,
    /// The configuration file.
    config: &'r Config,
    /// Variables and script files that the command will find, for a judgement of its words.
    surroundings: &'r dyn Surroundings,
}

/// Returns the plan of a run, or the first usage error. `settings` hold flags and variables; adds to them the policy
/// that they, or else `[defaults]`, select, then `[defaults]` of the file, each of lower precedence than what is there.
/// First checks the whole file.
pub(crate) fn plan(
    settings: &mut Settings,
    typed: &CommandLine,
    variables: &Variables,
    config: &Config,
    surroundings: &dyn Surroundings,
) -> Checked<Planned> {
    check_whole_file(config, surroundings)?;
    settings.add(config.policy(settings)?)?;
    settings.add(config.defaults.clone())?;
    let sources = Sources {
        typed,
        variables,
        config,
        surroundings,
    };
    let mut planned = build_plan(settings, sources)?;
    limits::read_store_files(settings, &mut planned.store)?;
    Ok(planned)
}

/// Returns an error for a mistake anywhere in the configuration file, in unused parts, too, so that it shows before its
/// policy is first used. Builds a plan from each policy, as if it was selected without flags, and drops it. Opens no
/// file that a policy names (a certificate): that of an unused policy may be missing on this machine.
fn check_whole_file(config: &Config, surroundings: &dyn Surroundings) -> Checked<()> {
    let mut to_check = Vec::new();
    for policy in &config.policies {
        to_check.push(over_defaults(config, policy.settings.clone())?);
    }
    if !config.defaults.is_empty() {
        // `[defaults]` alone, with the policy that it selects, if any.
        let in_effect = over_defaults(config, config.policy(&Settings::default())?)?;
        to_check.extend(hidden_defaults(config, &in_effect)?);
        to_check.push(in_effect);
    }
    let sources = Sources {
        // The file is checked without regard to this run.
        typed: &CommandLine::default(),
        variables: &[],
        config,
        surroundings,
    };
    for settings in to_check {
        build_plan(&settings, sources)?;
    }
    Ok(())
}

/// Returns the settings of a policy and, below them, `[defaults]`.
fn over_defaults(config: &Config, policy: Vec<Setting>) -> Checked<Settings> {
    let mut settings = Settings::default();
    settings.add(policy)?;
    settings.add(config.defaults.clone())?;
    Ok(settings)
}

/// Returns each setting of `[defaults]` that is not in effect below the policy that `[defaults]` selects: alone, as it
/// need not fit to the others, but its text must be right for another policy.
fn hidden_defaults(config: &Config, in_effect: &Settings) -> Checked<Vec<Settings>> {
    let mut hidden = Vec::new();
    for setting in &config.defaults {
        if in_effect.source(setting.opt) != Some(Source::Defaults) {
            let mut alone = Settings::default();
            alone.add(vec![setting.clone()])?;
            hidden.push(alone);
        }
    }
    Ok(hidden)
}

/// Parts of a plan that depend on each other.
struct Parts {
    rules: Rules,
    not_idempotent: Option<NotIdempotent>,
    nesting: Nesting,
    delays: Delays,
    limits: Limits,
    deciders: Deciders,
    budget_and_store: BudgetAndStore,
    output: OutputOptions,
    may_be_translated: bool,
}

/// Builds the plan of a run from merged settings, or returns the first usage error. Reads every option, so that every
/// text is checked, even of an option that has no effect.
fn build_plan(settings: &Settings, sources: Sources<'_>) -> Checked<Planned> {
    output::check_command_line_only(settings)?;
    contradictions::check_typed(settings)?;
    contradictions::check_repeats(settings)?;
    // Only for judgements of the command, so that bytes that are not UTF-8 may be lost.
    let texts: Vec<_> = sources
        .typed
        .command
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let words: Vec<&str> = texts.iter().map(|word| &**word).collect();
    let command = WrappedCommand::new(&words, preset_names(settings)?);
    let parts = read_parts(settings, sources, &words, &command)?;
    let remarks = find_remarks(settings, sources, &command, &parts);
    let planned = assemble(settings, sources.typed, parts, remarks)?;
    // Last, as a text that cannot be read is the first thing to mend.
    without_effect::check(settings)?;
    Ok(planned)
}

/// Reads the options of the parts that depend on each other, in an order in which each has what it depends on. `words`
/// are all words of the command, `command` is the program that presets judge.
fn read_parts(
    settings: &Settings,
    sources: Sources<'_>,
    words: &[&str],
    command: &WrappedCommand<'_>,
) -> Checked<Parts> {
    let not_idempotent =
        idempotence::why_not_idempotent(settings, words, command, sources.surroundings)?;
    let nested = settings.value(&NESTED)?;
    let nesting = nesting::nesting(sources.variables, nested, words);
    let until = settings.value(&UNTIL)?;
    let rules = rules::rules(settings, words, command)?;
    let DecidedDelays {
        delays,
        mut deciders,
    } = delays::delays(settings, until)?;
    let premises = Premises {
        until,
        idempotent: not_idempotent.is_none(),
        leave_to_outer: nested == Nested::Once && nesting.depth > 0,
    };
    let attempts = limits::attempts(settings, until)?;
    deciders.push((&ATTEMPTS.spec, attempts.decider));
    let limits = limits::limits(settings, premises, attempts.value)?;
    let budget_and_store = limits::budget(settings, nesting.counted_budget.as_deref())?;
    Ok(Parts {
        rules,
        not_idempotent,
        nesting,
        delays,
        limits,
        deciders,
        budget_and_store,
        output: output::output(settings)?,
        may_be_translated: locale::may_be_translated(words, sources.surroundings),
    })
}

/// Returns the warnings and remarks about settings that are valid, but may not be meant, to be printed when the run
/// begins or its first attempt fails. Without `-v` or `-vv`, those that only these options show are left out here.
fn find_remarks(
    settings: &Settings,
    sources: Sources<'_>,
    command: &WrappedCommand<'_>,
    parts: &Parts,
) -> Remarks {
    let output = &parts.output;
    let mut remarks = Remarks::on_variables(sources.variables, &parts.nesting, output);
    remarks.add_not_idempotent(output, parts.not_idempotent.as_ref());
    // `-vv`
    if output.verbosity >= 2 {
        let lines = remarks::settings_and_rules(settings, command, sources.config, &parts.deciders);
        remarks.remarks.extend(lines);
    }
    remarks.on_failure = remarks::on_failure(settings, command);
    remarks
}

/// Returns the presets that `--for` lists, in their order; none without the option. A name that no preset has is an
/// error.
fn preset_names(settings: &Settings) -> Checked<Vec<PresetName>> {
    let Some(setting) = settings.find(&FOR) else {
        return Ok(Vec::new());
    };
    PresetName::of_list(&setting.read(&FOR)?).map_err(|problem| setting.error(problem))
}

/// Reads the options on which no other part depends, and puts the parts together. Decides nothing.
fn assemble(
    settings: &Settings,
    typed: &CommandLine,
    parts: Parts,
    remarks: Remarks,
) -> Checked<Planned> {
    let attempts = parts.limits.attempts;
    let plan = Plan {
        command: typed.command.clone(),
        streams: output::streams(settings, &parts.rules, attempts)?,
        classifier: parts.rules.classifier,
        retry_if: settings.get(&RETRY_IF)?,
        success_if: settings.get(&SUCCESS_IF)?,
        attempt_limits: limits::attempt_limits(settings)?,
        timeouts: settings.get(&TIMEOUT)?.unwrap_or_default(),
        initial_delay: settings.value(&INITIAL_DELAY)?,
        splay: settings.value(&SPLAY)?,
        seed: settings.get(&SEED)?,
        budget: parts.budget_and_store.budget,
        overrides: output::overrides(settings)?,
        on_retry: settings.get(&ON_RETRY)?,
        before_retry: settings.get(&BEFORE_RETRY)?,
        on_give_up: settings.get(&ON_GIVE_UP)?,
        may_be_translated: parts.may_be_translated,
        warnings: remarks.warnings,
        nesting: parts.nesting,
        remarks: remarks.remarks,
        remarks_on_failure: remarks.on_failure,
        not_idempotent: parts.not_idempotent,
        output: parts.output,
        limits: parts.limits,
        delays: parts.delays,
    };
    Ok(Planned {
        plan,
        store: parts.budget_and_store.store,
    })
}

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;
