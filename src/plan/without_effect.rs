//! Refuses options of the command line that change nothing: who types one expects an effect. In a variable, a policy or
//! the file they may be meant for other runs.

use crate::config::setting::{Setting, Source, UsageError};
use crate::config::settings::Settings;
use crate::options::opt::Spec;
use crate::options::problem::Checked;
use crate::options::{
    BEFORE_RETRY, BUDGET, BUDGET_MIN, BUDGET_RATIO, BUDGET_WINDOW, DEADLINE, FACTOR, FAIL_MATCH,
    FOR, GROWTH, GrowthName, HOOK_OUTPUT, IDLE_TIMEOUT, MATCH_ON, ON_GIVE_UP, ON_RETRY,
    RETRY_AFTER, RETRY_EXIT, RETRY_IF, RETRY_MATCH, SIGNAL, STDIN, STDIN_LIMIT, STOP_EXIT,
    STOP_MATCH, STORE, STORE_DOWN, SUCCESS_IF, SUCCESS_MATCH, TIMEOUT,
};
use crate::run::streams::InputMode;

/// Options that need one of others, from any source, and how messages name these.
struct Needs {
    options: &'static [&'static Spec],
    one_of: &'static [&'static Spec],
    shown: &'static str,
}

static NEEDS: [Needs; 4] = [
    Needs {
        options: &[
            &BUDGET_RATIO.spec,
            &BUDGET_MIN.spec,
            &BUDGET_WINDOW.spec,
            &STORE.spec,
            &STORE_DOWN.spec,
        ],
        one_of: &[&BUDGET.spec],
        shown: "--budget",
    },
    Needs {
        options: &[&SIGNAL.spec],
        one_of: &[&TIMEOUT.spec, &IDLE_TIMEOUT.spec, &DEADLINE.spec],
        shown: "--timeout, --idle-timeout or --deadline",
    },
    Needs {
        options: &[&MATCH_ON.spec],
        one_of: &[
            &SUCCESS_MATCH.spec,
            &FAIL_MATCH.spec,
            &RETRY_MATCH.spec,
            &STOP_MATCH.spec,
            &RETRY_EXIT.spec,
            &STOP_EXIT.spec,
            &RETRY_IF.spec,
            &SUCCESS_IF.spec,
            &FOR.spec,
            &RETRY_AFTER.spec,
            &HOOK_OUTPUT.spec,
        ],
        shown: "a rule or a predicate, such as --retry-match, --for or --retry-if",
    },
    Needs {
        options: &[&HOOK_OUTPUT.spec],
        one_of: &[&ON_RETRY.spec, &BEFORE_RETRY.spec, &ON_GIVE_UP.spec],
        shown: "--on-give-up, --on-retry or --before-retry",
    },
];

/// Returns an error for the first option of the command line that has no effect: because an option that it needs is
/// missing, or because another one on the command line takes its place. Knows the mistakes that are likely, not all.
pub(super) fn check(settings: &Settings) -> Checked<()> {
    for needs in &NEEDS {
        check_needs(settings, needs)?;
    }
    if let Some(factor) = typed(settings, &FACTOR) {
        // Only exponential growth has a factor. `--every` implies constant growth, which then counts as typed.
        // Decorrelated jitter, which has a factor, too, cannot be typed beside a growth.
        if let Some(growth) = typed(settings, &GROWTH)
            && growth.read(&GROWTH) != Ok(GrowthName::Exponential)
        {
            return Err(no_effect_with(factor, growth));
        }
    }
    // An empty input is not kept.
    if let (Some(limit), Some(stdin)) = (typed(settings, &STDIN_LIMIT), typed(settings, &STDIN))
        && stdin.read(&STDIN) == Ok(InputMode::Null)
    {
        return Err(no_effect_with(limit, stdin));
    }
    Ok(())
}

/// Returns an error if one of the options is typed while none of those that it needs is set by any source.
fn check_needs(settings: &Settings, needs: &Needs) -> Checked<()> {
    let mut typed_settings = needs.options.iter().filter_map(|opt| typed(settings, opt));
    let Some(setting) = typed_settings.next() else {
        return Ok(());
    };
    if needs.one_of.iter().any(|opt| settings.has(opt)) {
        return Ok(());
    }
    let name = setting.source_name();
    let why = format!("{name} has no effect without {}", needs.shown);
    Err(UsageError(why))
}

/// Returns the setting of an option if it is in effect and stands on the command line; None if another source sets it.
pub(super) fn typed<'s>(settings: &'s Settings, opt: &Spec) -> Option<&'s Setting> {
    settings
        .find(opt)
        .filter(|setting| setting.source == Source::Flag)
}

fn no_effect_with(setting: &Setting, other: &Setting) -> UsageError {
    UsageError(format!("{setting} has no effect with {other}"))
}
