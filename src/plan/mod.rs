//! Builds a run from settings: merges all sources, checks across options, fills in defaults.

mod budget;
mod idempotence;
mod limits;
mod nesting;
mod output;
mod program;
mod remarks;
mod rules;
mod waits;

use std::ffi::OsString;

use self::program::Command;
use crate::budget::client::Store;
use crate::cli::table::OPTIONS;
use crate::config::policies::Config;
use crate::config::presets::PresetName;
use crate::config::said::UsageError;
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::session::Until;
use crate::run::plan::Plan;

/// Returns the plan of flags and variables, with the store of its budget. Adds the configuration that they select to
/// the settings.
pub(crate) fn plan(
    settings: &mut Settings,
    command: &[OsString],
    variables: &[(OsString, OsString)],
    config: &Config,
) -> Result<(Plan, Store), UsageError> {
    check(config)?;
    settings.add(config.policy(settings)?)?;
    settings.add(config.defaults.clone())?;
    let is_action = OPTIONS
        .iter()
        .any(|opt| opt.is_action() && settings.said(opt.long).is_some());
    if command.is_empty() && !is_action {
        let problem = "no command given; try backoff -- COMMAND, or backoff --help";
        return Err(UsageError(problem.to_owned()));
    }
    build(settings, command, variables, config)
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
    limits::check_typed_only(settings)?;
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let presets = settings.get("for", PresetName::parse_list)?.unwrap_or_default();
    let judged = Command::new(&words, presets);
    // allow, once, warn
    let (once, warns) = settings.choice("nested", &[(false, false), (true, false), (false, true)])?;
    let nesting = nesting::nesting(variables, warns, &words);
    let until = settings.choice("until", &[Until::Success, Until::Failure, Until::Never])?;
    let not_idempotent = idempotence::why_not(settings, &judged)?;
    let (classifier, patterns) = rules::classifier(settings, &judged)?;
    let delays = waits::delays(settings, until)?;
    let limits = limits::limits(settings, until, not_idempotent.is_none(), once && nesting.depth > 1)?;
    let (initial_delay, splay) = limits::start_delays(settings, &limits)?;
    let (budget, store) = budget::budget(settings, delays.cap, nesting.counted.as_deref())?;
    let output = output::output(settings)?;
    let (mut warnings, others) = remarks::unknown_variables(variables);
    if nesting.depth > 1 && output.verbosity < 1 {
        // The outermost run has printed them.
        warnings.clear();
    }
    let mut remarks = Vec::new();
    if output.verbosity >= 1 {
        remarks.extend(others);
        remarks.extend(waits::raised_cap(settings, &delays));
        let seen = not_idempotent
            .as_ref()
            .filter(|_| settings.said("idempotent").is_none());
        remarks.extend(seen.map(|why| format!("--idempotent no: {why}")));
    }
    if output.verbosity >= 2 {
        let (file, from) = &config.file;
        remarks.push(format!("config = {file} ({from})"));
        remarks.extend(remarks::all_settings(settings));
        remarks.extend(remarks::preset_rules(&judged));
    }
    let plan = Plan {
        command: command.to_vec(),
        streams: output::streams(settings, &classifier, patterns, limits.attempts)?,
        classifier,
        retry_if: settings.get("retry-if", values::predicate)?,
        success_if: settings.get("success-if", values::predicate)?,
        bounds: limits::bounds(settings)?,
        timeouts: settings.get("timeout", values::durations)?.unwrap_or_default(),
        initial_delay,
        splay,
        seed: settings.get("seed", |text| values::whole(text, 0, u64::MAX))?,
        budget,
        warnings,
        nesting,
        overrides: limits::overrides(settings)?,
        output,
        on_retry: settings.get("on-retry", values::any_text)?,
        before_retry: settings.get("before-retry", values::predicate)?,
        on_give_up: settings.get("on-give-up", values::any_text)?,
        c_locale: settings.is_on("c-locale")?,
        remarks,
        remarks_on_failure: remarks::on_failure(settings, &judged),
        remark_on_retry: remarks::on_retry(settings, &judged),
        not_idempotent,
        limits,
        delays,
    };
    Ok((plan, store))
}

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;
