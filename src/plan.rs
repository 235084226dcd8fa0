//! What was typed, as it is meant: validated, immutable, knowing nothing of the parser.

use std::ffi::OsString;
use std::time::Duration;

use crate::budget::Budget;
use crate::cli::Typed;
use crate::config::Config;
use crate::exit::Overrides;
use crate::io::pattern::Pattern;
use crate::policy::classifier::Classifier;
use crate::policy::delay::Delays;
use crate::policy::session::{Class, Limits};
use crate::run::Bounds;
use crate::settings::{Given, Layer, Settings, Usage};
use crate::signal::Signal;
use crate::speech::Speech;
use crate::streams::{Input, Streams};
use crate::values;

mod budget;
mod classes;
mod effective;
mod policy;
mod remarks;
mod speech;
mod streams;
mod waits;

pub use effective::Effective;
use streams::ReadPattern;

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

/// What `--generate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Document {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

/// A validated run.
#[derive(Debug)]
pub struct Plan {
    /// What to do at all.
    pub action: Action,
    /// The command and its arguments; empty only if nothing is run.
    pub command: Vec<OsString>,
    /// When to stop.
    pub limits: Limits,
    /// How long to wait.
    pub delays: Delays,
    /// What holds for the failures that the policy's rules speak of.
    pub classes: Vec<Class>,
    /// What an outcome means.
    pub classifier: Classifier,
    /// What the command's streams are to be.
    pub streams: Streams,
    /// `--retry-if`
    pub retry_if: Option<String>,
    /// What ends an attempt.
    pub bounds: Bounds,
    /// `--initial-delay`
    pub initial_delay: Duration,
    /// `--splay`
    pub splay: Duration,
    /// `--seed`
    pub seed: Option<u64>,
    /// The budget it shares with others.
    pub budget: Option<Budget>,
    /// Runs around this one, and what to say of them.
    pub nesting: Nesting,
    /// `--exhausted-exit` and `--flaky-exit`
    pub overrides: Overrides,
    /// What backoff says, and where.
    pub speech: Speech,
    /// `--on-retry`
    pub on_retry: Option<String>,
    /// `--on-give-up`
    pub on_give_up: Option<String>,
    /// `--c-locale`
    pub c_locale: bool,
    /// What may not be as it was meant; only for `-v`.
    pub remarks: Vec<String>,
    /// Every setting with where it came from; only for `-vv`.
    pub effective: Vec<Effective>,
}

/// Where this run stands among nested ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nesting {
    /// 1 for an outermost run.
    pub depth: u64,
    /// Say so when retrying under an outer run.
    pub warn: bool,
    /// The outer run's limit of attempts, where it said one.
    pub outer_attempts: Option<u64>,
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
const DOCUMENTS: &[(&str, Document)] = &[
    ("man", Document::Man),
    ("complete-bash", Document::CompleteBash),
    ("complete-zsh", Document::CompleteZsh),
    ("complete-fish", Document::CompleteFish),
];

// The defaults lie inside what operators of large services advise: base 100 to 500 ms, cap 10 to
// 60 s, about five attempts.
const DEFAULT_ATTEMPTS: u64 = 5;
const DEFAULT_MAX_RETRY_AFTER: Duration = Duration::from_secs(5 * 60);
const DEFAULT_KILL_AFTER: Duration = Duration::from_secs(5);

fn value<T>(given: Option<Given<T>>) -> Option<T> {
    given.map(|given| given.value)
}

/// A bound: as in `timeout(1)`, 0 is none.
fn bound(given: Option<Given<Duration>>) -> Option<Duration> {
    value(given).filter(|bound| !bound.is_zero())
}

impl Plan {
    /// Resolves what was typed, what the `BACKOFF_*` variables say and what the configuration file does.
    pub fn resolve(typed: &Typed, variables: &[(OsString, OsString)], config: &Config) -> Result<Plan, Usage> {
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
        let mut plan = Plan::of(action, &settings, rules, &typed.command, Pattern::compile)?;
        if plan.speech.verbosity >= 1 {
            plan.remarks = remarks::remarks(&settings, &typed.command)?;
        }
        if plan.speech.verbosity >= 2 {
            plan.effective = effective::settings(&settings, rules, &config.read, &plan);
        }
        Ok(plan)
    }

    fn of(
        action: Action,
        settings: &Settings<'_>,
        rules: &[Layer],
        command: &[OsString],
        read_pattern: ReadPattern,
    ) -> Result<Plan, Usage> {
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
        if limits.attempts == Some(1) && streams.input == Input::Auto {
            // Nothing will be given again.
            streams.input = Input::Inherit;
        }
        let (initial_delay, splay) = before_the_first(settings, &limits)?;
        Ok(Plan {
            action,
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
            budget: budget::budget(settings)?,
            nesting,
            overrides: Overrides {
                exhausted: value(settings.read("exhausted-exit", values::code)?),
                flaky: value(settings.read("flaky-exit", values::code)?),
            },
            speech: speech::speech(settings)?,
            on_retry: shell(settings, "on-retry")?,
            on_give_up: shell(settings, "on-give-up")?,
            c_locale: settings.is_on("c-locale")?,
            remarks: Vec::new(),
            effective: Vec::new(),
        })
    }
}

/// A line for the shell.
fn shell(settings: &Settings<'_>, long: &str) -> Result<Option<String>, Usage> {
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
    let longest = |given: &Option<Given<Duration>>| given.as_ref().map_or(Duration::ZERO, |given| given.value);
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
