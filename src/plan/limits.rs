//! Limits of a run and of an attempt, waits, and the shared budget.

use std::time::Duration;

use crate::budget::{StoreError, client::Store};
use crate::config::setting::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values::{self, CoolOffMode, Parsed};
use crate::policy::budget::BudgetLimits;
use crate::policy::delay::Growth::{self, Constant, Exponential, Fibonacci, Linear};
use crate::policy::delay::{Delays, Jitter};
use crate::policy::session::{Limits, Until};
use crate::process::sys::environment;
use crate::run::plan::{AttemptLimits, CoolOff, SharedBudget};
use crate::text::exact;

/// Returns a limit; 0 means no limit, as in `timeout(1)`.
fn limit(settings: &Settings, long: &str) -> Parsed<Option<Duration>> {
    Ok(settings.duration(long)?.filter(|limit| !limit.is_zero()))
}

/// Reads the limits on an attempt, except `--timeout`, which may be another for each attempt.
pub(super) fn attempt_limits(settings: &Settings) -> Parsed<AttemptLimits> {
    Ok(AttemptLimits {
        timeout: None,
        idle: limit(settings, "idle-timeout")?,
        signal: settings.value("signal", values::signal)?,
        never_ignored: settings.get("signal", values::signal)?,
        // None unless the user sets `--kill-after`: its default is for timeouts only.
        kill_interrupted_after: limit(settings, "kill-after")?,
        kill_after: Some(settings.value("kill-after", values::duration)?)
            .filter(|after| !after.is_zero()),
    })
}

/// Reads the limits of a run; both bools are fields of the result.
pub(super) fn limits(
    settings: &Settings,
    until: Until,
    idempotent: bool,
    leave_to_outer: bool,
) -> Parsed<Limits> {
    let (deadline, stop_after) = (limit(settings, "deadline")?, limit(settings, "stop-after")?);
    // A time limit overrides the default attempt limit (source None), and one of lower precedence.
    let source_of = |long, limit: Option<_>| limit.and_then(|_| settings.source(long));
    let time_source = source_of("deadline", deadline).max(source_of("stop-after", stop_after));
    let attempts_source = settings.source("attempts");
    let is_lifted =
        time_source > attempts_source || attempts_source.is_none() && until == Until::Never;
    let attempts = settings
        .value("attempts", values::attempts)?
        .filter(|_| !is_lifted);
    let most = attempts.unwrap_or(u64::MAX);
    let consecutive = |text: &str| match values::whole(text, 1, u64::MAX)? {
        count if count <= most => Ok(count),
        _ => Err(format!(
            "can never be reached with {most} attempts; tip: try a larger --attempts"
        )
        .into()),
    };
    // Many runs may get the same Retry-After, and a random part spreads them. A policy without jitter is meant for the
    // policy's own waits: the random part is dropped only if the user types both options.
    let is_typed = |long| settings.source(long) == Some(Source::Flag);
    let no_jitter = settings
        .find("jitter")
        .is_some_and(|setting| setting.text == "none");
    Ok(Limits {
        until,
        attempts,
        deadline,
        stop_after,
        stop_at_delay: settings.duration("stop-at-delay")?,
        // 0 would start again after every attempt and never end.
        reset_after: settings.get("reset-after", |text| values::period(text, "10m"))?,
        consecutive: settings.value("consecutive", consecutive)?,
        asked_is_exact: no_jitter && is_typed("jitter") && is_typed("retry-after"),
        max_retry_after: settings.get("retry-after", values::retry_after)?.flatten(),
        idempotent,
        leave_to_outer,
    })
}

/// Reads `--initial-delay` and `--splay`. Checks that both together leave time for an attempt; `config::conflicts` has
/// checked each alone.
pub(super) fn start_delays(settings: &Settings, limits: &Limits) -> Parsed<[Duration; 2]> {
    let initial_delay = settings.value("initial-delay", values::duration)?;
    let splay = settings.value("splay", values::duration)?;
    match (limits.latest_begin(), settings.find("splay")) {
        (Some((limit, _)), Some(setting)) if initial_delay.saturating_add(splay) >= limit => {
            let limit = exact(limit);
            let problem =
                format!("and --initial-delay may leave no time before the limit of {limit}");
            Err(setting.error(problem + "; tip: try a shorter wait or a later limit"))
        }
        _ => Ok([initial_delay, splay]),
    }
}

/// Reads the options on waits.
pub(super) fn delays(settings: &Settings, until: Until) -> Parsed<Delays> {
    // Successes are repeated at once by default, as nothing needs to recover.
    let until_failure = until == Until::Failure;
    let list = settings.get("delays", values::durations)?;
    let jitter = jitter(settings, until_failure)?;
    // Decorrelated jitter has another default factor.
    let factor = match jitter {
        Jitter::Decorrelated { factor } => factor,
        _ => settings.get("factor", values::factor)?.unwrap_or(2.0),
    };
    let cap = cap(settings, list.as_deref(), jitter)?;
    Ok(Delays {
        base: match settings.find("base") {
            None if until_failure => Duration::ZERO,
            _ => settings.value("base", values::duration)?.min(cap),
        },
        cap,
        growth: match list {
            Some(list) => Growth::List(list),
            None if until_failure => Constant,
            None => settings.choice(
                "growth",
                &[Exponential { factor }, Linear, Fibonacci, Constant],
            )?,
        },
        jitter,
    })
}

fn jitter(settings: &Settings, until_failure: bool) -> Parsed<Jitter> {
    let list_source = settings.source("delays");
    let mut jitter = match settings.get("jitter", values::jitter)? {
        // A list is exact unless the same or a higher precedence asks for jitter.
        Some(jitter) if settings.source("jitter") >= list_source => jitter,
        _ if list_source.is_some() || until_failure => Jitter::None,
        // The default jitter ignores a growth.
        _ if settings.find("growth").is_some() => Jitter::Full,
        _ => values::DEFAULT_JITTER,
    };
    if let Jitter::Decorrelated { factor } = &mut jitter {
        *factor = settings.get("factor", values::factor)?.unwrap_or(*factor);
    }
    Ok(jitter)
}

/// Returns the limit on every wait, raised to a wait that an option of higher precedence sets.
fn cap(settings: &Settings, list: Option<&[Duration]>, jitter: Jitter) -> Parsed<Duration> {
    let cap = match (settings.find("max-delay"), jitter) {
        // The ceiling limits the waits.
        (None, Jitter::Slotted { .. }) => Duration::MAX,
        _ => settings.value("max-delay", values::duration)?,
    };
    let longest = match list {
        Some(list) => ("delays", list.iter().copied().max()),
        None => ("base", settings.duration("base")?),
    };
    // A cut wait would never reach `--stop-at-delay`.
    let asked = [
        longest,
        ("stop-at-delay", settings.duration("stop-at-delay")?),
    ];
    let overrides_cap = |long| settings.source(long) > settings.source("max-delay");
    let raising = asked.into_iter().filter(|(long, _)| overrides_cap(long));
    Ok(raising
        .filter_map(|(_, wait)| wait)
        .fold(cap, Duration::max))
}

/// Returns the budget of `--budget`, if given, and its store. Without a budget, the store is never used. `cap` is the
/// run's own longest wait, `outer` the budget that has counted the attempt of the outer run.
pub(super) fn budget(
    settings: &Settings,
    cap: Duration,
    outer: Option<&str>,
) -> Parsed<(Option<SharedBudget>, Store)> {
    let mode = settings.value("cool-off", values::cool_off)?;
    // The cool-off may be a server's Retry-After.
    let longest = cap.max(longest_asked(settings)?);
    let limits = BudgetLimits {
        // Retries per million attempts.
        ratio: (settings.value("budget-ratio", values::percent)? * 1e6).round() as u32,
        min: settings.value("budget-min", |text| values::whole(text, 0, u64::MAX))?,
        window: settings.value("budget-window", |text| values::period(text, "10m"))?,
    };
    let parse_timeout = |text: &str| values::period(text, "250ms").map_err(|problem| problem.0);
    let usage_error = |error: StoreError| UsageError(error.to_string());
    let store = settings.get("store", |text| {
        Store::parse(text, parse_timeout).map_err(usage_error)
    })?;
    let denies_if_down = settings.choice("store-down", &["local", "deny"])? == "deny";
    let Some(name) = settings.get("budget", values::budget_name)? else {
        return Ok((None, Store::Directory(None)));
    };
    let store = store.unwrap_or_else(|| Store::Directory(environment::state_home()));
    // `get` begins an error with the option that names the store. The text itself has already been parsed.
    let prepared = settings.get("store", |_| store.prepare().map_err(usage_error))?;
    let (location, timeout) = prepared.map_or_else(|| store.prepare().map_err(usage_error), Ok)?;
    let place = format!("{name:?} in {location}");
    let budget = SharedBudget {
        name,
        is_inherited: outer == Some(&*place),
        place,
        limits,
        timeout,
        denies_if_down,
        cool_off: cool_off(mode, longest),
    };
    Ok((Some(budget), store))
}

fn cool_off(mode: CoolOffMode, longest: Duration) -> Option<CoolOff> {
    let skipped_exit = match mode {
        CoolOffMode::Off => return None,
        CoolOffMode::Wait => None,
        CoolOffMode::Skip(status) => Some(status),
    };
    Some(CoolOff {
        longest,
        skipped_exit,
    })
}

/// Returns the longest wait of a server that this run accepts, or would accept by default.
fn longest_asked(settings: &Settings) -> Parsed<Duration> {
    let given = settings.get("retry-after", values::retry_after)?.flatten();
    let default = values::retry_after("on")?.unwrap_or_default();
    Ok(given.unwrap_or(default))
}
