//! For `-vv`: every setting that is in effect, and where it came from.

use std::mem::discriminant;
use std::time::Duration;

use crate::cli::defaults;
use crate::cli::table::{OPTIONS, Opt, percent};
use crate::cli::words::{JitterKind, jitter_word};
use crate::config::load::{ConfigFile, shown};
use crate::config::presets;
use crate::config::settings::Settings;
use crate::config::sourced::Sourced;
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::outcome::exact as duration;
use crate::run::plan::{Effective, Plan};

pub(super) fn settings(settings: &Settings, file: &ConfigFile, plan: &Plan, program: Option<&str>) -> Vec<Effective> {
    let options = OPTIONS.iter().filter(|opt| opt.is_setting());
    std::iter::once(configuration(file))
        .chain(options.filter_map(|opt| option(opt, settings, plan)))
        .chain(of_presets(settings, program))
        .collect()
}

/// `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`
fn of_presets(settings: &Settings, program: Option<&str>) -> Vec<Effective> {
    let names = settings.presets.as_ref().map_or(&[][..], |said| &said.value);
    presets::chosen(names, program)
        .into_iter()
        .flat_map(|(_, preset)| {
            preset.rows().into_iter().map(move |row| Effective {
                name: format!("for {}", preset.name),
                value: format!("{} {row}", row.verdict.words().0),
                from: row.source.to_owned(),
            })
        })
        .collect()
}

fn configuration(file: &ConfigFile) -> Effective {
    let (value, from) = match file {
        ConfigFile::Read(path, Some(by)) => (path.to_string(), by.clone()),
        ConfigFile::Read(path, None) => (path.to_string(), "default".to_owned()),
        ConfigFile::Missing(Some(path)) => ("none".to_owned(), format!("no {}", shown(path))),
        ConfigFile::Missing(None) => ("none".to_owned(), "neither XDG_CONFIG_HOME nor HOME is set".to_owned()),
        ConfigFile::Forbidden(by) => ("none".to_owned(), by.clone()),
    };
    Effective {
        name: "config".to_owned(),
        value,
        from,
    }
}

fn option(opt: &'static Opt, settings: &Settings, plan: &Plan) -> Option<Effective> {
    let said = settings.said(opt);
    let (value, from) = match (wait(opt.long, settings, &plan.delays), said) {
        (Wait::Is { value, as_said: true }, Some((_, by))) => (value, by),
        // A cap lowers a weaker base, growth takes the place of a jitter that grows by itself.
        (Wait::Is { value, as_said: false }, Some((text, by))) => (value, format!("{by} says {text}")),
        (Wait::Is { value, .. }, None) if opt.long == "max-delay" && is_raised(plan.delays.cap) => (
            value,
            format!("the default {} was too short", duration(defaults::MAX_DELAY)),
        ),
        (Wait::Is { value, .. }, None) => (value, "default".to_owned()),
        (Wait::Unused, Some((text, by))) => (text, format!("{by}; without effect")),
        (Wait::Unused, None) => return None,
        (Wait::Other, said) if opt.long == "attempts" => attempts(said, plan.limits.attempts),
        (Wait::Other, Some(said)) => said,
        (Wait::Other, None) if is_idle(opt.long, plan) => return None,
        (Wait::Other, None) if opt.long == "idempotent" => match &plan.not_idempotent {
            Some(why) => ("no".to_owned(), why.clone()),
            None => (opt.default()?.to_owned(), "default".to_owned()),
        },
        (Wait::Other, None) => (opt.default()?.to_owned(), "default".to_owned()),
    };
    Some(Effective {
        name: opt.long.to_owned(),
        value,
        from,
    })
}

/// The default depends on other options, and a deadline lifts what a weaker source says.
fn attempts(said: Option<(String, String)>, limit: Option<u64>) -> (String, String) {
    let shown = limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    match said {
        Some((text, by)) if text == shown => (text, by),
        Some((text, by)) => (shown, format!("{by} says {text}")),
        None => (shown, "default".to_owned()),
    }
}

/// Whether another option has raised the cap, which nobody has set. Without one it is no cap.
fn is_raised(cap: Duration) -> bool {
    cap > defaults::MAX_DELAY && cap < Duration::MAX
}

/// Defaults of what is off.
fn is_idle(long: &str, plan: &Plan) -> bool {
    match long {
        "budget-ratio" | "budget-min" | "budget-window" | "store-down" => plan.budget.is_none(),
        "max-retry-after" => plan.limits.max_retry_after.is_none(),
        _ => false,
    }
}

/// What an option of the section on waits has come to. Their defaults hang on each other.
enum Wait {
    Is {
        value: String,
        /// It is what was said.
        as_said: bool,
    },
    Unused,
    Other,
}

fn wait(long: &str, settings: &Settings, delays: &Delays) -> Wait {
    let grows_by_itself = matches!(delays.jitter, Jitter::Decorrelated { .. } | Jitter::Slotted { .. });
    match long {
        "base" => is(duration(delays.base), &settings.base, |base| *base == delays.base),
        "max-delay" if delays.cap == Duration::MAX => is("none".to_owned(), &settings.max_delay, |_| false),
        "max-delay" => is(duration(delays.cap), &settings.max_delay, |cap| *cap == delays.cap),
        "factor" => match (delays.jitter, &delays.growth) {
            (Jitter::Decorrelated { factor }, _) => is(factor.to_string(), &settings.factor, |said| *said == factor),
            (_, Growth::Exponential { factor }) if !grows_by_itself => {
                is(factor.to_string(), &settings.factor, |said| said == factor)
            }
            _ => Wait::Unused,
        },
        "growth" if grows_by_itself => Wait::Unused,
        "growth" => match growth(&delays.growth) {
            Some(name) => is(name.to_owned(), &settings.growth, |_| true),
            None => Wait::Unused,
        },
        "delays" => match &delays.growth {
            Growth::List(list) => {
                let shown: Vec<String> = list.iter().map(|wait| duration(*wait)).collect();
                is(shown.join(","), &settings.delays, |said| said == list)
            }
            _ => Wait::Unused,
        },
        "jitter" => {
            let kind = kind(delays.jitter);
            is(jitter_word(kind), &settings.jitter, |said| {
                discriminant(said) == discriminant(&kind)
            })
        }
        "spread" => match delays.jitter {
            Jitter::Additive { spread } => is(duration(spread), &settings.spread, |_| true),
            Jitter::Proportional { spread } => is(percent(spread), &settings.spread, |_| true),
            _ => Wait::Unused,
        },
        _ => Wait::Other,
    }
}

fn is<T>(value: String, said: &Option<Sourced<T>>, holds: impl Fn(&T) -> bool) -> Wait {
    let as_said = said.as_ref().is_some_and(|said| holds(&said.value));
    Wait::Is { value, as_said }
}

fn growth(growth: &Growth) -> Option<&'static str> {
    match growth {
        Growth::Exponential { .. } => Some("exponential"),
        Growth::Linear => Some("linear"),
        Growth::Fibonacci => Some("fibonacci"),
        Growth::Constant => Some("constant"),
        Growth::List(_) => None,
    }
}

fn kind(jitter: Jitter) -> JitterKind {
    match jitter {
        Jitter::None => JitterKind::None,
        Jitter::Full => JitterKind::Full,
        Jitter::Equal => JitterKind::Equal,
        Jitter::Decorrelated { .. } => JitterKind::Decorrelated,
        Jitter::Additive { .. } => JitterKind::Additive,
        Jitter::Proportional { .. } => JitterKind::Proportional,
        Jitter::Slotted { ceiling } => JitterKind::Slotted(Some(ceiling)),
    }
}
