//! The values in effect of options, for `-vv`. Some options change the value of others: without this, the user would
//! see a value that the run does not have. Each part of the plan returns, with a value, who has decided it.

use std::time::Duration;

use crate::config::settings::{Settings, ShownSetting};
use crate::options::opt::Spec;
use crate::text::exact;

/// A value in effect of an option, and who has decided it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InEffect<T> {
    pub(super) value: T,
    pub(super) decider: Decider,
}

/// The source of the value in effect of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decider {
    /// The option itself: by its setting, or else by its default.
    Itself,
    /// The option with the long name `by`. The value is shown as this text.
    Other { by: &'static str, text: String },
    /// None, as nothing depends on the option. A setting is shown, but no default.
    Nothing,
}

/// The sources of the values of a part of the plan. The value of an option that is not in the list is
/// always its own.
pub(super) type Deciders = Vec<(&'static Spec, Decider)>;

impl<T> InEffect<T> {
    /// Returns the value of the option's setting, or else of its default.
    pub(super) fn own(value: T) -> InEffect<T> {
        InEffect {
            value,
            decider: Decider::Itself,
        }
    }

    /// Returns a value that another option has decided, whose long name is `by`. `text` is the value as it is shown.
    pub(super) fn decided(value: T, text: impl Into<String>, by: &'static str) -> InEffect<T> {
        InEffect {
            value,
            decider: Decider::Other {
                by,
                text: text.into(),
            },
        }
    }

    /// Returns a value on which nothing depends.
    pub(super) fn unused(value: T) -> InEffect<T> {
        InEffect {
            value,
            decider: Decider::Nothing,
        }
    }
}

impl InEffect<Duration> {
    /// Returns a length of time that another option has decided, whose long name is `by`.
    pub(super) fn decided_length(length: Duration, by: &'static str) -> InEffect<Duration> {
        let text = match length {
            Duration::MAX => "unlimited".to_owned(),
            _ => exact(length),
        };
        InEffect::decided(length, text, by)
    }
}

/// Returns the line about an option, such as `base = 2s (policy slow at /etc/backoff.toml:7:8)` or
/// `attempts = unlimited (by --deadline)`. Returns None for an option that is not set, if it has no default or nothing
/// depends on it.
pub(super) fn line(settings: &Settings, deciders: &Deciders, opt: &Spec) -> Option<String> {
    let long = opt.long;
    let found = deciders.iter().find(|(decided, _)| *decided == opt);
    let decider = found.map_or(&Decider::Itself, |(_, decider)| decider);
    match (decider, settings.shown(opt)) {
        (Decider::Other { by, text }, None) => Some(format!("{long} = {text} (by --{by})")),
        // This line says itself that the setting is overridden.
        (Decider::Other { by, text }, Some(set)) => Some(format!(
            "{long} = {text} (by --{by}, not {} of {})",
            set.text,
            set.source.trim_end_matches("; overridden")
        )),
        (Decider::Itself | Decider::Nothing, Some(ShownSetting { text, source })) => {
            Some(format!("{long} = {text} ({source})"))
        }
        (Decider::Itself, None) if !opt.default.is_empty() => {
            Some(format!("{long} = {} (default)", opt.default))
        }
        (Decider::Itself | Decider::Nothing, None) => None,
    }
}
