//! The values in effect of options, for `-vv`. Some options change the value of others: without this, the user would
//! see a value that the run does not have. Each function here finds out which option has decided, from the finished
//! parts of the plan (`limits`, `delays`) and the settings; the decision itself is made in `plan::limits`.

use std::time::Duration;

use crate::config::settings::{Settings, ShownSetting};
use crate::options::opt::Spec;
use crate::options::{
    ATTEMPTS, BASE, DEADLINE, DELAYS, FACTOR, GROWTH, JITTER, MAX_DELAY, STOP_AFTER, STOP_AT_DELAY,
    UNTIL,
};
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::session::{Limits, Until};
use crate::text::exact;

/// Where the value in effect of an option comes from.
enum InEffect {
    /// The value that is given, or else the default.
    AsSet,
    /// The value that another option has decided.
    Decided { value: String, by: &'static str },
    /// Nothing depends on the option.
    NoEffect,
}

/// Returns the line about an option, such as `base = 2s (policy slow at /etc/backoff.toml:7:8)` or
/// `attempts = unlimited (by --deadline)`. Returns None for an option that is not set, if it has no default or nothing
/// depends on it.
pub(super) fn line(
    settings: &Settings,
    limits: &Limits,
    delays: &Delays,
    opt: &Spec,
) -> Option<String> {
    let long = opt.long;
    let shown = settings.shown(opt);
    match (in_effect(settings, limits, delays, opt), shown) {
        (InEffect::Decided { value, by }, None) => Some(format!("{long} = {value} (by --{by})")),
        // This line says itself that the setting is overridden.
        (InEffect::Decided { value, by }, Some(ShownSetting { text, source })) => Some(format!(
            "{long} = {value} (by --{by}, not {text} of {})",
            source.trim_end_matches("; overridden")
        )),
        (InEffect::AsSet | InEffect::NoEffect, Some(ShownSetting { text, source })) => {
            Some(format!("{long} = {text} ({source})"))
        }
        (InEffect::AsSet, None) if !opt.default.is_empty() => {
            Some(format!("{long} = {} (default)", opt.default))
        }
        (InEffect::AsSet | InEffect::NoEffect, None) => None,
    }
}

/// Returns the value in effect of an option. Of all but these six options, it is always the one that is set.
fn in_effect(settings: &Settings, limits: &Limits, delays: &Delays, opt: &Spec) -> InEffect {
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
        InEffect::AsSet
    }
}

/// Returns the limit on attempts in effect. If a number is given, or is the default, but the run has no limit, a limit
/// on time of higher precedence has removed it, or else `--until never`. Of two limits on time, the one of the higher
/// precedence is named, and the deadline if both have the same.
fn attempts(settings: &Settings, limits: &Limits) -> InEffect {
    let is_set_to_number = settings.value(&ATTEMPTS).ok().flatten().is_some();
    if limits.attempts.is_some() || !is_set_to_number {
        return InEffect::AsSet;
    }
    let is_deadline_higher = settings.source(&DEADLINE) >= settings.source(&STOP_AFTER);
    if limits.deadline.is_some() && is_deadline_higher {
        decided("unlimited", DEADLINE.long)
    } else if limits.stop_after.is_some() {
        decided("unlimited", STOP_AFTER.long)
    } else {
        decided("unlimited", UNTIL.long)
    }
}

/// Returns the base in effect: `--until failure` makes 0 of the default, a list of waits needs none, and the cap cuts
/// one that is longer.
fn base(settings: &Settings, limits: &Limits, delays: &Delays) -> InEffect {
    let has_list = matches!(delays.growth, Growth::List(_));
    let is_given = settings.has(&BASE);
    if !is_given && limits.until == Until::Failure {
        return decided("0", UNTIL.long);
    }
    // With `--consecutive`, it is the wait between successes.
    if !is_given && has_list && limits.consecutive == 1 {
        return InEffect::NoEffect;
    }
    match settings.value(&BASE) {
        Ok(given) if given > delays.base => decided(&exact(delays.base), MAX_DELAY.long),
        _ => InEffect::AsSet,
    }
}

/// Returns the factor in effect. Its default depends on the jitter, and only decorrelated jitter and exponential growth
/// have one. One that is given is shown in any case.
fn factor(settings: &Settings, delays: &Delays) -> InEffect {
    if settings.has(&FACTOR) {
        return InEffect::AsSet;
    }
    match (delays.jitter, &delays.growth) {
        (Jitter::Decorrelated { .. }, _) => InEffect::AsSet,
        (Jitter::Slotted { .. }, _) => InEffect::NoEffect,
        // The default of the option is that of decorrelated jitter.
        (_, Growth::Exponential { factor }) => decided(&factor.to_string(), JITTER.long),
        _ => InEffect::NoEffect,
    }
}

/// Returns the cap in effect, which a longer wait of another option of higher precedence may have raised, or slotted
/// jitter removed, which has a limit of its own.
fn max_delay(settings: &Settings, delays: &Delays) -> InEffect {
    if delays.cap == Duration::MAX {
        return decided("unlimited", JITTER.long);
    }
    if settings.value(&MAX_DELAY) == Ok(delays.cap) {
        return InEffect::AsSet;
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

/// Returns the growth in effect: a list of waits and some jitters need none, and `--until failure` makes the default
/// constant.
fn growth(settings: &Settings, limits: &Limits, delays: &Delays) -> InEffect {
    match (&delays.growth, delays.jitter) {
        (Growth::List(_), _) => InEffect::NoEffect,
        (_, Jitter::Decorrelated { .. } | Jitter::Slotted { .. }) => InEffect::NoEffect,
        (Growth::Constant, _) if limits.until == Until::Failure && !settings.has(&GROWTH) => {
            decided("constant", UNTIL.long)
        }
        _ => InEffect::AsSet,
    }
}

/// Returns the jitter in effect. If it is not the one that is given, its kind tells which option has decided:
/// decorrelated is the default, only `--growth` makes it full, and only `--until failure` or `--delays` makes it none.
fn jitter(settings: &Settings, limits: &Limits, delays: &Delays) -> InEffect {
    let given = settings.get(&JITTER);
    match (given, delays.jitter) {
        (Ok(Some(given)), in_effect) if given == in_effect => InEffect::AsSet,
        // Given or the default; only its factor may differ.
        (_, Jitter::Decorrelated { .. }) => InEffect::AsSet,
        (_, Jitter::Full) => decided("full", GROWTH.long),
        (_, Jitter::None) if limits.until == Until::Failure => decided("none", UNTIL.long),
        (_, Jitter::None) => decided("none", DELAYS.long),
        _ => InEffect::AsSet,
    }
}

/// Returns a value, as it is shown, that another option has decided, whose long name is `by`.
fn decided(value: &str, by: &'static str) -> InEffect {
    InEffect::Decided {
        value: value.to_owned(),
        by,
    }
}
