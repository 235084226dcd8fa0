//! What was typed, as it is meant: validated, immutable, knowing nothing of the parser.

use std::ffi::OsString;
use std::time::Duration;

use crate::budget::client::Store;
use crate::cli::generate::{DOCUMENTS, Document};
use crate::cli::parse::CommandLine;
use crate::config::load::Config;
use crate::config::settings::{Layer, Settings, Sourced, Usage};
use crate::config::values;
use crate::policy::exit::Overrides;
use crate::policy::session::Limits;
use crate::policy::signal::Signal;
use crate::run::plan::{Bounds, Nesting, Plan};
use crate::run::streams::InputMode;
use crate::search::pattern::Pattern;

use super::streams::ReadPattern;
use super::{budget, classes, effective, output, policy, remarks, streams, waits};

/// What this invocation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Run the command.
    Run,
    /// Print the waits.
    Plan,
    /// Print the presets.
    ListPresets,
    /// Print the policies.
    ListPolicies,
    /// Print a generated document.
    Generate(Document),
}

/// What is to be done.
#[derive(Debug)]
pub struct Resolved {
    pub action: Action,
    pub plan: Plan,
    /// Where the plan's budget is kept.
    pub store: Store,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NestedName {
    Allow,
    Once,
    Warn,
}

const NESTED: &[(&str, NestedName)] = &[
    ("allow", NestedName::Allow),
    ("once", NestedName::Once),
    ("warn", NestedName::Warn),
];
// The defaults lie inside what operators of large services advise: base 100 to 500 ms, cap 10 to
// 60 s, about five attempts.
const DEFAULT_ATTEMPTS: u64 = 5;
const DEFAULT_MAX_RETRY_AFTER: Duration = Duration::from_secs(5 * 60);
const DEFAULT_KILL_AFTER: Duration = Duration::from_secs(5);

pub(super) fn value<T>(given: Option<Sourced<T>>) -> Option<T> {
    given.map(|given| given.value)
}

/// A bound: as in `timeout(1)`, 0 is none.
fn bound(given: Option<Sourced<Duration>>) -> Option<Duration> {
    value(given).filter(|bound| !bound.is_zero())
}

/// Resolves what was typed, what the `BACKOFF_*` variables say and what the configuration file does.
pub fn resolve(typed: &CommandLine, variables: &[(OsString, OsString)], config: &Config) -> Result<Resolved, Usage> {
    policy::check(config)?;
    let settings = Settings::new(typed, variables).with(&config.defaults);
    let chosen = policy::chosen(&settings, config)?;
    let action = match settings.read("generate", |text| values::one_of(text, DOCUMENTS))? {
        Some(document) => Action::Generate(document.value),
        None if settings.is_on("list-presets")? => Action::ListPresets,
        None if settings.is_on("list-policies")? => Action::ListPolicies,
        None if settings.is_on("plan")? => Action::Plan,
        None if typed.command.is_empty() => {
            return Err(Usage(
                "no command given; try backoff -- COMMAND, or backoff --help".into(),
            ));
        }
        None => Action::Run,
    };
    let (settings, rules) = policy::with(&settings, chosen);
    let (mut plan, store) = plan_of(&settings, rules, &typed.command, Pattern::compile)?;
    if plan.output.verbosity >= 1 {
        plan.remarks = remarks::remarks(&settings, &typed.command)?;
    }
    if plan.output.verbosity >= 2 {
        plan.effective = effective::settings(&settings, rules, &config.read, &plan);
    }
    Ok(Resolved { action, plan, store })
}

/// A run by these settings, and where its budget is kept.
pub(super) fn plan_of(
    settings: &Settings<'_>,
    rules: &[Layer],
    command: &[OsString],
    read_pattern: ReadPattern,
) -> Result<(Plan, Store), Usage> {
    let nested = value(settings.read("nested", |text| values::one_of(text, NESTED))?).unwrap_or(NestedName::Warn);
    let number = |name: &str| {
        settings
            .variable(name)
            .and_then(|text| text.to_str()?.parse::<u64>().ok())
    };
    let outer_depth = number("BACKOFF_DEPTH").unwrap_or(0);
    let outer_attempts = number("BACKOFF_ATTEMPT_LIMIT").filter(|_| outer_depth > 0);
    let nesting = Nesting {
        depth: outer_depth.saturating_add(1),
        // Under a run of one attempt nothing multiplies.
        warn: nested == NestedName::Warn && outer_depth > 0 && outer_attempts != Some(1),
        outer_attempts,
    };
    let delays = waits::delays(settings)?;
    let classes = classes::classes(settings, rules)?;
    let (classifier, mut streams) = streams::rules_and_streams(settings, rules, command, read_pattern)?;
    let limits = limits(settings, nested == NestedName::Once && outer_depth > 0)?;
    if limits.attempts == Some(1) && streams.input == InputMode::Auto {
        // Nothing will be given again.
        streams.input = InputMode::Inherit;
    }
    let (initial_delay, splay) = before_the_first(settings, &limits)?;
    let (budget, store) = budget::budget(settings)?;
    let plan = Plan {
        command: command.to_vec(),
        limits,
        delays,
        classes,
        classifier,
        streams,
        retry_if: shell(settings, "retry-if")?,
        bounds: bounds(settings)?,
        initial_delay,
        splay,
        seed: value(settings.read("seed", |text| values::whole(text, 0, u64::MAX))?),
        budget,
        nesting,
        overrides: Overrides {
            exhausted: value(settings.read("exhausted-exit", values::code)?),
            flaky: value(settings.read("flaky-exit", values::code)?),
        },
        output: output::output(settings)?,
        on_retry: shell(settings, "on-retry")?,
        on_give_up: shell(settings, "on-give-up")?,
        c_locale: settings.is_on("c-locale")?,
        remarks: Vec::new(),
        effective: Vec::new(),
    };
    Ok((plan, store))
}

/// A line for the shell.
pub(super) fn shell(settings: &Settings<'_>, long: &str) -> Result<Option<String>, Usage> {
    Ok(value(settings.read(long, |text| Ok(text.to_owned()))?))
}

fn bounds(settings: &Settings<'_>) -> Result<Bounds, Usage> {
    let kill_after = settings.read("kill-after", values::duration)?;
    let never = |after: &Duration| !after.is_zero();
    Ok(Bounds {
        timeout: bound(settings.read("timeout", values::duration)?),
        idle: bound(settings.read("idle-timeout", values::duration)?),
        signal: value(settings.read("signal", values::signal)?).unwrap_or(Signal::TERM),
        kill_passed_on_after: kill_after.as_ref().map(|given| given.value).filter(never),
        kill_after: Some(value(kill_after).unwrap_or(DEFAULT_KILL_AFTER)).filter(never),
    })
}

fn limits(settings: &Settings<'_>, leave_to_outer: bool) -> Result<Limits, Usage> {
    let attempts = settings.read("attempts", values::attempts)?;
    let consecutive = settings.read("consecutive", |text| values::whole(text, 1, u64::MAX))?;
    let limit = attempts.as_ref().map_or(Some(DEFAULT_ATTEMPTS), |given| given.value);
    if let (Some(consecutive), Some(limit)) = (&consecutive, limit)
        && consecutive.value > limit
    {
        return Err(Usage(format!(
            "{consecutive} can never be reached with {limit} attempts; try a larger --attempts"
        )));
    }
    let reset_after = settings.read("reset-after", values::duration)?;
    if let Some(zero) = reset_after.as_ref().filter(|given| given.value.is_zero()) {
        return Err(Usage(format!(
            "{zero} would start again after every attempt and never end; try 10m"
        )));
    }
    Ok(Limits {
        attempts: limit,
        deadline: bound(settings.read("deadline", values::duration)?),
        stop_at_delay: value(settings.read("stop-at-delay", values::duration)?),
        reset_after: value(reset_after),
        consecutive: value(consecutive).unwrap_or(1),
        max_asked: max_asked(settings)?,
        leave_to_outer,
    })
}

/// `--max-retry-after`, where `--retry-after` is on.
fn max_asked(settings: &Settings<'_>) -> Result<Option<Duration>, Usage> {
    let most = value(settings.read("max-retry-after", values::duration)?).unwrap_or(DEFAULT_MAX_RETRY_AFTER);
    Ok(settings.is_on("retry-after")?.then_some(most))
}

fn before_the_first(settings: &Settings<'_>, limits: &Limits) -> Result<(Duration, Duration), Usage> {
    let initial_delay = settings.read("initial-delay", values::duration)?;
    let splay = settings.read("splay", values::duration)?;
    let longest = |given: &Option<Sourced<Duration>>| given.as_ref().map_or(Duration::ZERO, |given| given.value);
    if let Some(deadline) = limits.deadline
        && longest(&initial_delay).saturating_add(longest(&splay)) >= deadline
    {
        let shown: Vec<_> = [&initial_delay, &splay]
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        return Err(Usage(format!(
            "{} may leave no time before the deadline; try a later --deadline",
            shown.join(" and ")
        )));
    }
    Ok((longest(&initial_delay), longest(&splay)))
}
