//! Builds a run from settings: merges all sources, checks across options, fills in defaults.

mod budget;
mod idempotence;
mod limits;
mod outer;
mod output;
mod program;
mod remarks;
mod rules;
mod waits;

use std::ffi::OsString;

use self::outer::{NestedMode, Outer};
use crate::budget::client::Store;
use crate::cli::generate::Document;
use crate::config::policies::Config;
use crate::config::presets::PresetName;
use crate::config::said::UsageError;
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::session::Until;
use crate::run::plan::Plan;

/// The action of this invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Run,
    /// Print the waits.
    Plan,
    /// Print a plot of the waits (`--plot`).
    Plot,
    /// Print the names of presets, or the rules of the presets named in place of a command.
    ListPresets,
    ListPolicies,
    Generate(Document),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) action: Action,
    pub(crate) plan: Plan,
    /// The store of the plan's budget.
    pub(crate) store: Store,
}

/// Returns the request of flags and variables, with the configuration that they select.
pub(crate) fn request(
    mut settings: Settings,
    command: &[OsString],
    variables: &[(OsString, OsString)],
    config: &Config,
) -> Result<Request, UsageError> {
    check(config)?;
    let policy = config.policy(&settings)?;
    settings.add(policy)?;
    settings.add(config.defaults.clone())?;
    let action = action(&settings, command)?;
    let (plan, store) = build(&settings, command, variables, config)?;
    Ok(Request { action, plan, store })
}

fn action(settings: &Settings, command: &[OsString]) -> Result<Action, UsageError> {
    let is_on = |long| settings.said(long).is_some();
    let documents = [
        Document::Man,
        Document::CompleteBash,
        Document::CompleteZsh,
        Document::CompleteFish,
    ];
    Ok(match is_on("generate") {
        true => Action::Generate(settings.choice("generate", &documents)?),
        _ if is_on("list-presets") => Action::ListPresets,
        _ if is_on("list-policies") => Action::ListPolicies,
        _ if is_on("plot") => Action::Plot,
        _ if is_on("plan") => Action::Plan,
        _ if command.is_empty() => {
            let problem = "no command given; try backoff -- COMMAND, or backoff --help";
            return Err(UsageError(problem.to_owned()));
        }
        _ => Action::Run,
    })
}

/// Checks the whole configuration file, unused parts too, so that a mistake shows before its policy is first used.
fn check(config: &Config) -> Result<(), UsageError> {
    let judge = |policy| {
        let mut settings = Settings::default();
        settings.add(policy)?;
        settings.add(config.defaults.clone())?;
        build(&settings, &[], &[], config).map(drop)
    };
    if !config.defaults.is_empty() {
        judge(config.policy(&Settings::default())?)?;
    }
    config.policies.iter().try_for_each(|own| judge(own.said.clone()))
}

/// Builds the plan of a run. Reads every option, so that every text is checked.
fn build(
    settings: &Settings,
    command: &[OsString],
    variables: &[(OsString, OsString)],
    config: &Config,
) -> Result<(Plan, Store), UsageError> {
    let presets = settings.get("for", PresetName::parse_list)?.unwrap_or_default();
    // Only presets use the words.
    let words = match presets.is_empty() {
        true => Vec::new(),
        false => program::wrapped_program(command),
    };
    let program = words.first().copied();
    let outer = Outer::from(variables);
    let nested = settings.choice("nested", &[NestedMode::Allow, NestedMode::Once, NestedMode::Warn])?;
    let until = settings.choice("until", &[Until::Success, Until::Failure, Until::Never])?;
    let why_not = idempotence::why_not(settings, &presets, command)?;
    let trusted = idempotence::trusted(&presets, &words);
    let (classifier, patterns) = rules::classifier(settings, &presets, program, &trusted)?;
    let delays = waits::delays(settings, until)?;
    let leave_to_outer = nested == NestedMode::Once && outer.depth > 0;
    let limits = limits::limits(settings, until, why_not.is_none(), leave_to_outer)?;
    let streams = output::streams(settings, &classifier, patterns, limits.attempts)?;
    let (initial_delay, splay) = limits::start_delays(settings, &limits)?;
    let (budget, store) = budget::budget(settings, delays.cap, outer.counted.as_deref())?;
    let output = output::output(settings)?;
    let (typos, mut remarks) = remarks::unknown_variables(variables);
    remarks.extend(waits::raised_cap(settings, &delays));
    let seen = why_not.as_ref().filter(|_| settings.said("idempotent").is_none());
    remarks.extend(seen.map(|why| format!("--idempotent no: {why}")));
    let is_verbose = output.verbosity >= 1;
    if output.verbosity >= 2 {
        let (file, from) = &config.file;
        remarks.push(format!("config = {file} ({from})"));
        remarks.extend(remarks::all_settings(settings));
        remarks.extend(remarks::preset_rules(&presets, program));
    }
    let plan = Plan {
        command: command.to_vec(),
        classifier,
        streams,
        retry_if: settings.get("retry-if", values::predicate)?,
        success_if: settings.get("success-if", values::predicate)?,
        bounds: limits::bounds(settings)?,
        timeouts: limits::timeouts(settings)?,
        initial_delay,
        splay,
        seed: settings.get("seed", |text| values::whole(text, 0, u64::MAX))?,
        budget,
        // The outermost run has printed the warnings for inner ones.
        warnings: if outer.depth == 0 || is_verbose {
            typos
        } else {
            Vec::new()
        },
        nesting: outer.nesting(nested, command),
        root_id: outer.root_id,
        overrides: limits::overrides(settings)?,
        output,
        on_retry: settings.get("on-retry", values::any_text)?,
        before_retry: settings.get("before-retry", values::predicate)?,
        on_give_up: settings.get("on-give-up", values::any_text)?,
        c_locale: settings.is_on("c-locale")?,
        remarks: if is_verbose { remarks } else { Vec::new() },
        remarks_on_failure: remarks::on_failure(settings, &presets, &words),
        remark_on_retry: remarks::on_retry(settings, &presets, command),
        not_idempotent: why_not,
        limits,
        delays,
    };
    Ok((plan, store))
}

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;
