//! The budget that a run shares with others.

use std::time::Duration;

use crate::budget::client::Store;
use crate::cli::defaults;
use crate::config::settings::{Settings, is_on};
use crate::config::sourced::{Source, UsageError, value};
use crate::policy::budget::Terms;
use crate::process::sys::environment;
use crate::run::nesting::Counted;
use crate::run::plan::SharedBudget;

/// None without a name. With it, where budgets are kept. `longest` is the longest wait that the run itself may make,
/// `counted` what the run around this one says.
pub(super) fn budget(
    settings: &Settings,
    longest: Duration,
    counted: Option<&Counted>,
) -> Result<(Option<SharedBudget>, Store), UsageError> {
    let cool_off = is_on(&settings.cool_off);
    let Some(name) = value(&settings.budget) else {
        return match &settings.cool_off {
            Some(said) if cool_off && said.statement.source == Source::Flag => Err(UsageError(
                "--cool-off needs a name by which the runs know each other; try --budget NAME".into(),
            )),
            _ => Ok((None, Store::Home(None))),
        };
    };
    let ratio = value(&settings.budget_ratio).unwrap_or(defaults::BUDGET_RATIO);
    let store = value(&settings.store).unwrap_or_else(|| Store::Home(environment::state_home()));
    let place = format!("{name:?} in {}", store.place());
    let budget = SharedBudget {
        name,
        within: counted
            .filter(|counted| counted.by == place)
            .map(|counted| counted.number),
        place,
        terms: Terms {
            // A fraction in [0, 1].
            ratio: (ratio * 1e6).round() as u32,
            min: value(&settings.budget_min).unwrap_or(defaults::BUDGET_MIN),
            window: value(&settings.budget_window).unwrap_or(defaults::BUDGET_WINDOW),
        },
        timeout: value(&settings.store_timeout).unwrap_or(defaults::STORE_TIMEOUT),
        has_fallback: store.is_remote(),
        // What is owed may be what the other side asked of a run.
        cool_off: cool_off.then(|| longest.max(value(&settings.max_retry_after).unwrap_or(defaults::MAX_RETRY_AFTER))),
    };
    Ok((Some(budget), store))
}
