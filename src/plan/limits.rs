//! What bounds a run and an attempt.

use std::time::Duration;

use crate::cli::defaults;
use crate::cli::words::JitterKind;
use crate::config::settings::{Settings, is_on};
use crate::config::sourced::{Source, Sourced, Statement, UsageError, value};
use crate::policy::session::{GiveUp, Limits, Until};
use crate::run::plan::Bounds;

/// As in `timeout(1)`, 0 is no bound.
fn bound(said: &Option<Sourced<Duration>>) -> Option<Duration> {
    value(said).and_then(bounding)
}

fn bounding(bound: Duration) -> Option<Duration> {
    (!bound.is_zero()).then_some(bound)
}

pub(super) fn bounds(settings: &Settings) -> Bounds {
    let kill_after = value(&settings.kill_after);
    let never = |after: &Duration| !after.is_zero();
    Bounds {
        timeout: None,
        idle: bound(&settings.idle_timeout),
        signal: value(&settings.signal).unwrap_or(defaults::SIGNAL),
        kill_interrupted_after: kill_after.filter(never),
        kill_after: Some(kill_after.unwrap_or(defaults::KILL_AFTER)).filter(never),
    }
}

/// `--timeout`, attempt by attempt.
pub(super) fn timeouts(settings: &Settings) -> Vec<Option<Duration>> {
    let list = value(&settings.timeout).unwrap_or_default();
    list.into_iter().map(bounding).collect()
}

/// Refuses `--idempotent no` with an option that carries out a success again, unless a stronger source asks for that.
fn repeats_no_success<T>(settings: &Settings, other: Option<&Sourced<T>>) -> Result<(), UsageError> {
    match (&settings.idempotent, other) {
        (Some(once), Some(other)) if !once.value && once.rank() >= other.rank() => Err(UsageError(format!(
            "{once} cannot go with {other}: a success would be carried out again"
        ))),
        _ => Ok(()),
    }
}

/// That a failure is wanted has to be typed: a variable that is forgotten somewhere would make a success of a deployment
/// that failed.
fn is_typed_if_failure(until: &Option<Sourced<Until>>) -> Result<(), UsageError> {
    match until {
        Some(said) if said.value == Until::Failure && said.statement.source != Source::Flag => Err(UsageError(
            format!("{said}: failure is taken from the command line alone, as it makes a success of a failure"),
        )),
        _ => Ok(()),
    }
}

/// What the settings alone say.
pub(super) fn limits(settings: &Settings) -> Result<Limits, UsageError> {
    is_typed_if_failure(&settings.until)?;
    let until = value(&settings.until).unwrap_or(defaults::UNTIL);
    let deadline = bound(&settings.deadline);
    let stop_after = bound(&settings.stop_after);
    // A limit on the time of the run takes the place of the default number of attempts, and of one from a weaker source.
    let limits = [(&settings.deadline, deadline), (&settings.stop_after, stop_after)];
    let time = limits.into_iter().filter(|(_, limit)| limit.is_some());
    let time = time.filter_map(|(said, _)| said.as_ref().map(Sourced::rank)).max();
    let attempts = match &settings.attempts {
        Some(said) if time.is_some_and(|time| time > said.rank()) => None,
        Some(said) => said.value,
        None => (time.is_none() && until != Until::Never).then_some(defaults::ATTEMPTS),
    };
    if let (Some(consecutive), Some(limit)) = (&settings.consecutive, attempts)
        && consecutive.value > limit
    {
        return Err(UsageError(format!(
            "{consecutive} can never be reached with {limit} attempts; try a larger --attempts"
        )));
    }
    repeats_no_success(settings, settings.consecutive.as_ref().filter(|said| said.value > 1))?;
    repeats_no_success(
        settings,
        settings.until.as_ref().filter(|said| said.value != Until::Success),
    )?;
    if let Some(zero) = settings.reset_after.as_ref().filter(|said| said.value.is_zero()) {
        return Err(UsageError(format!(
            "{zero} would start again after every attempt and never end; try 10m"
        )));
    }
    let max_retry_after = value(&settings.max_retry_after).unwrap_or(defaults::MAX_RETRY_AFTER);
    Ok(Limits {
        until,
        attempts,
        deadline,
        stop_after,
        stop_at_delay: value(&settings.stop_at_delay),
        reset_after: value(&settings.reset_after),
        consecutive: value(&settings.consecutive).unwrap_or(defaults::CONSECUTIVE),
        asked_is_exact: asked_is_exact(settings),
        max_retry_after: is_on(&settings.retry_after).then_some(max_retry_after),
        idempotent: true,
        leave_to_outer: false,
    })
}

/// Whoever types both `--jitter none` and `--retry-after` wants just the wait that is named. A policy without jitter
/// speaks of its own waits: many runs may have been told the same.
fn asked_is_exact(settings: &Settings) -> bool {
    let is_typed = |statement: &Statement| statement.source == Source::Flag;
    let no_jitter = settings.jitter.as_ref().filter(|said| said.value == JitterKind::None);
    let asked = settings.retry_after.as_ref();
    no_jitter.is_some_and(|said| is_typed(&said.statement)) && asked.is_some_and(|said| is_typed(&said.statement))
}

/// `--initial-delay` and `--splay`.
pub(super) fn start_delays(settings: &Settings, limits: &Limits) -> Result<(Duration, Duration), UsageError> {
    let initial_delay = value(&settings.initial_delay).unwrap_or(defaults::INITIAL_DELAY);
    let splay = value(&settings.splay).unwrap_or(defaults::SPLAY);
    if let Some((limit, why)) = limits.latest_begin()
        && initial_delay.saturating_add(splay) >= limit
    {
        let limit = match why {
            GiveUp::StopAfter => "--stop-after",
            _ => "--deadline",
        };
        let said = [&settings.initial_delay, &settings.splay];
        let shown: Vec<_> = said.into_iter().flatten().map(ToString::to_string).collect();
        return Err(UsageError(format!(
            "{} may leave no time before {limit}; try a later {limit}",
            shown.join(" and ")
        )));
    }
    Ok((initial_delay, splay))
}
