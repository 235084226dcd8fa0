//! Options that contradict each other, or have no effect. Most are errors only on the command line. Whoever types an
//! option expects an effect, but a variable or a file may be meant for other runs.

use crate::cli::options::{Options, YesNo};
use crate::config::settings::{Setting, Settings, Source};
use crate::policy::delay::Jitter;
use crate::policy::limits::Until;

/// Options that need one of some others, from any source, and how messages name those.
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
        ],
        one_of: &["budget"],
        shown: "--budget",
    },
    Needs {
        options: &["signal"],
        one_of: &["timeout", "idle-timeout", "deadline"],
        shown: "--timeout, --idle-timeout or --deadline",
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
        shown: "a rule or a predicate, such as --retry-match, --for or --retry-if",
    },
    Needs {
        options: &["hook-output"],
        one_of: &["on-retry", "before-retry", "on-give-up"],
        shown: "--on-give-up, --on-retry or --before-retry",
    },
];

/// Returns an error for the first options that contradict each other, have no effect, or that only the command line may
/// set. `cli::declared::EXCLUSIVE` has options that exclude each other.
pub(super) fn check(settings: &Settings, options: &Options) -> Result<(), String> {
    check_successes(settings, options)?;
    check_waits(settings, options)?;
    check_start(settings, options)?;
    check_repeats(settings, options)?;
    NEEDS
        .iter()
        .try_for_each(|needs| check_needs(settings, needs))
}

/// Returns an error if a variable or the file turns a failure into a success. backoff would exit with 0 although the
/// command failed, and such a setting may be forgotten.
fn check_successes(settings: &Settings, options: &Options) -> Result<(), String> {
    for (long, is_success) in [
        ("until", options.rules.until == Until::Failure),
        ("exhausted-exit", options.output.exhausted_exit == Some(0)),
    ] {
        if let Some(setting) = settings.find(long)
            && is_success
            && setting.source != Source::Flag
        {
            return Err(setting.error(
                "is accepted on the command line only, as it turns a failure into a success",
            ));
        }
    }
    Ok(())
}

/// Returns an error for waits on the command line that contradict each other.
fn check_waits(settings: &Settings, options: &Options) -> Result<(), String> {
    let waits = &options.waits;
    let typed = |long| settings.typed_setting(long);
    if let (Some(base), Some(longest)) = (typed("base"), typed("max-delay"))
        && waits.base > waits.max_delay
    {
        return Err(format!("{base} is longer than {longest}"));
    }
    if let (Some(stop), Some(longest)) = (typed("stop-at-delay"), typed("max-delay"))
        && waits.stop_at_delay > Some(waits.max_delay)
    {
        return Err(format!("{stop} can never be reached with {longest}"));
    }
    let grows = matches!(
        waits.jitter,
        Jitter::Decorrelated { .. } | Jitter::Slotted { .. }
    );
    if let (Some(jitter), Some(growth)) = (typed("jitter"), typed("growth").or(typed("delays")))
        && grows
    {
        return Err(format!(
            "{jitter} cannot be used with {growth}: this jitter grows by itself"
        ));
    }
    Ok(())
}

/// Returns an error if waits before the first attempt may leave no time for it.
fn check_start(settings: &Settings, options: &Options) -> Result<(), String> {
    let waits = &options.waits;
    let longest = waits.splay.saturating_add(waits.initial_delay);
    for (long, limit) in [
        ("deadline", options.time.deadline),
        ("stop-after", options.time.stop_after),
    ] {
        let is_met = limit.is_some_and(|limit| !limit.is_zero() && longest >= limit);
        if let Some(limit) = settings.find(long)
            && is_met
        {
            let waits = ["splay", "initial-delay"];
            let waits = waits.iter().filter_map(|long| settings.find(long));
            let waits: Vec<String> = waits.map(Setting::to_string).collect();
            let waits = waits.join(" and ");
            return Err(format!("{waits} may leave no time before {limit}"));
        }
    }
    Ok(())
}

/// Returns an error for options about repeated successes that contradict each other. `--idempotent no` counts from any
/// source.
fn check_repeats(settings: &Settings, options: &Options) -> Result<(), String> {
    let rules = &options.rules;
    let consecutive = settings
        .find("consecutive")
        .filter(|_| rules.consecutive > 1);
    let until = settings
        .find("until")
        .filter(|_| rules.until != Until::Success);
    if let (Some(once), Some(again)) = (settings.find("idempotent"), consecutive.or(until))
        && rules.idempotent == YesNo::No
    {
        return Err(format!(
            "{once} cannot be used with {again}: a success would be repeated"
        ));
    }
    if let (Some(consecutive), Some(most)) = (consecutive, options.time.attempts)
        && rules.consecutive > most
        && until.is_none()
    {
        return Err(consecutive.error(format!("can never be reached with --attempts {most}")));
    }
    Ok(())
}

/// Returns an error if one of the options is typed, but no source sets any of those that it needs.
fn check_needs(settings: &Settings, needs: &Needs) -> Result<(), String> {
    let mut typed = needs
        .options
        .iter()
        .filter_map(|long| settings.typed_setting(long));
    match typed.next() {
        Some(setting) if !needs.one_of.iter().any(|long| settings.has(long)) => Err(format!(
            "{} has no effect without {}",
            setting.source_name(),
            needs.shown
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::declared::{Declared, EXCLUSIVE};

    #[test]
    fn tables_name_options() {
        let declared = Declared::all_options();
        let exclusive = EXCLUSIVE
            .iter()
            .flat_map(|(option, others, _)| others.iter().chain([option]));
        let needs = NEEDS
            .iter()
            .flat_map(|needs| needs.options.iter().chain(needs.one_of));
        for long in exclusive.chain(needs) {
            assert!(declared.iter().any(|option| option.long == *long), "{long}");
        }
    }
}
