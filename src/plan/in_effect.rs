//! The values in effect of options that others change, for `-vv`.

use std::time::Duration;

use crate::cli::table::Opt;
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::session::{Limits, Until};
use crate::text::exact;

/// The value of an option, and the other option that decided it.
struct Decided {
    value: String,
    by: &'static str,
}

/// The value in effect of an option.
enum Effect {
    /// As given or by default.
    AsSet,
    /// Another option decides it.
    By(Decided),
    /// Nothing depends on it.
    None,
}

/// Returns the line about an option, such as `base = 2s (policy slow at /etc/backoff.toml:7:8)` or
/// `attempts = unlimited (by --deadline)`. Returns None if it is not set, has no default, or has no effect by default.
pub(super) fn line(
    settings: &Settings,
    limits: &Limits,
    delays: &Delays,
    opt: &Opt,
) -> Option<String> {
    let long = opt.long;
    let shown = settings.shown(long);
    let effect = match long {
        "attempts" => attempts(settings, limits),
        "base" => base(settings, limits, delays),
        "factor" if settings.find("factor").is_some() => Effect::AsSet,
        "factor" => factor(delays),
        "max-delay" => max_delay(settings, delays),
        "growth" => growth(settings, limits, delays),
        "jitter" => jitter(settings, limits, delays),
        _ => Effect::AsSet,
    };
    let default = opt.default_value();
    match (effect, shown) {
        (Effect::By(Decided { value, by }), None) => Some(format!("{long} = {value} (by --{by})")),
        (Effect::By(Decided { value, by }), Some((text, source))) => Some(format!(
            "{long} = {value} (by --{by}, not {text} of {})",
            source.trim_end_matches("; overridden")
        )),
        (Effect::AsSet | Effect::None, Some((text, source))) => {
            Some(format!("{long} = {text} ({source})"))
        }
        (Effect::AsSet, None) if !default.is_empty() => {
            Some(format!("{long} = {default} (default)"))
        }
        (Effect::AsSet | Effect::None, None) => None,
    }
}

fn attempts(settings: &Settings, limits: &Limits) -> Effect {
    let is_limited = settings
        .value("attempts", values::attempts)
        .ok()
        .flatten()
        .is_some();
    if limits.attempts.is_some() || !is_limited {
        return Effect::AsSet;
    }
    let given = |long| settings.source(long);
    let by = if limits.deadline.is_some() && given("deadline") >= given("stop-after") {
        "deadline"
    } else if limits.stop_after.is_some() {
        "stop-after"
    } else {
        "until"
    };
    decided("unlimited", by)
}

fn base(settings: &Settings, limits: &Limits, delays: &Delays) -> Effect {
    let has_list = matches!(delays.growth, Growth::List(_));
    match settings.value("base", values::duration) {
        _ if settings.find("base").is_none() && limits.until == Until::Failure => {
            decided("0", "until")
        }
        _ if settings.find("base").is_none() && has_list && limits.consecutive == 1 => Effect::None,
        Ok(given) if given > delays.base => decided(&exact(delays.base), "max-delay"),
        _ => Effect::AsSet,
    }
}

fn factor(delays: &Delays) -> Effect {
    match (delays.jitter, &delays.growth) {
        (Jitter::Decorrelated { .. }, _) => Effect::AsSet,
        (Jitter::Slotted { .. }, _) => Effect::None,
        // The default of the table is that of decorrelated jitter.
        (_, Growth::Exponential { factor }) => decided(&factor.to_string(), "jitter"),
        _ => Effect::None,
    }
}

fn max_delay(settings: &Settings, delays: &Delays) -> Effect {
    if delays.cap == Duration::MAX {
        return decided("unlimited", "jitter");
    }
    let given = settings.value("max-delay", values::duration);
    if given == Ok(delays.cap) {
        return Effect::AsSet;
    }
    let longest = |long| settings.duration(long).ok().flatten();
    let by = if longest("stop-at-delay") == Some(delays.cap) {
        "stop-at-delay"
    } else if matches!(delays.growth, Growth::List(_)) {
        "delays"
    } else {
        settings
            .find("base")
            .map_or("base", |base| base.option_name())
    };
    decided(&exact(delays.cap), by)
}

fn growth(settings: &Settings, limits: &Limits, delays: &Delays) -> Effect {
    match (&delays.growth, delays.jitter) {
        (Growth::List(_), _) => Effect::None,
        (_, Jitter::Decorrelated { .. } | Jitter::Slotted { .. }) => Effect::None,
        (Growth::Constant, _)
            if limits.until == Until::Failure && settings.find("growth").is_none() =>
        {
            decided("constant", "until")
        }
        _ => Effect::AsSet,
    }
}

fn jitter(settings: &Settings, limits: &Limits, delays: &Delays) -> Effect {
    let is_given = settings.get("jitter", values::jitter);
    match (is_given, delays.jitter) {
        (Ok(Some(given)), in_effect) if given == in_effect => Effect::AsSet,
        // Its factor may differ.
        (_, Jitter::Decorrelated { .. }) => Effect::AsSet,
        (_, Jitter::Full) => decided("full", "growth"),
        (_, Jitter::None) if limits.until == Until::Failure => decided("none", "until"),
        (_, Jitter::None) => decided("none", "delays"),
        _ => Effect::AsSet,
    }
}

fn decided(value: &str, by: &'static str) -> Effect {
    Effect::By(Decided {
        value: value.to_owned(),
        by,
    })
}
