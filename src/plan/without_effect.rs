//! Refuses options of the command line that change nothing. In a variable, a policy or the file they may be meant for
//! other runs.

use crate::config::setting::{Setting, Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values::{self, CoolOffMode, Parsed};

/// Options that need one of others, from any source, and how messages name these.
struct Needs {
    options: &'static [&'static str],
    one_of: &'static [&'static str],
    shown: &'static str,
}

const NEEDS: [Needs; 4] = [
    Needs {
        options: &[
            "budget-ratio",
            "budget-min",
            "budget-window",
            "store",
            "store-down",
            "cool-off",
        ],
        one_of: &["budget"],
        shown: "a budget; tip: try --budget NAME",
    },
    Needs {
        options: &["signal"],
        one_of: &["timeout", "idle-timeout", "deadline"],
        shown: "a limit; tip: try --timeout, --idle-timeout or --deadline",
    },
    Needs {
        options: &["match-on"],
        one_of: &[
            "success-match",
            "fail-match",
            "retry-match",
            "stop-match",
            "retry-exit",
            "stop-exit",
            "retry-if",
            "success-if",
            "for",
            "retry-after",
            "hook-output",
        ],
        shown: "a rule or a predicate; tip: try --retry-match, --for or --retry-if",
    },
    Needs {
        options: &["hook-output"],
        one_of: &["on-retry", "before-retry", "on-give-up"],
        shown: "a hook; tip: try --on-give-up, --on-retry or --before-retry",
    },
];

/// Returns an error for the first option of the command line that has no effect.
pub(super) fn check(settings: &Settings) -> Parsed<()> {
    for needs in &NEEDS {
        check_needs(settings, needs)?;
    }
    if let Some(factor) = typed(settings, "factor") {
        // `--every` implies a growth.
        if let Some(growth) = typed(settings, "growth")
            && growth.text != "exponential"
        {
            return Err(no_effect_with(factor, growth));
        }
        if let Some(delays) = typed(settings, "delays") {
            return Err(no_effect_with(factor, delays));
        }
    }
    // The base is the wait between successes that `--consecutive` counts.
    if let (Some(base), Some(delays)) = (typed(settings, "base"), typed(settings, "delays"))
        && settings.find("consecutive").is_none()
    {
        return Err(no_effect_with(base, delays));
    }
    if let (Some(limit), Some(stdin)) = (typed(settings, "stdin-limit"), typed(settings, "stdin"))
        && stdin.text == "null"
    {
        return Err(no_effect_with(limit, stdin));
    }
    Ok(())
}

fn check_needs(settings: &Settings, needs: &Needs) -> Parsed<()> {
    let Some(setting) = needs
        .options
        .iter()
        .find_map(|long| typed(settings, long).filter(|setting| !is_off(setting)))
    else {
        return Ok(());
    };
    if needs
        .one_of
        .iter()
        .any(|long| settings.find(long).is_some())
    {
        return Ok(());
    }
    let (name, shown) = (setting.source_name(), needs.shown);
    Err(UsageError(format!("{name} has no effect without {shown}")))
}

/// Returns the setting of an option on the command line.
fn typed<'s>(settings: &'s Settings, long: &str) -> Option<&'s Setting> {
    settings
        .find(long)
        .filter(|setting| setting.source == Source::Flag)
}

/// Returns true for an option that is switched off, to override a variable or the file.
fn is_off(setting: &Setting) -> bool {
    match setting.opt.long {
        "cool-off" => setting.parse(values::cool_off) == Ok(CoolOffMode::Off),
        "hook-output" => setting.parse(values::hook_output) == Ok(None),
        _ => false,
    }
}

fn no_effect_with(setting: &Setting, other: &Setting) -> UsageError {
    UsageError(format!("{setting} has no effect with {other}"))
}
