//! Reads the options on the shared budget.

use std::time::Duration;

use super::limits::max_retry_after;
use crate::budget::client::Store;
use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values::{self, CoolOffMode};
use crate::policy::budget::BudgetLimits;
use crate::process::sys::environment;
use crate::run::plan::{CoolOff, SharedBudget};

/// Returns the budget, or None without a name, and its store. `longest` is the run's own longest wait, `counted` the
/// budget that has counted the attempt of the outer run.
pub(super) fn budget(
    settings: &Settings,
    longest: Duration,
    counted: Option<&str>,
) -> Result<(Option<SharedBudget>, Store), UsageError> {
    let mode = settings.get("cool-off", values::cool_off)?.unwrap_or(CoolOffMode::Off);
    let ratio = settings.value("budget-ratio", values::percent)?;
    let terms = BudgetLimits {
        // A fraction in [0, 1].
        ratio: (ratio * 1e6).round() as u32,
        min: settings.value("budget-min", |text| values::whole(text, 0, u64::MAX))?,
        window: settings.value("budget-window", |text| values::period(text, "10m"))?,
    };
    let patience = |text: &str| values::period(text, "250ms").map_err(|problem| problem.to_string());
    let store = settings.get("store", |text| Ok(Store::parse(text, patience)?))?;
    let denies_if_down = settings.choice("store-down", &[false, true])?;
    let Some(name) = settings.get("budget", values::budget_name)? else {
        return match settings.source("cool-off") {
            Some(Source::Flag) if mode != CoolOffMode::Off => Err(UsageError(
                "--cool-off needs a name by which the runs know each other; try --budget NAME".into(),
            )),
            _ => Ok((None, Store::Directory(None))),
        };
    };
    let store = store.unwrap_or_else(|| Store::Directory(environment::state_home()));
    let (place, timeout) = store.prepare().map_err(|problem| match settings.said("store") {
        Some(said) => said.unreadable(problem),
        None => UsageError(problem),
    })?;
    let place = format!("{name:?} in {place}");
    let budget = SharedBudget {
        name,
        is_counted: counted == Some(&*place),
        place,
        terms,
        timeout,
        denies_if_down,
        cool_off: (mode != CoolOffMode::Off).then_some(CoolOff {
            // The cool-off may be a server's Retry-After.
            longest: longest.max(max_retry_after(settings)?),
            skips: mode == CoolOffMode::Skip,
        }),
    };
    Ok((Some(budget), store))
}
