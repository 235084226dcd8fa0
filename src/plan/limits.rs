//! Limits of a run and of an attempt, and exit statuses.

use std::time::Duration;

use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::exit::Overrides;
use crate::policy::session::{Limits, Until};
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

/// Returns the attempt limit. A time limit of the run overrides the default attempt limit, and one from a weaker
/// source.
fn attempts(settings: &Settings, until: Until) -> Result<Option<u64>, UsageError> {
    let mut by_time = None;
    for long in ["deadline", "stop-after"] {
        if limit(settings, long)?.is_some() {
            by_time = by_time.max(settings.source(long));
        }
    }
    let attempts = settings.value("attempts", values::attempts)?;
    let is_lifted = match settings.source("attempts") {
        None => by_time.is_some() || until == Until::Never,
        source => by_time > source,
    };
    Ok(attempts.filter(|_| !is_lifted))
}

/// Reads the limits of a run. The caller has resolved `idempotent` and `leave_to_outer`.
pub(super) fn limits(
    settings: &Settings,
    until: Until,
    idempotent: bool,
    leave_to_outer: bool,
) -> Result<Limits, UsageError> {
    let attempts = attempts(settings, until)?;
    let consecutive = settings.value("consecutive", |text| values::whole(text, 1, u64::MAX))?;
    if let (Some(said), Some(limit)) = (settings.said("consecutive"), attempts)
        && consecutive > limit
    {
        let problem = format!("can never be reached with {limit} attempts; try a larger --attempts");
        return Err(UsageError(format!("{said} {problem}")));
    }
    let reset_after = settings.duration("reset-after")?;
    if let (Some(said), Some(Duration::ZERO)) = (settings.said("reset-after"), reset_after) {
        let problem = "would start again after every attempt and never end; try 10m";
        return Err(UsageError(format!("{said} {problem}")));
    }
    let longest_asked = max_retry_after(settings)?;
    Ok(Limits {
        until,
        attempts,
        deadline: limit(settings, "deadline")?,
        stop_after: limit(settings, "stop-after")?,
        stop_at_delay: settings.duration("stop-at-delay")?,
        reset_after,
        consecutive,
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
    let said = settings.said("splay").or(settings.said("initial-delay"));
    match (said, limits.latest_begin()) {
        (Some(said), Some((limit, _))) if initial_delay.saturating_add(splay) >= limit => {
            Err(said.unreadable("may leave no time for an attempt; try less, or a later --deadline or --stop-after"))
        }
        _ => Ok((initial_delay, splay)),
    }
}

/// Returns an error for a text from a variable or file that could turn a forgotten failure into a success.
pub(super) fn check_typed_only(settings: &Settings) -> Result<(), UsageError> {
    for long in ["until", "exhausted-exit", "skipped-exit"] {
        if let Some(said) = settings.said(long)
            && said.source != Source::Flag
            && (said.text == "failure" || said.read(values::code) == Ok(0))
        {
            let problem = "is taken from the command line alone, as it makes a success of a failure";
            return Err(said.unreadable(problem));
        }
    }
    Ok(())
}

pub(super) fn overrides(settings: &Settings) -> Result<Overrides, UsageError> {
    let success = settings.all("success-exit", values::success_codes)?.into_iter();
    Ok(Overrides {
        exhausted: settings.get("exhausted-exit", values::code)?,
        flaky: settings.get("flaky-exit", values::code)?,
        zero: success.map(|codes| codes.zero).fold(CodeSet::default(), CodeSet::union),
        skipped: settings.value("skipped-exit", values::code)?,
    })
}
