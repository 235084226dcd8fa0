//! For `-vv`: every setting that is in effect, and where it came from.

use std::time::Duration;

use crate::cli::table::{OPTIONS, Opt};
use crate::config::load::{self, Read};
use crate::config::settings::{Layer, Settings};
use crate::config::values;
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::run::plan::{Effective, Plan};

pub(super) fn settings(settings: &Settings<'_>, rules: &[Layer], read: &Read, plan: &Plan) -> Vec<Effective> {
    let options = OPTIONS.iter().filter(|opt| opt.is_setting());
    std::iter::once(configuration(read))
        .chain(options.filter_map(|opt| option(opt, settings, plan)))
        .chain(rules.iter().map(rule))
        .collect()
}

fn configuration(read: &Read) -> Effective {
    let (value, from) = match read {
        Read::File(path, Some(by)) => (path.to_string(), by.clone()),
        Read::File(path, None) => (path.to_string(), "default".to_owned()),
        Read::Missing(Some(path)) => ("none".to_owned(), format!("no {}", load::shown(path))),
        Read::Missing(None) => ("none".to_owned(), "neither XDG_CONFIG_HOME nor HOME is set".to_owned()),
        Read::Forbidden(by) => ("none".to_owned(), by.clone()),
    };
    Effective {
        name: "config".to_owned(),
        value,
        from,
    }
}

fn option(opt: &'static Opt, settings: &Settings<'_>, plan: &Plan) -> Option<Effective> {
    let said = settings.said(opt);
    let (value, from) = match (of_waits(&plan.delays, opt.long), said) {
        (Wait::Is(value), Some((text, by))) if same(&value, &text) => (value, by),
        // A cap lowers a weaker base, growth takes the place of a jitter that grows by itself.
        (Wait::Is(value), Some((text, by))) => (value, format!("{by} says {text}")),
        (Wait::Is(value), None) => (value, "default".to_owned()),
        (Wait::Unused, Some((text, by))) => (text, format!("{by}; without effect")),
        (Wait::Unused, None) => return None,
        (Wait::Other, Some(said)) => said,
        (Wait::Other, None) if is_idle(opt.long, plan) => return None,
        (Wait::Other, None) => (opt.default()?.to_owned(), "default".to_owned()),
    };
    Some(Effective {
        name: opt.long.to_owned(),
        value,
        from,
    })
}

/// Defaults of what is off.
fn is_idle(long: &str, plan: &Plan) -> bool {
    match long {
        "budget-ratio" | "budget-min" | "budget-window" | "store-timeout" => plan.budget.is_none(),
        "max-retry-after" => plan.limits.max_asked.is_none(),
        _ => false,
    }
}

/// `exit 1,2, base 30s`
fn rule(rule: &Layer) -> Effective {
    let says = rule.entries.iter().map(|entry| format!("{} {}", entry.key, entry.text));
    let place = rule.entries.first().and_then(|entry| entry.place.as_ref());
    Effective {
        name: rule.name.clone(),
        value: says.collect::<Vec<_>>().join(", "),
        from: place.map_or_else(String::new, |place| format!("{}:{}", place.file, place.line)),
    }
}

/// What an option of the section on waits has come to. Their defaults hang on each other.
enum Wait {
    Is(String),
    Unused,
    Other,
}

fn of_waits(delays: &Delays, long: &str) -> Wait {
    let grows_by_itself = matches!(delays.jitter, Jitter::Decorrelated { .. } | Jitter::Slotted { .. });
    let is = |value: Option<String>| value.map_or(Wait::Unused, Wait::Is);
    match long {
        "base" => Wait::Is(exact(delays.base)),
        "max-delay" if delays.cap == Duration::MAX => Wait::Is("none".to_owned()),
        "max-delay" => Wait::Is(exact(delays.cap)),
        "factor" => is(match (delays.jitter, &delays.growth) {
            (Jitter::Decorrelated { factor }, _) => Some(factor.to_string()),
            (_, Growth::Exponential { factor }) if !grows_by_itself => Some(factor.to_string()),
            _ => None,
        }),
        "growth" => is(match delays.growth {
            _ if grows_by_itself => None,
            Growth::Exponential { .. } => Some("exponential".to_owned()),
            Growth::Linear => Some("linear".to_owned()),
            Growth::Fibonacci => Some("fibonacci".to_owned()),
            Growth::Constant => Some("constant".to_owned()),
            Growth::List(_) => None,
        }),
        "delays" => is(match &delays.growth {
            Growth::List(list) => Some(list.iter().map(|wait| exact(*wait)).collect::<Vec<_>>().join(",")),
            _ => None,
        }),
        "jitter" => Wait::Is(jitter(delays.jitter).to_owned()),
        "spread" => is(match delays.jitter {
            Jitter::Additive { spread } => Some(exact(spread)),
            Jitter::Proportional { spread } => Some(format!("{}%", spread * 100.0)),
            _ => None,
        }),
        "slot-ceiling" => is(match delays.jitter {
            Jitter::Slotted { ceiling } => Some(ceiling.to_string()),
            _ => None,
        }),
        _ => Wait::Other,
    }
}

fn jitter(jitter: Jitter) -> &'static str {
    match jitter {
        Jitter::None => "none",
        Jitter::Full => "full",
        Jitter::Equal => "equal",
        Jitter::Decorrelated { .. } => "decorrelated",
        Jitter::Additive { .. } => "additive",
        Jitter::Proportional { .. } => "proportional",
        Jitter::Slotted { .. } => "slotted",
    }
}

/// `1m30s`: nothing is rounded.
fn exact(duration: Duration) -> String {
    humantime::format_duration(duration).to_string().replace(' ', "")
}

/// Whether a value is what a text says, in whatever units.
fn same(value: &str, text: &str) -> bool {
    let durations = |text: &str| values::durations(text).ok();
    let fraction = |text: &str| values::percent(text).ok();
    value == text
        || (durations(value).is_some() && durations(value) == durations(text))
        || (fraction(value).is_some() && fraction(value) == fraction(text))
        || (value.parse::<f64>().is_ok() && value.parse::<f64>() == text.parse::<f64>())
}
