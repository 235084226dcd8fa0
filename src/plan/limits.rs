//! Limits of a run and of an attempt, and exit statuses.

use std::time::Duration;

use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::exit::Overrides;
use crate::policy::session::{GiveUp, Limits, Until};
use crate::policy::sets::CodeSet;
use crate::run::plan::Bounds;

/// Returns a limit; 0 means no limit, as in `timeout(1)`.
fn limit(settings: &Settings, long: &str) -> Result<Option<Duration>, UsageError> {
    Ok(settings.duration(long)?.filter(|limit| !limit.is_zero()))
}

pub(super) fn bounds(settings: &Settings) -> Result<Bounds, UsageError> {
    let kill_after = limit(settings, "kill-after")?;
    Ok(Bounds {
        timeout: None,
        idle: limit(settings, "idle-timeout")?,
        signal: settings.value("signal", values::signal)?,
        kill_interrupted_after: kill_after,
        kill_after: match settings.said("kill-after") {
            Some(_) => kill_after,
            None => Some(settings.value("kill-after", values::duration)?),
        },
    })
}

/// Reads `--timeout`, one value for each attempt.
pub(super) fn timeouts(settings: &Settings) -> Result<Vec<Option<Duration>>, UsageError> {
    let list = settings.get("timeout", values::durations)?.unwrap_or_default();
    Ok(list
        .into_iter()
        .map(|limit| Some(limit).filter(|limit| !limit.is_zero()))
        .collect())
}

/// Returns the attempt limit. A time limit of the run overrides the default attempt limit, and one from a weaker
/// source.
fn attempts(settings: &Settings, until: Until) -> Result<Option<u64>, UsageError> {
    let mut by_time = None;
    for long in ["deadline", "stop-after"] {
        if limit(settings, long)?.is_some() {
            by_time = by_time.max(settings.source(long));
        }
    }
    Ok(match settings.get("attempts", values::attempts)? {
        Some(_) if by_time > settings.source("attempts") => None,
        Some(attempts) => attempts,
        None if by_time.is_some() || until == Until::Never => None,
        None => settings.value("attempts", values::attempts)?,
    })
}

/// Reads the limits of a run. The caller has resolved `idempotent` and `leave_to_outer`.
pub(super) fn limits(
    settings: &Settings,
    until: Until,
    idempotent: bool,
    leave_to_outer: bool,
) -> Result<Limits, UsageError> {
    // A forgotten variable must not turn a failed deployment into a success.
    if let (Until::Failure, Some(said)) = (until, settings.said("until"))
        && said.source != Source::Flag
    {
        let why = "failure is taken from the command line alone, as it makes a success of a failure";
        return Err(UsageError(format!("{said}: {why}")));
    }
    let attempts = attempts(settings, until)?;
    let consecutive = settings.get("consecutive", |text| values::whole(text, 1, u64::MAX))?;
    if let (Some(said), Some(limit)) = (settings.said("consecutive"), attempts)
        && consecutive > attempts
    {
        return Err(UsageError(format!(
            "{said} can never be reached with {limit} attempts; try a larger --attempts"
        )));
    }
    let reset_after = settings.duration("reset-after")?;
    if let (Some(said), Some(Duration::ZERO)) = (settings.said("reset-after"), reset_after) {
        return Err(UsageError(format!(
            "{said} would start again after every attempt and never end; try 10m"
        )));
    }
    let longest_asked = max_retry_after(settings)?;
    Ok(Limits {
        until,
        attempts,
        deadline: limit(settings, "deadline")?,
        stop_after: limit(settings, "stop-after")?,
        stop_at_delay: settings.duration("stop-at-delay")?,
        reset_after,
        consecutive: consecutive.unwrap_or(1),
        asked_is_exact: asked_is_exact(settings),
        max_retry_after: settings.is_on("retry-after")?.then_some(longest_asked),
        idempotent,
        leave_to_outer,
    })
}

pub(super) fn max_retry_after(settings: &Settings) -> Result<Duration, UsageError> {
    settings.value("max-retry-after", values::duration)
}

/// Returns true if `--jitter none` and `--retry-after` are both typed: the wait is then exactly the one asked for. A
/// policy without jitter covers only its own waits, as a server may send many runs the same Retry-After.
fn asked_is_exact(settings: &Settings) -> bool {
    let is_typed = |long| settings.source(long) == Some(Source::Flag);
    let no_jitter = settings.said("jitter").is_some_and(|said| said.text == "none");
    no_jitter && is_typed("jitter") && is_typed("retry-after")
}

/// Reads `--initial-delay` and `--splay`.
pub(super) fn start_delays(settings: &Settings, limits: &Limits) -> Result<(Duration, Duration), UsageError> {
    let initial_delay = settings.value("initial-delay", values::duration)?;
    let splay = settings.value("splay", values::duration)?;
    if let Some((limit, why)) = limits.latest_begin()
        && initial_delay.saturating_add(splay) >= limit
    {
        let limit = match why {
            GiveUp::StopAfter => "--stop-after",
            _ => "--deadline",
        };
        let said = ["initial-delay", "splay"].map(|long| settings.said(long));
        let shown: Vec<_> = said.into_iter().flatten().map(ToString::to_string).collect();
        return Err(UsageError(format!(
            "{} may leave no time before {limit}; try a later {limit}",
            shown.join(" and ")
        )));
    }
    Ok((initial_delay, splay))
}

pub(super) fn overrides(settings: &Settings) -> Result<Overrides, UsageError> {
    let without_a_run = |long| match (settings.get(long, values::code)?, settings.said(long)) {
        (Some(0), Some(said)) if said.source != Source::Flag => {
            Err(said.unreadable("is taken from the command line alone, as the command may not have been run then"))
        }
        (code, _) => Ok(code),
    };
    let success = settings.all("success-exit", values::success_codes)?;
    Ok(Overrides {
        exhausted: without_a_run("exhausted-exit")?,
        flaky: settings.get("flaky-exit", values::code)?,
        zero: success
            .iter()
            .map(|codes| codes.zero)
            .fold(CodeSet::default(), CodeSet::union),
        skipped: without_a_run("skipped-exit").and_then(|_| settings.value("skipped-exit", values::code))?,
    })
}
