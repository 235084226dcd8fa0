//! The budget that a run shares with others.

use std::time::Duration;

use super::resolve::value;
use crate::budget::client::Store;
use crate::config::settings::{Settings, Source, Usage};
use crate::config::values;
use crate::policy::budget::Terms;
use crate::process::sys::environment;
use crate::run::plan::SharedBudget;

const DEFAULT_RATIO: f64 = 0.1;
const DEFAULT_MIN: u64 = 10;
const DEFAULT_WINDOW: Duration = Duration::from_secs(10 * 60);
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(250);

/// What was asked for; None without a name. Every value is judged, also where it is of no use.
pub(super) fn budget(settings: &Settings<'_>) -> Result<(Option<SharedBudget>, Store), Usage> {
    let name = settings.read("budget", |text| match text {
        "" => Err("is empty; try the name of what is called, such as api.example.org".to_owned()),
        name => Ok(name.to_owned()),
    })?;
    let ratio = value(settings.read("budget-ratio", values::percent)?).unwrap_or(DEFAULT_RATIO);
    let min = value(settings.read("budget-min", |text| values::whole(text, 0, u64::MAX))?).unwrap_or(DEFAULT_MIN);
    let window = value(settings.read("budget-window", |text| at_least_a_millisecond(text, "10m"))?);
    let timeout = value(settings.read("store-timeout", |text| at_least_a_millisecond(text, "250ms"))?);
    let store = value(settings.read("store", Store::parse)?).unwrap_or_else(|| Store::Home(environment::state_home()));
    let cool_off = settings.switch("cool-off")?.filter(|given| given.value > 0);
    let Some(name) = value(name) else {
        return match cool_off {
            Some(given) if given.origin == Source::Flag => Err(Usage(
                "--cool-off needs a name by which the runs know each other; try --budget NAME".into(),
            )),
            _ => Ok((None, store)),
        };
    };
    let budget = SharedBudget {
        name,
        terms: Terms {
            // `percent` gives a fraction in [0, 1].
            ratio: (ratio * 1e6).round() as u32,
            min,
            window: window.unwrap_or(DEFAULT_WINDOW),
        },
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        cool_off: cool_off.is_some(),
    };
    Ok((Some(budget), store))
}

fn at_least_a_millisecond(text: &str, example: &str) -> values::Parsed<Duration> {
    let duration = values::duration(text)?;
    if duration < Duration::from_millis(1) {
        return Err(format!("is too short; try {example}"));
    }
    Ok(duration)
}
