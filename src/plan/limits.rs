//! Limits of a run and of an attempt, and the shared budget.

use std::time::Duration;

use crate::budget::store::Store;
use crate::cli::options::{Budgets, Options, StoreDown, Time};
use crate::config::Merged;
use crate::config::settings::Settings;
use crate::policy::budget::BudgetLimits;
use crate::policy::delay::Jitter;
use crate::policy::limits::Limits;
use crate::process::sys::environment;
use crate::run::plan::{AttemptLimits, SharedBudget};

/// Returns a limit, None if it is not given or 0, which means no limit as in `timeout(1)`.
fn unless_zero(limit: Option<Duration>) -> Option<Duration> {
    limit.filter(|limit| !limit.is_zero())
}

/// Returns the limits on an attempt, and how to end one that exceeds them. `--timeout` is left out (None), because each
/// attempt may have another.
pub(super) fn attempt_limits(settings: &Settings, time: &Time) -> AttemptLimits {
    let kill_after = unless_zero(Some(time.kill_after));
    AttemptLimits {
        timeout: None,
        idle: unless_zero(time.idle_timeout),
        signal: time.signal,
        // A signal that the user names must reach the command, even if backoff's caller ignores it (`trap '' INT`).
        never_ignored: settings.find("signal").map(|_| time.signal),
        // None unless the user sets `--kill-after`, because its default is for timeouts only.
        kill_interrupted_after: kill_after.filter(|_| settings.has("kill-after")),
        kill_after,
    }
}

/// Returns the limits of a run. `leave_to_outer` leaves its retries to an outer run.
pub(super) fn limits(merged: &Merged, idempotent: bool, leave_to_outer: bool) -> Limits {
    let Options {
        time, rules, waits, ..
    } = &merged.options;
    Limits {
        until: rules.until,
        attempts: time.attempts,
        deadline: unless_zero(time.deadline),
        stop_after: unless_zero(time.stop_after),
        stop_at_delay: waits.stop_at_delay,
        reset_after: waits.reset_after,
        consecutive: rules.consecutive,
        asked_is_exact: asked_is_exact(&merged.settings, waits.jitter),
        max_retry_after: waits.retry_after,
        idempotent,
        leave_to_outer,
    }
}

/// Returns true if the wait that a server asks for (`Retry-After`) gets no random part. Many runs may get the same
/// wait, and a random part spreads them. A policy without jitter is about its own waits, so the random part is dropped
/// only if the user types both `--retry-after` and `--jitter none` (or `--every`, which implies it).
fn asked_is_exact(settings: &Settings, jitter: Jitter) -> bool {
    let is_typed = |long| settings.typed_setting(long).is_some();
    jitter == Jitter::None && is_typed("jitter") && is_typed("retry-after")
}

/// Returns the budget of `--budget`. `outer` is the `place` (name and store) of the budget that counted the outer run's
/// attempt, if any. If it is this budget, the first attempt is the same call, and is not counted again.
pub(super) fn budget(
    budgets: &Budgets,
    store: &Store,
    outer: Option<&str>,
) -> Option<SharedBudget> {
    let name = budgets.budget.clone()?;
    // Nested runs recognize the same budget by this.
    let place = format!("{name:?} in {}", store.location());
    Some(SharedBudget {
        name,
        is_inherited: outer == Some(&*place),
        place,
        limits: BudgetLimits {
            ratio: budgets.budget_ratio,
            min: budgets.budget_min,
            window: budgets.budget_window,
        },
        denies_if_down: budgets.store_down == StoreDown::Deny,
    })
}

/// Returns the store of the budget. Reads its files (certificates, a key) now, so that a faulty one is an error at the
/// start.
pub(super) fn store(settings: &Settings, budgets: &Budgets) -> Result<Store, String> {
    let home = || Store::Directory(environment::state_home());
    let mut store = budgets.store.clone().unwrap_or_else(home);
    if let Some(setting) = settings.find("store")
        && budgets.budget.is_some()
    {
        store
            .read_files()
            .map_err(|problem| setting.error(problem))?;
    }
    Ok(store)
}
