//! Limits of a run and of an attempt, exit statuses, and the shared budget.

use std::time::Duration;

use crate::budget::client::Store;
use crate::config::said::Source;
use crate::config::settings::Settings;
use crate::config::values::{self, Parsed};
use crate::policy::budget::BudgetLimits;
use crate::policy::exit::Overrides;
use crate::policy::outcome::exact;
use crate::policy::session::{Limits, Until};
use crate::policy::sets::CodeSet;
use crate::process::sys::environment;
use crate::run::plan::{Bounds, CoolOff, SharedBudget};

/// Returns a limit; 0 means no limit, as in `timeout(1)`.
fn limit(settings: &Settings, long: &str) -> Parsed<Option<Duration>> {
    Ok(settings.duration(long)?.filter(|limit| !limit.is_zero()))
}

pub(super) fn bounds(settings: &Settings) -> Parsed<Bounds> {
    let kill_after = settings.value("kill-after", values::duration)?;
    Ok(Bounds {
        timeout: None,
        idle: limit(settings, "idle-timeout")?,
        signal: settings.value("signal", values::signal)?,
        kill_interrupted_after: limit(settings, "kill-after")?,
        kill_after: Some(kill_after).filter(|after| !after.is_zero()),
    })
}

/// Reads the limits of a run. `once` leaves retries to the outer run.
pub(super) fn limits(settings: &Settings, until: Until, idempotent: bool, once: bool) -> Parsed<Limits> {
    let (deadline, stop_after) = (limit(settings, "deadline")?, limit(settings, "stop-after")?);
    // A time limit overrides the default attempt limit, and one from a weaker source.
    let source_of = |long, limit: Option<_>| limit.and_then(|_| settings.source(long));
    let by_time = source_of("deadline", deadline).max(source_of("stop-after", stop_after));
    let source = settings.source("attempts");
    let is_lifted = by_time > source || source.is_none() && until == Until::Never;
    let attempts = settings.value("attempts", values::attempts)?.filter(|_| !is_lifted);
    let consecutive = |text: &str| match (values::whole(text, 1, u64::MAX), attempts) {
        (Ok(count), Some(limit)) if count > limit => {
            Err(format!("can never be reached with {limit} attempts; try a larger --attempts").into())
        }
        (count, _) => count,
    };
    let longest_asked = settings.value("max-retry-after", values::duration)?;
    // A policy without jitter covers only its own waits, as a server may send many runs the same Retry-After.
    let is_typed = |long| settings.source(long) == Some(Source::Flag);
    let no_jitter = settings.said("jitter").is_some_and(|said| said.text == "none");
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
        max_retry_after: settings.is_on("retry-after")?.then_some(longest_asked),
        idempotent,
        leave_to_outer: once,
    })
}

/// Reads `--initial-delay` and `--splay`, each of which alone leaves time for an attempt.
pub(super) fn start_delays(settings: &Settings, limits: &Limits) -> Parsed<[Duration; 2]> {
    let initial_delay = settings.value("initial-delay", values::duration)?;
    let splay = |text: &str| match (values::duration(text)?, limits.latest_begin()) {
        (splay, Some((limit, _))) if initial_delay.saturating_add(splay) >= limit => {
            let rule = "and --initial-delay may leave no time before the limit of";
            Err(format!("{rule} {}; try a shorter wait or a later limit", exact(limit)).into())
        }
        (splay, _) => Ok(splay),
    };
    Ok([initial_delay, settings.value("splay", splay)?])
}

/// Returns an error for a text from a variable or file that could turn a forgotten failure into a success.
pub(super) fn check_typed_only(settings: &Settings) -> Parsed<()> {
    let typed_only = ["until", "exhausted-exit", "skipped-exit"];
    for said in typed_only.iter().filter_map(|long| settings.said(long)) {
        let makes_success = said.text == "failure" || said.read(values::code) == Ok(0);
        if makes_success && said.source != Source::Flag {
            return Err(said.unreadable("is taken from the command line alone, as it turns a failure into a success"));
        }
    }
    Ok(())
}

pub(super) fn overrides(settings: &Settings) -> Parsed<Overrides> {
    let success = settings.all("success-exit", values::success_codes)?.into_iter();
    Ok(Overrides {
        exhausted: settings.get("exhausted-exit", values::code)?,
        flaky: settings.get("flaky-exit", values::code)?,
        zero: success.map(|codes| codes.zero).fold(CodeSet::default(), CodeSet::union),
        skipped: settings.value("skipped-exit", values::code)?,
    })
}

/// Returns the budget, unless it has no name, and its store. `cap` is the run's own longest wait, `outer` the budget that
/// has counted the attempt of the outer run.
pub(super) fn budget(settings: &Settings, cap: Duration, outer: Option<&str>) -> Parsed<(Option<SharedBudget>, Store)> {
    let skips = settings.get("cool-off", values::cool_off)?.flatten();
    // The cool-off may be a server's Retry-After.
    let longest = cap.max(settings.value("max-retry-after", values::duration)?);
    let limits = BudgetLimits {
        // A fraction in [0, 1].
        ratio: (settings.value("budget-ratio", values::percent)? * 1e6).round() as u32,
        min: settings.value("budget-min", |text| values::whole(text, 0, u64::MAX))?,
        window: settings.value("budget-window", |text| values::period(text, "10m"))?,
    };
    let patience = |text: &str| values::period(text, "250ms").map_err(|problem| problem.to_string());
    let store = settings.get("store", |text| Ok(Store::parse(text, patience)?))?;
    let denies_if_down = settings.choice("store-down", &[false, true])?;
    let Some(name) = settings.get("budget", values::budget_name)? else {
        if skips.is_some() && settings.source("cool-off") == Some(Source::Flag) {
            return Err("--cool-off needs a name by which the runs know each other; try --budget NAME".into());
        }
        return Ok((None, Store::Directory(None)));
    };
    let store = store.unwrap_or_else(|| Store::Directory(environment::state_home()));
    let prepared = settings.get("store", |_| Ok(store.prepare()?))?;
    let (place, timeout) = prepared.map_or_else(|| store.prepare(), Ok)?;
    let place = format!("{name:?} in {place}");
    let budget = SharedBudget {
        name,
        is_counted: outer == Some(&*place),
        place,
        limits,
        timeout,
        denies_if_down,
        cool_off: skips.map(|skips| CoolOff { longest, skips }),
    };
    Ok((Some(budget), store))
}
