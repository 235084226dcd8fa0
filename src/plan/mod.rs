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
use crate::budget::client::Store;
use crate::command::Surroundings;
use crate::command::nesting::nesting;
use crate::command::program::Command;
use crate::config::policies::Config;
use crate::config::presets::PresetName;
use crate::config::settings::{Settings, Variables};
use crate::config::values::{self, Parsed};
use crate::policy::session::Until;
use crate::run::plan::{NotIdempotent, Plan};

/// A plan, and the store of its budget.
type Planned = Parsed<(Plan, Store)>;

/// Returns the plan of a run. `settings` hold flags and variables; adds the policy that they select, then `[defaults]`.
pub(crate) fn plan(
    settings: &mut Settings,
    command: &[OsString],
    variables: &Variables,
    config: &Config,
    surroundings: &dyn Surroundings,
) -> Planned {
    check(config, surroundings)?;
    settings.add(config.policy(settings)?)?;
    settings.add(config.defaults()?)?;
    build(settings, command, variables, config, surroundings)
}

/// Checks the whole configuration file, unused parts too, so that a mistake shows before its policy is first used.
fn check(config: &Config, surroundings: &dyn Surroundings) -> Parsed<()> {
    let mut layers: Vec<_> = config
        .policies
        .iter()
        .map(|policy| policy.settings.clone())
        .collect();
    if !config.defaults.is_empty() {
        // The policy that the defaults select, or none.
        layers.push(config.policy(&Settings::default())?);
    }
    for layer in layers {
        let mut settings = Settings::default();
        settings.add(layer)?;
        settings.add(config.defaults.clone())?;
        build(&settings, &[], &[], config, surroundings)?;
    }
    Ok(())
}

/// Builds the plan of a run. Reads every option, so that every text is checked.
fn build(
    settings: &Settings,
    command: &[OsString],
    variables: &Variables,
    config: &Config,
    surroundings: &dyn Surroundings,
) -> Planned {
    output::check_command_line_only(settings)?;
    let texts: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = texts.iter().map(|word| &**word).collect();
    let judged_command = Command::new(
        &words,
        settings
            .get("for", PresetName::parse_list)?
            .unwrap_or_default(),
    );
    let Idempotence {
        why_not: not_idempotent,
        remark: remark_on_retry,
    } = idempotence::idempotence(settings, &words, &judged_command, surroundings)?;
    let nested = settings.choice("nested", &["allow", "once", "warn"])?;
    let nesting = nesting(variables, nested == "warn", &words);
    let until = settings.choice("until", &[Until::Success, Until::Failure, Until::Never])?;
    let (classifier, patterns) = rules::classifier(settings, &words, &judged_command)?;
    let delays = limits::delays(settings, until)?;
    let leave_to_outer = nested == "once" && nesting.depth > 0;
    let limits = limits::limits(settings, until, not_idempotent.is_none(), leave_to_outer)?;
    let [initial_delay, splay] = limits::start_delays(settings, &limits)?;
    let (budget, store) = limits::budget(settings, delays.cap, nesting.counted.as_deref())?;
    let output = output::output(settings)?;
    let (mut warnings, mut remarks) = remarks::unknown_variables(variables);
    if output.verbosity < 1 {
        remarks.clear();
        // Inner runs inherit the variables; the outermost has printed the warnings.
        warnings.retain(|_| nesting.depth == 0);
    } else if let Some(NotIdempotent {
        why,
        is_typed: false,
    }) = &not_idempotent
    {
        remarks.push(format!("--idempotent no: {why}"));
    }
    if output.verbosity >= 2 {
        remarks.extend(remarks::settings_and_rules(
            settings,
            &judged_command,
            config,
            &limits,
            &delays,
        ));
    }
    let plan = Plan {
        command: command.to_vec(),
        streams: output::streams(settings, patterns, limits.attempts)?,
        classifier,
        retry_if: settings.get("retry-if", values::predicate)?,
        success_if: settings.get("success-if", values::predicate)?,
        attempt_limits: limits::attempt_limits(settings)?,
        timeouts: settings
            .get("timeout", values::durations)?
            .unwrap_or_default(),
        initial_delay,
        splay,
        seed: settings.get("seed", |text| values::whole(text, 0, u64::MAX))?,
        budget,
        overrides: output::overrides(settings)?,
        on_retry: settings.get("on-retry", values::any_text)?,
        before_retry: settings.get("before-retry", values::predicate)?,
        on_give_up: settings.get("on-give-up", values::any_text)?,
        c_locale: settings.is_on("c-locale")?,
        warnings,
        nesting,
        remarks,
        remarks_on_failure: remarks::on_failure(settings, &judged_command, &words),
        remark_on_retry,
        not_idempotent,
        output,
        limits,
        delays,
    };
    // Last, as a text that cannot be read is the first thing to mend.
    without_effect::check(settings)?;
    Ok((plan, store))
}

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod tests;
