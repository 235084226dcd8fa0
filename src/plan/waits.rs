//! Builds [`Delays`], the waits between attempts, from the options.

use std::time::Duration;

use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values::{self, Parsed};
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::outcome::exact;
use crate::policy::session::Until;

/// The default of `--max-delay`.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Reads the options on waits.
pub(super) fn delays(settings: &Settings, until: Until) -> Result<Delays, UsageError> {
    let list = settings.get("delays", values::durations)?;
    let jitter = jitter(settings, until)?;
    let factor = match jitter {
        Jitter::Decorrelated { factor } => factor,
        _ => settings.get("factor", values::factor)?.unwrap_or(2.0),
    };
    let cap = cap(settings, list.as_deref(), jitter)?;
    let growths = [
        Growth::Exponential { factor },
        Growth::Linear,
        Growth::Fibonacci,
        Growth::Constant,
    ];
    let growth = match list {
        Some(list) => Growth::List(list),
        None if until == Until::Failure && settings.said("growth").is_none() => Growth::Constant,
        None => settings.choice("growth", &growths)?,
    };
    let base = match settings.said("base") {
        None if until == Until::Failure => Duration::ZERO,
        _ => settings.value("base", values::duration)?.min(cap),
    };
    Ok(Delays {
        base,
        cap,
        growth,
        jitter,
    })
}

fn jitter(settings: &Settings, until: Until) -> Result<Jitter, UsageError> {
    let list = settings.source("delays");
    let jitter = match settings.get("jitter", values::jitter)? {
        // A list is exact unless its own source or a stronger one asks for jitter.
        Some(jitter) if settings.source("jitter") >= list => jitter,
        _ if list.is_some() || until == Until::Failure => Jitter::None,
        _ if settings.said("growth").is_some() => Jitter::Full,
        _ => values::DEFAULT_JITTER,
    };
    settings.get("spread", values::spread)?;
    let has_width = matches!(jitter, Jitter::Additive { .. } | Jitter::Proportional { .. });
    if let Some(said) = settings.said("spread").filter(|said| said.source == Source::Flag)
        && !has_width
    {
        let problem = "means nothing without --jitter additive or proportional";
        return Err(UsageError(format!("{said} {problem}")));
    }
    Ok(match jitter {
        Jitter::Decorrelated { factor } => Jitter::Decorrelated {
            factor: settings.get("factor", values::factor)?.unwrap_or(factor),
        },
        Jitter::Additive { spread } => Jitter::Additive {
            spread: width(settings, values::duration)?.unwrap_or(spread),
        },
        Jitter::Proportional { spread } => Jitter::Proportional {
            spread: width(settings, values::percent)?.unwrap_or(spread),
        },
        other => other,
    })
}

/// Returns the width of a jitter; None if the spread belongs to a jitter that a stronger source has overridden.
fn width<T>(settings: &Settings, read: fn(&str) -> Parsed<T>) -> Parsed<Option<T>> {
    match settings.get("spread", read) {
        Err(_) if settings.source("spread") < settings.source("jitter") => Ok(None),
        width => width,
    }
}

/// Returns the longest wait. A cap does not cut a wait from a stronger source.
fn cap(settings: &Settings, list: Option<&[Duration]>, jitter: Jitter) -> Result<Duration, UsageError> {
    let default = match jitter {
        Jitter::Slotted { .. } => Duration::MAX,
        _ => MAX_DELAY,
    };
    let cap = settings.duration("max-delay")?.unwrap_or(default);
    let asked = match list {
        Some(list) => ("delays", list.iter().copied().max()),
        None => ("base", settings.duration("base")?),
    };
    let stronger = [asked, ("stop-at-delay", settings.duration("stop-at-delay")?)]
        .into_iter()
        .filter(|(long, _)| settings.source("max-delay") < settings.source(long));
    Ok(stronger.filter_map(|(_, wait)| wait).fold(cap, Duration::max))
}

/// Returns a remark if the base has raised a cap that would have cut it.
pub(super) fn raised_cap(settings: &Settings, delays: &Delays) -> Option<String> {
    let base = settings.said("base")?;
    let (cap, shown) = match settings.said("max-delay") {
        Some(said) => (said.read(values::duration).ok()?, said.to_string()),
        None => (MAX_DELAY, format!("the default --max-delay {}", exact(MAX_DELAY))),
    };
    let raised = exact(delays.base);
    let is_raised = cap < delays.base && delays.cap == delays.base;
    is_raised.then(|| format!("{base} is longer than {shown}, which is raised to {raised}"))
}
