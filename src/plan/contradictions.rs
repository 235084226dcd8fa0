//! Values that contradict each other. On the command line they are an error; from several sources they have a meaning.
//! Only `--idempotent no` holds against any source.

use super::without_effect::typed;
use crate::config::setting::Setting;
use crate::config::settings::Settings;
use crate::options::problem::{Checked, UsageError};
use crate::options::{BASE, CONSECUTIVE, IDEMPOTENT, MAX_DELAY, STOP_AT_DELAY, UNTIL};
use crate::policy::session::Until;

/// Returns an error for values on the command line that contradict each other.
pub(super) fn check_typed(settings: &Settings) -> Checked<()> {
    if let Some(longest) = typed(settings, &MAX_DELAY) {
        let cap = longest.read(&MAX_DELAY)?;
        if let Some(base) = typed(settings, &BASE)
            && base.read(&BASE)? > cap
        {
            return Err(contradiction(base, "is longer than", longest));
        }
        if let Some(stop) = typed(settings, &STOP_AT_DELAY)
            && stop.read(&STOP_AT_DELAY)? > cap
        {
            return Err(contradiction(stop, "can never be reached with", longest));
        }
    }
    if let (Some(count), Some(until)) = (typed(settings, &CONSECUTIVE), typed(settings, &UNTIL))
        && count.read(&CONSECUTIVE)? > 1
        && until.read(&UNTIL)? != Until::Success
    {
        return Err(UsageError(format!(
            "{count} cannot go with {until}: no number of successes ends such a run"
        )));
    }
    Ok(())
}

/// Returns an error if `--idempotent no` stands against an option that repeats successes, whatever their sources.
pub(super) fn check_repeats(settings: &Settings) -> Checked<()> {
    let Some(once) = settings.find(&IDEMPOTENT) else {
        return Ok(());
    };
    if once.read(&IDEMPOTENT)? {
        return Ok(());
    }
    let again = if settings.value(&CONSECUTIVE)? > 1 {
        settings.find(&CONSECUTIVE)
    } else if settings.value(&UNTIL)? != Until::Success {
        settings.find(&UNTIL)
    } else {
        None
    };
    match again {
        Some(again) => Err(UsageError(format!(
            "{once} cannot go with {again}: a success would be carried out again"
        ))),
        None => Ok(()),
    }
}

fn contradiction(wait: &Setting, problem: &str, longest: &Setting) -> UsageError {
    UsageError(format!("{wait} {problem} {longest}"))
}
