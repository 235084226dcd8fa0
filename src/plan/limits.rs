//! Reads the options on limits of a run and of an attempt, and on the shared budget.

use std::time::Duration;

use super::in_effect::InEffect;
use crate::budget::store::Store;
use crate::config::setting::{Source, UsageError};
use crate::config::settings::Settings;
use crate::options::opt::Opt;
use crate::options::problem::Checked;
use crate::options::{
    ATTEMPTS, BUDGET, BUDGET_MIN, BUDGET_RATIO, BUDGET_WINDOW, CONSECUTIVE, DEADLINE, IDLE_TIMEOUT,
    JITTER, KILL_AFTER, RESET_AFTER, RETRY_AFTER, SIGNAL, STOP_AFTER, STOP_AT_DELAY, STORE,
    STORE_DOWN, StoreDown, UNTIL,
};
use crate::policy::budget::BudgetLimits;
use crate::policy::delay::Jitter;
use crate::policy::session::{Limits, Until};
use crate::process::sys::environment;
use crate::run::plan::{AttemptLimits, SharedBudget};

/// Returns the limit of an option; None if it is not given, or 0, which means no limit, as in `timeout(1)`.
fn limit_unless_zero(settings: &Settings, opt: &Opt<Duration>) -> Checked<Option<Duration>> {
    Ok(settings.get(opt)?.filter(|limit| !limit.is_zero()))
}

/// Reads the limits on an attempt, and how one that exceeds them is ended. `--timeout` is left out (None), as it may be
/// another for each attempt.
pub(super) fn attempt_limits(settings: &Settings) -> Checked<AttemptLimits> {
    let kill_after = settings.value(&KILL_AFTER)?;
    Ok(AttemptLimits {
        timeout: None,
        idle: limit_unless_zero(settings, &IDLE_TIMEOUT)?,
        signal: settings.value(&SIGNAL)?,
        // A signal that the user names must reach the command, even if backoff's caller ignores it (`trap '' INT`).
        never_ignored: settings.get(&SIGNAL)?,
        // None unless the user sets `--kill-after`: its default is for timeouts only.
        kill_interrupted_after: limit_unless_zero(settings, &KILL_AFTER)?,
        kill_after: Some(kill_after).filter(|after| !after.is_zero()),
    })
}

/// The facts on which limits depend, beside their own options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Premises {
    /// The goal of the run, `--until`.
    pub(super) until: Until,
    /// The command may run twice.
    pub(super) idempotent: bool,
    /// The outer run does all retries.
    pub(super) leave_to_outer: bool,
}

/// Reads the limits of a run. The limit on attempts is read before, by [`attempts`].
pub(super) fn limits(
    settings: &Settings,
    premises: Premises,
    attempts: Option<u64>,
) -> Checked<Limits> {
    Ok(Limits {
        until: premises.until,
        attempts,
        deadline: limit_unless_zero(settings, &DEADLINE)?,
        stop_after: limit_unless_zero(settings, &STOP_AFTER)?,
        stop_at_delay: settings.get(&STOP_AT_DELAY)?,
        // Never 0, which the option refuses: it would start the count again after every attempt.
        reset_after: settings.get(&RESET_AFTER)?,
        consecutive: consecutive(settings, premises.until, attempts)?,
        asked_is_exact: asked_is_exact(settings),
        max_retry_after: settings.get(&RETRY_AFTER)?.flatten(),
        idempotent: premises.idempotent,
        leave_to_outer: premises.leave_to_outer,
    })
}

/// Reads the limit on attempts. It must not end a run that another option says to go on: a limit on time removes one of
/// lower precedence, given or the default, and `--until never` removes the default.
pub(super) fn attempts(settings: &Settings, until: Until) -> Checked<InEffect<Option<u64>>> {
    let attempts = settings.value(&ATTEMPTS)?;
    let source = settings.source(&ATTEMPTS);
    // None, which is below every source, also for a limit of 0, which is none.
    let deadline_source =
        limit_unless_zero(settings, &DEADLINE)?.and_then(|_| settings.source(&DEADLINE));
    let stop_after_source =
        limit_unless_zero(settings, &STOP_AFTER)?.and_then(|_| settings.source(&STOP_AFTER));
    let remover = if deadline_source > source && deadline_source >= stop_after_source {
        DEADLINE.long
    } else if stop_after_source > source {
        STOP_AFTER.long
    } else if source.is_none() && until == Until::Never {
        UNTIL.long
    } else {
        return Ok(InEffect::own(attempts));
    };
    if attempts.is_none() {
        return Ok(InEffect::own(None));
    }
    Ok(InEffect::decided(None, "unlimited", remover))
}

/// Reads `--consecutive`, how many successes in a row end the run. Returns an error if fewer attempts are allowed, as
/// the run could not succeed then. Only success as the goal heeds it. `attempts` is the limit, None without one.
fn consecutive(settings: &Settings, until: Until, attempts: Option<u64>) -> Checked<u64> {
    let consecutive = settings.value(&CONSECUTIVE)?;
    match (attempts, settings.find(&CONSECUTIVE)) {
        (Some(most), Some(setting)) if consecutive > most && until == Until::Success => {
            Err(setting.error(format!("can never be reached with {most} attempts")))
        }
        _ => Ok(consecutive),
    }
}

/// Returns true if the wait that a server asks for (`Retry-After`) gets no random part. Many runs may get the same one,
/// and a random part spreads them. A policy without jitter is meant for the policy's own waits: the random part is
/// dropped only if the user types both options, `--retry-after` and `--jitter none` (or `--every`, which implies it).
fn asked_is_exact(settings: &Settings) -> bool {
    settings.get(&JITTER) == Ok(Some(Jitter::None))
        && settings.source(&JITTER) == Some(Source::Flag)
        && settings.source(&RETRY_AFTER) == Some(Source::Flag)
}

/// The budget of a run, if it has one, and its store. Without a budget, the store is never used.
pub(super) struct BudgetAndStore {
    pub(super) budget: Option<SharedBudget>,
    pub(super) store: Store,
}

/// Returns the budget of `--budget`, and its store, whose files are not read yet (`read_store_files`). `outer` is the `place` (name and store) of the budget that has counted the attempt of the
/// outer run, None without one: if it is this budget, the first attempt is the same call, and is not counted again.
pub(super) fn budget(settings: &Settings, outer: Option<&str>) -> Checked<BudgetAndStore> {
    // All options are read before the name, so that they are checked without `--budget`, too.
    let limits = budget_limits(settings)?;
    let store = settings.get(&STORE)?;
    let denies_if_down = settings.value(&STORE_DOWN)? == StoreDown::Deny;
    let Some(name) = settings.get(&BUDGET)? else {
        return Ok(BudgetAndStore {
            budget: None,
            store: Store::Directory(None),
        });
    };
    let store = store.unwrap_or_else(|| Store::Directory(environment::state_home()));
    // By this, nested runs recognize the same budget.
    let place = format!("{name:?} in {}", store.location());
    let budget = SharedBudget {
        name,
        is_inherited: outer == Some(&*place),
        place,
        limits,
        denies_if_down,
    };
    Ok(BudgetAndStore {
        budget: Some(budget),
        store,
    })
}

/// Reads the options that limit the retries of all runs of a budget.
fn budget_limits(settings: &Settings) -> Checked<BudgetLimits> {
    Ok(BudgetLimits {
        ratio: settings.value(&BUDGET_RATIO)?,
        min: settings.value(&BUDGET_MIN)?,
        window: settings.value(&BUDGET_WINDOW)?,
    })
}

/// Reads the files that the address of `store` names (certificates, a key). `settings` are those of the run, and an
/// error names the option that they have the store from.
pub(super) fn read_store_files(settings: &Settings, store: &mut Store) -> Checked<()> {
    store
        .read_files()
        .map_err(|problem| match settings.find(&STORE) {
            Some(setting) => setting.error(problem),
            None => UsageError(problem.to_string()),
        })
}
