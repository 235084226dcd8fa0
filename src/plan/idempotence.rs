//! Decides whether the command may run twice, by `--idempotent` or else by the words of the command. A request that is
//! not idempotent, such as an order, must not be sent again after a failure that may have had an effect.

use crate::cli::options::YesNo;
use crate::config::Merged;
use crate::presets::program::WrappedCommand;
use crate::presets::requests::not_idempotent;
use crate::presets::scripts::Surroundings;
use crate::run::plan::NotIdempotent;

/// Returns why the command must not run twice, None if it may. `--idempotent` decides if given, because the user knows
/// the command. Otherwise the words of the command do. `words` are all of them, and `command` tells which program
/// presets judge.
pub(super) fn why_not_idempotent(
    merged: &Merged,
    words: &[&str],
    command: &WrappedCommand<'_>,
    surroundings: &dyn Surroundings,
) -> Option<NotIdempotent> {
    let Some(setting) = merged.settings.find("idempotent") else {
        return shown_by_words(words, command, surroundings);
    };
    match merged.options.rules.idempotent {
        YesNo::Yes => None,
        YesNo::No => Some(NotIdempotent {
            why: setting.to_string(),
            is_by_option: true,
        }),
    }
}

/// Returns the reason that the words of the command show: a request that sends data or may do so (`curl -d`), because
/// it may be an order. Only if a preset of `--for` judges its client. Only the preset knows which failures had no
/// effect, and without it, nearly every retry would be forbidden.
fn shown_by_words(
    words: &[&str],
    command: &WrappedCommand<'_>,
    surroundings: &dyn Surroundings,
) -> Option<NotIdempotent> {
    if !command.is_judged("curl") && !command.is_judged("wget") {
        return None;
    }
    let sends = not_idempotent(words, surroundings)?;
    Some(NotIdempotent {
        why: format!("{sends} without a fixed Idempotency-Key header"),
        is_by_option: false,
    })
}
