//! The budget that a run shares with others.

use std::time::Duration;

use crate::budget::client::Store;
use crate::cli::defaults;
use crate::cli::words::StoreDown;
use crate::config::settings::Settings;
use crate::config::sourced::{Source, Sourced, UsageError, value};
use crate::config::values::CoolOffMode;
use crate::policy::budget::BudgetLimits;
use crate::process::sys::environment;
use crate::run::plan::{CoolOff, SharedBudget};

/// Returns the budget, or None without a name, and where it is kept. `longest` is the longest wait that the run itself may
/// make, `counted` the budget that has counted the attempt around it.
pub(super) fn budget(
    settings: &Settings,
    longest: Duration,
    counted: Option<&str>,
) -> Result<(Option<SharedBudget>, Store), UsageError> {
    let mode = value(&settings.cool_off).unwrap_or(CoolOffMode::Off);
    let Some(name) = value(&settings.budget) else {
        return match &settings.cool_off {
            Some(said) if mode != CoolOffMode::Off && said.statement.source == Source::Flag => Err(UsageError(
                "--cool-off needs a name by which the runs know each other; try --budget NAME".into(),
            )),
            _ => Ok((None, Store::Home(None))),
        };
    };
    let ratio = value(&settings.budget_ratio).unwrap_or(defaults::BUDGET_RATIO);
    let store = value(&settings.store).unwrap_or_else(|| Store::Home(environment::state_home()));
    if let Some(said) = &settings.store {
        said.value.read_files().map_err(|why| said.unreadable(&why))?;
    }
    let place = format!("{name:?} in {}", store.place());
    let budget = SharedBudget {
        name,
        is_counted: counted == Some(&*place),
        place,
        terms: BudgetLimits {
            // A fraction in [0, 1].
            ratio: (ratio * 1e6).round() as u32,
            min: value(&settings.budget_min).unwrap_or(defaults::BUDGET_MIN),
            window: value(&settings.budget_window).unwrap_or(defaults::BUDGET_WINDOW),
        },
        timeout: store.timeout(),
        denies_if_down: value(&settings.store_down).unwrap_or(defaults::STORE_DOWN) == StoreDown::Deny,
        cool_off: (mode != CoolOffMode::Off).then(|| CoolOff {
            // What is owed may be what the other side asked of a run.
            longest: longest.max(value(&settings.max_retry_after).unwrap_or(defaults::MAX_RETRY_AFTER)),
            skips: mode == CoolOffMode::Skip,
        }),
    };
    Ok((Some(budget), store))
}

/// The status of a run whose command may not have been run. A variable that is forgotten somewhere must not make a success
/// of that.
pub(super) fn without_a_run(status: &Option<Sourced<u8>>) -> Result<Option<u8>, UsageError> {
    match status {
        Some(said) if said.value == 0 && said.statement.source != Source::Flag => {
            Err(said.unreadable("is taken from the command line alone, as the command may not have been run then"))
        }
        _ => Ok(value(status)),
    }
}
