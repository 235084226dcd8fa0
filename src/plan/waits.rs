//! The wait between attempts: from options to [`Delays`].

use std::time::Duration;

use super::resolve::value;
use crate::config::settings::{Settings, Source, Sourced, Usage, exclude};
use crate::config::values;
use crate::policy::delay::{Delays, Growth, Jitter};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrowthName {
    Exponential,
    Linear,
    Fibonacci,
    Constant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JitterName {
    None,
    Full,
    Equal,
    Decorrelated,
    Additive,
    Proportional,
    Slotted,
}

const GROWTHS: &[(&str, GrowthName)] = &[
    ("exponential", GrowthName::Exponential),
    ("linear", GrowthName::Linear),
    ("fibonacci", GrowthName::Fibonacci),
    ("constant", GrowthName::Constant),
];

const JITTERS: &[(&str, JitterName)] = &[
    ("none", JitterName::None),
    ("full", JitterName::Full),
    ("equal", JitterName::Equal),
    ("decorrelated", JitterName::Decorrelated),
    ("additive", JitterName::Additive),
    ("proportional", JitterName::Proportional),
    ("slotted", JitterName::Slotted),
];

const DEFAULT_BASE: Duration = Duration::from_millis(500);
const DEFAULT_CAP: Duration = Duration::from_secs(30);
const DEFAULT_SPREAD: Duration = Duration::from_secs(1);
const DEFAULT_SPREAD_FRACTION: f64 = 0.25;
const DEFAULT_SLOT_CEILING: u32 = 10;

/// Resolves the options of the section.
pub(super) fn delays(settings: &Settings<'_>) -> Result<Delays, Usage> {
    let (delays, jitter) = resolve(settings)?;
    let with = [JitterName::Additive, JitterName::Proportional];
    let width = |text: &str| {
        values::percent(text)
            .map(drop)
            .or_else(|_| values::duration(text).map(drop))
    };
    meant_for(settings, "spread", width, jitter, &with)?;
    meant_for(
        settings,
        "slot-ceiling",
        |text| slot_ceiling(text).map(drop),
        jitter,
        &[JitterName::Slotted],
    )?;
    Ok(delays)
}

/// The waits of a class of failures, whose rule is a layer of the settings. A flag that means nothing with them
/// may mean something for the others.
pub(super) fn of_class(settings: &Settings<'_>) -> Result<Delays, Usage> {
    Ok(resolve(settings)?.0)
}

fn slot_ceiling(text: &str) -> values::Parsed<u64> {
    values::whole(text, 1, 62)
}

fn resolve(settings: &Settings<'_>) -> Result<(Delays, JitterName), Usage> {
    let mut growth = settings.read("growth", |text| values::one_of(text, GROWTHS))?;
    let mut list = settings.read("delays", values::durations)?;
    let mut jitter = settings.read("jitter", |text| values::one_of(text, JITTERS))?;
    exclude(&mut growth, &mut list, "a list of waits takes the place of growth")?;
    if jitter
        .as_ref()
        .is_some_and(|j| matches!(j.value, JitterName::Decorrelated | JitterName::Slotted))
    {
        let why = "this jitter grows by itself; try --jitter full";
        exclude(&mut jitter, &mut growth, why)?;
        exclude(&mut jitter, &mut list, why)?;
    }
    let default_jitter = if growth.is_some() || list.is_some() {
        JitterName::Full
    } else {
        JitterName::Decorrelated
    };
    let jitter_name = jitter.as_ref().map_or(default_jitter, |given| given.value);

    let factor = value(settings.read("factor", values::factor)?);
    let default_factor = if jitter_name == JitterName::Decorrelated {
        3.0
    } else {
        2.0
    };
    let factor = factor.unwrap_or(default_factor);
    let jitter = match jitter_name {
        JitterName::None => Jitter::None,
        JitterName::Full => Jitter::Full,
        JitterName::Equal => Jitter::Equal,
        JitterName::Decorrelated => Jitter::Decorrelated { factor },
        JitterName::Additive => Jitter::Additive {
            spread: value(settings.read("spread", values::duration)?).unwrap_or(DEFAULT_SPREAD),
        },
        JitterName::Proportional => {
            let spread = settings.read("spread", values::percent)?;
            Jitter::Proportional {
                spread: value(spread).unwrap_or(DEFAULT_SPREAD_FRACTION),
            }
        }
        JitterName::Slotted => {
            let ceiling = settings.read("slot-ceiling", slot_ceiling)?;
            Jitter::Slotted {
                ceiling: value(ceiling).map_or(DEFAULT_SLOT_CEILING, |n| n as u32),
            }
        }
    };
    let (base, cap) = base_and_cap(settings, list.as_ref(), jitter_name)?;
    let growth = match (list, value(growth)) {
        (Some(list), _) => Growth::List(list.value),
        (None, Some(GrowthName::Linear)) => Growth::Linear,
        (None, Some(GrowthName::Fibonacci)) => Growth::Fibonacci,
        (None, Some(GrowthName::Constant)) => Growth::Constant,
        (None, Some(GrowthName::Exponential) | None) => Growth::Exponential { factor },
    };
    let delays = Delays {
        base,
        cap,
        growth,
        jitter,
    };
    Ok((delays, jitter_name))
}

/// A flag that only some jitters look at must not be given with another, where it would do nothing.
fn meant_for(
    settings: &Settings<'_>,
    long: &str,
    parse: impl Fn(&str) -> values::Parsed<()>,
    jitter: JitterName,
    with: &[JitterName],
) -> Result<(), Usage> {
    let given = settings.read(long, parse)?.filter(|given| given.origin == Source::Flag);
    match given {
        Some(given) if !with.contains(&jitter) => {
            let name = |jitter: &JitterName| JITTERS.iter().find(|(_, j)| j == jitter).map_or("", |(name, _)| *name);
            let with: Vec<_> = with.iter().map(name).collect();
            Err(Usage(format!(
                "{given} means nothing with {} jitter; try --jitter {}",
                name(&jitter),
                with.join(" or ")
            )))
        }
        _ => Ok(()),
    }
}

fn base_and_cap(
    settings: &Settings<'_>,
    list: Option<&Sourced<Vec<Duration>>>,
    jitter: JitterName,
) -> Result<(Duration, Duration), Usage> {
    let base = settings.read("base", values::duration)?;
    let cap = settings.read("max-delay", values::duration)?;
    let stop_at = settings.read("stop-at-delay", values::duration)?;
    if let (Some(stop_at), Some(cap)) = (&stop_at, &cap)
        && (stop_at.is_explicit() && cap.is_explicit() || stop_at.origin == cap.origin)
        && stop_at.value > cap.value
    {
        return Err(Usage(format!(
            "{stop_at} can never be reached with {cap}; try a larger --max-delay"
        )));
    }
    let mut limit = match &cap {
        Some(cap) => cap.value,
        None if jitter == JitterName::Slotted => Duration::MAX,
        None => DEFAULT_CAP,
    };
    // A cap that nobody asked for must not cut what somebody did ask for.
    let is_weaker = |origin: &Source| cap.as_ref().is_none_or(|cap| cap.origin < *origin);
    if let Some(stop_at) = stop_at.filter(|stop_at| is_weaker(&stop_at.origin)) {
        limit = limit.max(stop_at.value);
    }
    if let Some(list) = list.filter(|list| is_weaker(&list.origin)) {
        limit = limit.max(list.value.iter().copied().max().unwrap_or_default());
    }
    let Some(base) = base else {
        return Ok((DEFAULT_BASE.min(limit), limit));
    };
    // A policy's base gives way to the cap of a stronger source; to shorten one that was asked for would be wrong.
    let is_asked_for = base.is_explicit() || cap.as_ref().is_none_or(|cap| cap.origin <= base.origin);
    if is_asked_for && base.value > limit && list.is_none() {
        let cap = cap.map_or_else(|| "the default --max-delay 30s".into(), |cap| cap.to_string());
        return Err(Usage(format!("{base} is longer than {cap}; try a larger --max-delay")));
    }
    Ok((base.value.min(limit), limit))
}
