//! Effective settings and their sources, for `-vv`.

use super::waits::{MAX_DELAY, Waits};
use crate::cli::table::{OPTIONS, Opt, percent};
use crate::config::presets::{self, PresetName};
use crate::config::settings::Settings;
use crate::config::values::{self, jitter_word};
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::outcome::exact;
use crate::policy::session::Limits;
use crate::run::plan::Effective;

/// Resolved values of options that depend on each other.
pub(super) struct Outcome<'p> {
    pub(super) waits: &'p Waits,
    pub(super) limits: &'p Limits,
    pub(super) not_idempotent: Option<&'p str>,
    pub(super) has_budget: bool,
}

/// Returns a line for each option.
pub(super) fn settings(settings: &Settings, outcome: &Outcome<'_>) -> Vec<Effective> {
    let options = OPTIONS.iter().filter(|opt| opt.is_setting());
    options.filter_map(|opt| line(opt, settings, outcome)).collect()
}

/// Returns the rules of presets: `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`.
pub(super) fn rules(names: &[PresetName], program: Option<&str>) -> Vec<Effective> {
    let mut rules = Vec::new();
    for (_, preset) in presets::chosen(names, program) {
        rules.extend(preset.rows().into_iter().map(|row| Effective {
            name: format!("for {}", preset.name),
            value: format!("{} {row}", row.verdict.words().0),
            from: row.source.to_owned(),
        }));
    }
    rules
}

fn line(opt: &Opt, settings: &Settings, outcome: &Outcome<'_>) -> Option<Effective> {
    let said = settings.shown(opt.long);
    let (value, from) = match (came_to(opt.long, outcome), said) {
        (Some(Some(value)), Some((text, by))) if is_same(&text, &value) => (value, by),
        // A cap lowers a weaker base; a growth overrides a jitter that has its own growth.
        (Some(Some(value)), Some((text, by))) => (value, format!("{by} says {text}")),
        (Some(Some(value)), None) => (value, default_of(opt.long, outcome)),
        (Some(None), Some((text, by))) => (text, format!("{by}; without effect")),
        (None, Some(said)) => said,
        (Some(None), None) => return None,
        (None, None) => (opt.default()?.to_owned(), default_of(opt.long, outcome)),
    };
    Some(Effective {
        name: opt.long.to_owned(),
        value,
        from,
    })
}

/// Returns true if the text, as given, parses to this value.
fn is_same(text: &str, value: &str) -> bool {
    let exact = |text| {
        Some(
            values::durations(text)
                .ok()?
                .into_iter()
                .map(exact)
                .collect::<Vec<_>>()
                .join(","),
        )
    };
    text == value || exact(text).is_some_and(|text| text == value) || (text == "slotted" && value.starts_with(text))
}

fn default_of(long: &str, outcome: &Outcome<'_>) -> String {
    let cap = outcome.waits.delays.cap;
    match (long, outcome.not_idempotent) {
        // An unlimited cap is none.
        ("max-delay", _) if (MAX_DELAY < cap) && cap.as_secs() < u64::MAX => {
            format!("the default {} was too short", exact(MAX_DELAY))
        }
        ("idempotent", Some(why)) => why.to_owned(),
        _ => "default".to_owned(),
    }
}

/// Returns the resolved value of an option that depends on others; the inner None means that the option has no effect.
fn came_to(long: &str, outcome: &Outcome<'_>) -> Option<Option<String>> {
    let Waits {
        delays,
        jitter: jitter_kind,
    } = outcome.waits;
    let Delays {
        base,
        cap,
        growth,
        jitter,
    } = delays;
    let grows_by_itself = matches!(jitter, Jitter::Decorrelated { .. } | Jitter::Slotted { .. });
    Some(match long {
        "attempts" => Some(
            outcome
                .limits
                .attempts
                .map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string()),
        ),
        "base" => Some(exact(*base)),
        "max-delay" if cap.as_secs() == u64::MAX => Some("none".to_owned()),
        "max-delay" => Some(exact(*cap)),
        "factor" => match (jitter, growth) {
            (Jitter::Decorrelated { factor }, _) => Some(factor.to_string()),
            (_, Growth::Exponential { factor }) if !grows_by_itself => Some(factor.to_string()),
            _ => None,
        },
        "growth" => growth_word(growth).filter(|_| !grows_by_itself).map(str::to_owned),
        "delays" => match growth {
            Growth::List(list) => Some(list.iter().copied().map(exact).collect::<Vec<_>>().join(",")),
            _ => None,
        },
        "jitter" => Some(jitter_word(*jitter_kind)),
        "spread" => match jitter {
            Jitter::Additive { spread } => Some(exact(*spread)),
            Jitter::Proportional { spread } => Some(percent(*spread)),
            _ => None,
        },
        "idempotent" if outcome.not_idempotent.is_some() => Some("no".to_owned()),
        "budget-ratio" | "budget-min" | "budget-window" | "store-down" if !outcome.has_budget => None,
        "max-retry-after" if outcome.limits.max_retry_after.is_none() => None,
        _ => return None,
    })
}

fn growth_word(growth: &Growth) -> Option<&'static str> {
    match growth {
        Growth::Exponential { .. } => Some("exponential"),
        Growth::Linear => Some("linear"),
        Growth::Fibonacci => Some("fibonacci"),
        Growth::Constant => Some("constant"),
        Growth::List(_) => None,
    }
}
