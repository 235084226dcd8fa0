//! Builds [`Delays`], the waits between attempts, from the options.

use std::time::Duration;

use crate::config::said::Source;
use crate::config::settings::Settings;
use crate::config::values::{self, Parsed};
use crate::policy::delay::Growth::{self, Constant, Exponential, Fibonacci, Linear};
use crate::policy::delay::{Delays, Jitter};
use crate::policy::session::Until;

/// Reads the options on waits.
pub(super) fn delays(settings: &Settings, until: Until) -> Parsed<Delays> {
    let is_flat = until == Until::Failure;
    let list = settings.get("delays", values::durations)?;
    let jitter = jitter(settings, is_flat)?;
    let factor = match jitter {
        Jitter::Decorrelated { factor } => factor,
        _ => settings.get("factor", values::factor)?.unwrap_or(2.0),
    };
    let cap = cap(settings, list.as_deref(), jitter)?;
    let growth = match list {
        Some(list) => Growth::List(list),
        None if is_flat => Constant,
        None => settings.choice("growth", &[Exponential { factor }, Linear, Fibonacci, Constant])?,
    };
    let base = match settings.said("base") {
        None if is_flat => Duration::ZERO,
        _ => settings.value("base", values::duration)?.min(cap),
    };
    Ok(Delays {
        base,
        cap,
        growth,
        jitter,
    })
}

fn jitter(settings: &Settings, is_flat: bool) -> Parsed<Jitter> {
    let list = settings.source("delays");
    let mut jitter = match settings.get("jitter", values::jitter)? {
        // A list is exact unless its own source or a stronger one asks for jitter.
        Some(jitter) if settings.source("jitter") >= list => jitter,
        _ if list.is_some() || is_flat => Jitter::None,
        _ if settings.said("growth").is_some() => Jitter::Full,
        _ => values::DEFAULT_JITTER,
    };
    settings.get("spread", values::spread)?;
    match (&mut jitter, settings.said("spread")) {
        (Jitter::Additive { spread }, _) => *spread = width(settings, values::duration)?.unwrap_or(*spread),
        (Jitter::Proportional { spread }, _) => *spread = width(settings, values::percent)?.unwrap_or(*spread),
        (_, Some(said)) if said.source == Source::Flag => {
            return Err(said.unreadable("means nothing without --jitter additive or proportional"));
        }
        (Jitter::Decorrelated { factor }, _) => *factor = settings.get("factor", values::factor)?.unwrap_or(*factor),
        _ => {}
    }
    Ok(jitter)
}

/// Returns the width of a jitter; None if the spread belongs to a jitter that a stronger source has overridden.
fn width<T>(settings: &Settings, read: fn(&str) -> Parsed<T>) -> Parsed<Option<T>> {
    match settings.get("spread", read) {
        Err(_) if settings.source("spread") < settings.source("jitter") => Ok(None),
        width => width,
    }
}

/// Returns the longest wait. A cap does not cut a wait from a stronger source.
fn cap(settings: &Settings, list: Option<&[Duration]>, jitter: Jitter) -> Parsed<Duration> {
    let cap = match (settings.said("max-delay"), jitter) {
        (None, Jitter::Slotted { .. }) => Duration::MAX,
        _ => settings.value("max-delay", values::duration)?,
    };
    let asked = match list {
        Some(list) => ("delays", list.iter().copied().max()),
        None => ("base", settings.duration("base")?),
    };
    let stronger = [asked, ("stop-at-delay", settings.duration("stop-at-delay")?)]
        .into_iter()
        .filter(|(long, _)| settings.source("max-delay") < settings.source(long));
    Ok(stronger.filter_map(|(_, wait)| wait).fold(cap, Duration::max))
}
