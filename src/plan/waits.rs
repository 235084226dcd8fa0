//! The wait between attempts: from options to [`Delays`].

use std::time::Duration;

use crate::cli::defaults;
use crate::cli::words::{GrowthKind, JitterKind, jitter_word};
use crate::config::settings::Settings;
use crate::config::sourced::{Rank, Source, Sourced, UsageError, exclude, value};
use crate::config::values::Spread;
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::outcome::exact;

/// Resolves the options of the section.
pub(super) fn delays(settings: &Settings) -> Result<Delays, UsageError> {
    let (mut growth, mut list) = (settings.growth.clone(), settings.delays.clone());
    let mut jitter = settings.jitter.clone();
    exclude(&mut growth, &mut list, "a list of waits takes the place of growth")?;
    let grows_by_itself = |kind| matches!(kind, JitterKind::Decorrelated | JitterKind::Slotted(_));
    if jitter.as_ref().is_some_and(|said| grows_by_itself(said.value)) {
        let why = "this jitter grows by itself; try --jitter full";
        exclude(&mut jitter, &mut growth, why)?;
        exclude(&mut jitter, &mut list, why)?;
    }
    // A list is exact unless its source or a stronger one asks for jitter.
    if let Some(list) = &list {
        jitter.take_if(|said| said.rank() < list.rank());
    }
    let kind = match &jitter {
        Some(said) => said.value,
        None if list.is_some() => JitterKind::None,
        None if growth.is_some() => defaults::JITTER_OF_GROWTH,
        None => defaults::JITTER,
    };
    let factor = value(&settings.factor).unwrap_or(match kind {
        JitterKind::Decorrelated => defaults::FACTOR_OF_DECORRELATED,
        _ => defaults::FACTOR,
    });
    let jitter = self::jitter(settings, kind, factor)?;
    let (base, cap) = base_and_cap(settings, list.as_ref(), kind)?;
    let growth = match (list, value(&growth).unwrap_or(defaults::GROWTH)) {
        (Some(list), _) => Growth::List(list.value),
        (None, GrowthKind::Linear) => Growth::Linear,
        (None, GrowthKind::Fibonacci) => Growth::Fibonacci,
        (None, GrowthKind::Constant) => Growth::Constant,
        (None, GrowthKind::Exponential) => Growth::Exponential { factor },
    };
    spread_is_of_use(settings.spread.as_ref(), kind)?;
    Ok(Delays {
        base,
        cap,
        growth,
        jitter,
    })
}

fn jitter(settings: &Settings, kind: JitterKind, factor: f64) -> Result<Jitter, UsageError> {
    Ok(match kind {
        JitterKind::None => Jitter::None,
        JitterKind::Full => Jitter::Full,
        JitterKind::Equal => Jitter::Equal,
        JitterKind::Decorrelated => Jitter::Decorrelated { factor },
        JitterKind::Additive => Jitter::Additive {
            spread: spread(settings, |spread| spread.duration.clone())?.unwrap_or(defaults::SPREAD),
        },
        JitterKind::Proportional => Jitter::Proportional {
            spread: spread(settings, |spread| spread.fraction.clone())?.unwrap_or(defaults::SPREAD_FRACTION),
        },
        JitterKind::Slotted(ceiling) => Jitter::Slotted {
            ceiling: ceiling.unwrap_or(defaults::SLOT_CEILING),
        },
    })
}

fn spread<T>(settings: &Settings, read: fn(&Spread) -> Result<T, String>) -> Result<Option<T>, UsageError> {
    let said = settings.spread.as_ref();
    said.map(|said| read(&said.value).map_err(|problem| said.unreadable(&problem)))
        .transpose()
}

/// Refuses the flag `--spread` with a jitter that has none.
fn spread_is_of_use(said: Option<&Sourced<Spread>>, jitter: JitterKind) -> Result<(), UsageError> {
    let has_spread = matches!(jitter, JitterKind::Additive | JitterKind::Proportional);
    match said.filter(|said| said.statement.source == Source::Flag && !has_spread) {
        Some(said) => Err(UsageError(format!(
            "{said} means nothing with --jitter {}; try --jitter additive or proportional",
            jitter_word(jitter)
        ))),
        None => Ok(()),
    }
}

fn base_and_cap(
    settings: &Settings,
    list: Option<&Sourced<Vec<Duration>>>,
    jitter: JitterKind,
) -> Result<(Duration, Duration), UsageError> {
    let (cap, stop_at) = (settings.max_delay.as_ref(), settings.stop_at_delay.as_ref());
    if let (Some(stop_at), Some(cap)) = (stop_at, cap)
        && stop_at.rank() == cap.rank()
        && stop_at.value > cap.value
    {
        return Err(UsageError(format!(
            "{stop_at} can never be reached with {cap}; try a larger --max-delay"
        )));
    }
    let mut limit = match cap {
        Some(cap) => cap.value,
        None if matches!(jitter, JitterKind::Slotted(_)) => Duration::MAX,
        None => defaults::MAX_DELAY,
    };
    // A cap that nobody asked for must not cut what somebody did ask for.
    let is_weaker = |rank: Rank| cap.is_none_or(|cap| cap.rank() < rank);
    if let Some(stop_at) = stop_at.filter(|stop_at| is_weaker(stop_at.rank())) {
        limit = limit.max(stop_at.value);
    }
    if let Some(list) = list.filter(|list| is_weaker(list.rank())) {
        limit = limit.max(list.value.iter().copied().max().unwrap_or_default());
    }
    let Some(base) = &settings.base else {
        return Ok((defaults::BASE.min(limit), limit));
    };
    if is_weaker(base.rank()) && list.is_none() {
        limit = limit.max(base.value);
    }
    if let Some(cap) = cap.filter(|cap| cap.rank() == base.rank())
        && base.value > limit
        && list.is_none()
    {
        return Err(UsageError(format!(
            "{base} is longer than {cap}; try a larger --max-delay"
        )));
    }
    Ok((base.value.min(limit), limit))
}

/// For `-v`: that the base has raised a cap that would have cut it.
pub(super) fn raised_cap(settings: &Settings, delays: &Delays) -> Option<String> {
    let base = settings.base.as_ref()?;
    let cap = match &settings.max_delay {
        Some(cap) => cap.to_string(),
        None => format!("the default --max-delay {}", exact(defaults::MAX_DELAY)),
    };
    let given = value(&settings.max_delay).unwrap_or(defaults::MAX_DELAY);
    let is_raised = given < base.value && delays.cap == base.value;
    is_raised.then(|| format!("{base} is longer than {cap}, which is raised to {}", exact(base.value)))
}
