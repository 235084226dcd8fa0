//! The values in effect of options that others change, for `-vv`.

use std::time::Duration;

use crate::config::settings::Settings;
use crate::options::opt::Spec;
use crate::options::{
    ATTEMPTS, BASE, DEADLINE, DELAYS, FACTOR, GROWTH, JITTER, MAX_DELAY, STOP_AFTER, STOP_AT_DELAY,
    UNTIL,
};
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
    opt: &Spec,
) -> Option<String> {
    let long = opt.long;
    let shown = settings.shown(opt);
    match (effect(settings, limits, delays, opt), shown) {
        (Effect::By(Decided { value, by }), None) => Some(format!("{long} = {value} (by --{by})")),
        (Effect::By(Decided { value, by }), Some((text, source))) => Some(format!(
            "{long} = {value} (by --{by}, not {text} of {})",
            source.trim_end_matches("; overridden")
        )),
        (Effect::AsSet | Effect::None, Some((text, source))) => {
            Some(format!("{long} = {text} ({source})"))
        }
        (Effect::AsSet, None) if !opt.default.is_empty() => {
            Some(format!("{long} = {} (default)", opt.default))
        }
        (Effect::AsSet | Effect::None, None) => None,
    }
}

fn effect(settings: &Settings, limits: &Limits, delays: &Delays, opt: &Spec) -> Effect {
    if *opt == *ATTEMPTS {
        attempts(settings, limits)
    } else if *opt == *BASE {
        base(settings, limits, delays)
    } else if *opt == *FACTOR {
        factor(settings, delays)
    } else if *opt == *MAX_DELAY {
        max_delay(settings, delays)
    } else if *opt == *GROWTH {
        growth(settings, limits, delays)
    } else if *opt == *JITTER {
        jitter(settings, limits, delays)
    } else {
        Effect::AsSet
    }
}

fn attempts(settings: &Settings, limits: &Limits) -> Effect {
    let is_limited = settings.value(&ATTEMPTS).ok().flatten().is_some();
    if limits.attempts.is_some() || !is_limited {
        return Effect::AsSet;
    }
    let is_stronger = settings.source(&DEADLINE) >= settings.source(&STOP_AFTER);
    if limits.deadline.is_some() && is_stronger {
        decided("unlimited", DEADLINE.long)
    } else if limits.stop_after.is_some() {
        decided("unlimited", STOP_AFTER.long)
    } else {
        decided("unlimited", UNTIL.long)
    }
}

fn base(settings: &Settings, limits: &Limits, delays: &Delays) -> Effect {
    let has_list = matches!(delays.growth, Growth::List(_));
    let is_given = settings.has(&BASE);
    if !is_given && limits.until == Until::Failure {
        return decided("0", UNTIL.long);
    }
    if !is_given && has_list && limits.consecutive == 1 {
        return Effect::None;
    }
    match settings.value(&BASE) {
        Ok(given) if given > delays.base => decided(&exact(delays.base), MAX_DELAY.long),
        _ => Effect::AsSet,
    }
}

fn factor(settings: &Settings, delays: &Delays) -> Effect {
    if settings.has(&FACTOR) {
        return Effect::AsSet;
    }
    match (delays.jitter, &delays.growth) {
        (Jitter::Decorrelated { .. }, _) => Effect::AsSet,
        (Jitter::Slotted { .. }, _) => Effect::None,
        // The default of the option is that of decorrelated jitter.
        (_, Growth::Exponential { factor }) => decided(&factor.to_string(), JITTER.long),
        _ => Effect::None,
    }
}

fn max_delay(settings: &Settings, delays: &Delays) -> Effect {
    if delays.cap == Duration::MAX {
        return decided("unlimited", JITTER.long);
    }
    if settings.value(&MAX_DELAY) == Ok(delays.cap) {
        return Effect::AsSet;
    }
    let cap = exact(delays.cap);
    if settings.get(&STOP_AT_DELAY) == Ok(Some(delays.cap)) {
        return decided(&cap, STOP_AT_DELAY.long);
    }
    if matches!(delays.growth, Growth::List(_)) {
        return decided(&cap, DELAYS.long);
    }
    match settings.find(&BASE) {
        Some(base) => decided(&cap, base.option_name()),
        None => decided(&cap, BASE.long),
    }
}

fn growth(settings: &Settings, limits: &Limits, delays: &Delays) -> Effect {
    match (&delays.growth, delays.jitter) {
        (Growth::List(_), _) => Effect::None,
        (_, Jitter::Decorrelated { .. } | Jitter::Slotted { .. }) => Effect::None,
        (Growth::Constant, _) if limits.until == Until::Failure && !settings.has(&GROWTH) => {
            decided("constant", UNTIL.long)
        }
        _ => Effect::AsSet,
    }
}

fn jitter(settings: &Settings, limits: &Limits, delays: &Delays) -> Effect {
    let is_given = settings.get(&JITTER);
    match (is_given, delays.jitter) {
        (Ok(Some(given)), in_effect) if given == in_effect => Effect::AsSet,
        // Its factor may differ.
        (_, Jitter::Decorrelated { .. }) => Effect::AsSet,
        (_, Jitter::Full) => decided("full", GROWTH.long),
        (_, Jitter::None) if limits.until == Until::Failure => decided("none", UNTIL.long),
        (_, Jitter::None) => decided("none", DELAYS.long),
        _ => Effect::AsSet,
    }
}

fn decided(value: &str, by: &'static str) -> Effect {
    Effect::By(Decided {
        value: value.to_owned(),
        by,
    })
}
