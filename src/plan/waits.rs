//! Builds [`Delays`], the waits between attempts, from the options.

use std::fmt::Display;
use std::time::Duration;

use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values::{self, JitterKind, jitter_word};
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::outcome::exact;
use crate::policy::session::Until;

/// The waits of a run, and their names for `-vv`.
pub(super) struct Waits {
    pub(super) delays: Delays,
    pub(super) jitter: JitterKind,
}

/// The default of `--max-delay`.
pub(super) const MAX_DELAY: Duration = Duration::from_secs(30);
const SLOT_CEILING: u32 = 10;

/// Reads the options on waits.
pub(super) fn waits(settings: &Settings, until: Until) -> Result<Waits, UsageError> {
    let has_growth = settings.said("growth").is_some();
    let list = settings.get("delays", values::durations)?;
    let base = settings.duration("base")?;
    let kind = jitter_kind(settings, has_growth, until)?;
    let factor = settings.or(
        "factor",
        values::factor,
        match kind {
            JitterKind::Decorrelated => 3.0,
            _ => 2.0,
        },
    )?;
    let jitter = jitter(settings, kind, factor)?;
    let cap = cap(settings, base, list.as_deref(), kind)?;
    let growths = [
        Growth::Exponential { factor },
        Growth::Linear,
        Growth::Fibonacci,
        Growth::Constant,
    ];
    let growth = match list {
        Some(list) => Growth::List(list),
        None if until == Until::Failure && !has_growth => Growth::Constant,
        None => settings.choice("growth", &growths)?,
    };
    let base = match base {
        None if until == Until::Failure => Duration::ZERO,
        _ => settings.value("base", values::duration)?,
    };
    let delays = Delays {
        base: base.min(cap),
        cap,
        growth,
        jitter,
    };
    Ok(Waits { delays, jitter: kind })
}

fn jitter_kind(settings: &Settings, has_growth: bool, until: Until) -> Result<JitterKind, UsageError> {
    let list = settings.source("delays");
    Ok(match settings.get("jitter", values::jitter)? {
        // A list is exact unless its own source or a stronger one asks for jitter.
        Some(JitterKind::Slotted(None)) if settings.source("jitter") >= list => JitterKind::Slotted(Some(SLOT_CEILING)),
        Some(kind) if settings.source("jitter") >= list => kind,
        _ if list.is_some() || until == Until::Failure => JitterKind::None,
        _ if has_growth => JitterKind::Full,
        _ => JitterKind::Decorrelated,
    })
}

fn jitter(settings: &Settings, kind: JitterKind, factor: f64) -> Result<Jitter, UsageError> {
    settings.get("spread", values::spread)?;
    let said = settings.said("spread");
    if let Some(said) = said.filter(|said| said.source == Source::Flag)
        && !matches!(kind, JitterKind::Additive | JitterKind::Proportional)
    {
        let jitter = jitter_word(kind);
        return Err(UsageError(format!(
            "{said} means nothing with --jitter {jitter}; try --jitter additive or proportional"
        )));
    }
    Ok(match kind {
        JitterKind::None => Jitter::None,
        JitterKind::Full => Jitter::Full,
        JitterKind::Equal => Jitter::Equal,
        JitterKind::Decorrelated => Jitter::Decorrelated { factor },
        JitterKind::Additive => Jitter::Additive {
            spread: width(settings, values::duration)?.unwrap_or(Duration::from_secs(1)),
        },
        JitterKind::Proportional => Jitter::Proportional {
            spread: width(settings, values::percent)?.unwrap_or(0.25),
        },
        JitterKind::Slotted(ceiling) => Jitter::Slotted {
            ceiling: ceiling.unwrap_or(SLOT_CEILING),
        },
    })
}

/// Returns the width of a jitter; None if the spread belongs to a jitter that a stronger source has overridden.
fn width<T, E: Display>(settings: &Settings, read: fn(&str) -> Result<T, E>) -> Result<Option<T>, UsageError> {
    match settings.get("spread", read) {
        Err(_) if settings.source("spread") < settings.source("jitter") => Ok(None),
        width => width,
    }
}

/// Returns the longest wait. A cap does not cut a wait from a stronger source.
fn cap(
    settings: &Settings,
    base: Option<Duration>,
    list: Option<&[Duration]>,
    jitter: JitterKind,
) -> Result<Duration, UsageError> {
    let stop_at = settings.duration("stop-at-delay")?;
    let cap = match settings.duration("max-delay")? {
        Some(cap) => cap,
        None if matches!(jitter, JitterKind::Slotted(_)) => Duration::MAX,
        None => MAX_DELAY,
    };
    let longest = list.map(|list| list.iter().copied().max().unwrap_or_default());
    let base = base.filter(|_| list.is_none());
    let asked = [("stop-at-delay", stop_at), ("delays", longest), ("base", base)].into_iter();
    let stronger = asked.filter(|(long, _)| settings.source("max-delay") < settings.source(long));
    Ok(stronger.filter_map(|(_, wait)| wait).fold(cap, Duration::max))
}

/// Returns a remark if the base has raised a cap that would have cut it.
pub(super) fn raised_cap(settings: &Settings, delays: &Delays) -> Option<String> {
    let base = settings.said("base")?;
    let cap = settings.duration("max-delay").ok()?;
    let shown = match settings.said("max-delay") {
        Some(said) => said.to_string(),
        None => format!("the default --max-delay {}", exact(MAX_DELAY)),
    };
    let is_raised = cap.unwrap_or(MAX_DELAY) < delays.base && delays.cap == delays.base;
    is_raised.then(|| {
        format!(
            "{base} is longer than {shown}, which is raised to {}",
            exact(delays.base)
        )
    })
}
