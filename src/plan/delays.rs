//! Reads the options on the waits between attempts, each with who has decided its value.
//!
//! Most defaults depend on other options. If two options contradict each other, the one whose source has the higher
//! precedence wins: a flag overrides what the file says about something else, too. Of options that exclude each other
//! (`config::conflicts`), such as a list and a growth, only one is left here.

use std::time::Duration;

use super::in_effect::{Decider, Deciders, InEffect};
use crate::config::settings::Settings;
use crate::options::opt::Spec;
use crate::options::problem::Checked;
use crate::options::values;
use crate::options::{
    BASE, CONSECUTIVE, DELAYS, FACTOR, GROWTH, GrowthName, JITTER, MAX_DELAY, STOP_AT_DELAY, UNTIL,
};
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::session::Until;

/// The waits between attempts, and who has decided the value of each option on them.
pub(super) struct DecidedDelays {
    pub(super) delays: Delays,
    pub(super) deciders: Deciders,
}

/// Reads the options on waits: the base, its growth from wait to wait, the random part (jitter) and the limit on each
/// wait (cap). With `--until failure`, the waits are between successes, and have other defaults.
pub(super) fn delays(settings: &Settings, until: Until) -> Checked<DecidedDelays> {
    let list = settings.get(&DELAYS)?;
    let factor = settings.get(&FACTOR)?;
    let jitter = jitter(settings, until, factor)?;
    let cap = cap(settings, list.as_deref(), jitter.value)?;
    let base = base(settings, until, cap.value)?;
    let growth = growth(settings, until, list, jitter.value, factor)?;
    let factor_decider = decider_of_factor(factor, jitter.value, &growth.value);
    Ok(DecidedDelays {
        deciders: vec![
            (&BASE.spec, base.decider),
            (&FACTOR.spec, factor_decider),
            (&MAX_DELAY.spec, cap.decider),
            (&GROWTH.spec, growth.decider),
            (&JITTER.spec, jitter.decider),
        ],
        delays: Delays {
            base: base.value,
            cap: cap.value,
            growth: growth.value,
            jitter: jitter.value,
        },
    })
}

/// Reads `--jitter`, the random part of waits. Its default depends on `--delays`, `--growth` and `--until`, so that
/// what the user says about waits has an effect. `factor` is `--factor`, which decorrelated jitter needs.
fn jitter(settings: &Settings, until: Until, factor: Option<f64>) -> Checked<InEffect<Jitter>> {
    let list_source = settings.source(&DELAYS);
    // A list is exact unless the same or a higher precedence asks for jitter.
    let list_wins = list_source > settings.source(&JITTER);
    let jitter = match settings.get(&JITTER)? {
        Some(jitter) if jitter == Jitter::None || !list_wins => jitter,
        _ if until == Until::Failure => {
            return Ok(InEffect::decided(Jitter::None, "none", UNTIL.long));
        }
        _ if list_source.is_some() => {
            return Ok(InEffect::decided(Jitter::None, "none", DELAYS.long));
        }
        // The default jitter would ignore the growth that the user sets.
        _ if settings.has(&GROWTH) => {
            return Ok(InEffect::decided(Jitter::Full, "full", GROWTH.long));
        }
        _ => values::DEFAULT_JITTER,
    };
    Ok(InEffect::own(match jitter {
        Jitter::Decorrelated { factor: default } => Jitter::Decorrelated {
            factor: factor.unwrap_or(default),
        },
        other => other,
    }))
}

/// Returns the limit on every wait: that of `--max-delay`, raised to a longer wait that an option of higher precedence
/// sets. So `--base 10m` waits ten minutes although the default of `--max-delay` is less. `list` are the waits of
/// `--delays`.
fn cap(
    settings: &Settings,
    list: Option<&[Duration]>,
    jitter: Jitter,
) -> Checked<InEffect<Duration>> {
    let cap = match (settings.find(&MAX_DELAY), jitter) {
        // Slotted jitter has a ceiling of its own.
        (None, Jitter::Slotted { .. }) => InEffect::decided_length(Duration::MAX, JITTER.long),
        _ => InEffect::own(settings.value(&MAX_DELAY)?),
    };
    // A cut wait would never reach `--stop-at-delay`.
    let cap = raised_cap(settings, cap, &STOP_AT_DELAY, settings.get(&STOP_AT_DELAY)?);
    let longest_listed = list.and_then(|list| list.iter().copied().max());
    let cap = raised_cap(settings, cap, &DELAYS, longest_listed);
    Ok(raised_cap(settings, cap, &BASE, settings.get(&BASE)?))
}

/// Returns the cap, raised to the wait of an option if that is longer, and the source of the option is above that of
/// `--max-delay`. `wait` is None if the option sets none.
fn raised_cap(
    settings: &Settings,
    cap: InEffect<Duration>,
    opt: &Spec,
    wait: Option<Duration>,
) -> InEffect<Duration> {
    match (wait, settings.find(opt)) {
        (Some(wait), Some(setting))
            if wait > cap.value && settings.source(opt) > settings.source(&MAX_DELAY) =>
        {
            // `--every` may have set the base.
            InEffect::decided_length(wait, setting.option_name())
        }
        _ => cap,
    }
}

/// Reads the base, the first wait: `--until failure` makes 0 of its default, and the cap cuts a longer base.
fn base(settings: &Settings, until: Until, cap: Duration) -> Checked<InEffect<Duration>> {
    let is_given = settings.has(&BASE);
    // Successes are repeated at once by default, as nothing needs to recover.
    if !is_given && until == Until::Failure {
        return Ok(InEffect::decided_length(Duration::ZERO, UNTIL.long));
    }
    let base = settings.value(&BASE)?;
    // A list of waits needs no base; but with `--consecutive`, it is the wait between successes.
    if !is_given && settings.has(&DELAYS) && settings.value(&CONSECUTIVE) == Ok(1) {
        return Ok(InEffect::unused(base.min(cap)));
    }
    if base > cap {
        return Ok(InEffect::decided_length(cap, MAX_DELAY.long));
    }
    Ok(InEffect::own(base))
}

/// Reads the growth: a list of waits takes its place, some jitters ignore it (then nothing depends on the option), and
/// with `--until failure` it is constant. `factor` is `--factor`.
fn growth(
    settings: &Settings,
    until: Until,
    list: Option<Vec<Duration>>,
    jitter: Jitter,
    factor: Option<f64>,
) -> Checked<InEffect<Growth>> {
    if let Some(list) = list {
        return Ok(InEffect::unused(Growth::List(list)));
    }
    if until == Until::Failure && !settings.has(&GROWTH) {
        return Ok(InEffect::decided(Growth::Constant, "constant", UNTIL.long));
    }
    let growth = match settings.value(&GROWTH)? {
        GrowthName::Exponential => Growth::Exponential {
            factor: match jitter {
                // Unused: this jitter grows by itself, and has its own default of the factor.
                Jitter::Decorrelated { factor } => factor,
                _ => factor.unwrap_or(2.0),
            },
        },
        GrowthName::Linear => Growth::Linear,
        GrowthName::Fibonacci => Growth::Fibonacci,
        GrowthName::Constant => Growth::Constant,
    };
    Ok(match jitter {
        Jitter::Decorrelated { .. } | Jitter::Slotted { .. } => InEffect::unused(growth),
        _ => InEffect::own(growth),
    })
}

/// Returns who has decided the factor; `given` is `--factor`. Its default depends on the jitter, and only decorrelated
/// jitter and exponential growth have one.
fn decider_of_factor(given: Option<f64>, jitter: Jitter, growth: &Growth) -> Decider {
    if given.is_some() {
        return Decider::Itself;
    }
    match (jitter, growth) {
        (Jitter::Decorrelated { .. }, _) => Decider::Itself,
        (Jitter::Slotted { .. }, _) => Decider::Nothing,
        // The default of the option is that of decorrelated jitter.
        (_, Growth::Exponential { factor }) => Decider::Other {
            by: JITTER.long,
            text: factor.to_string(),
        },
        _ => Decider::Nothing,
    }
}
