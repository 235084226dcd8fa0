//! Decides whether the command may run twice: `--idempotent`, or else what the words of the command mean. A request
//! that is not idempotent, such as an order, must not be sent again after a failure that may have had an effect.

use crate::command::Surroundings;
use crate::command::program::WrappedCommand;
use crate::command::requests::{Requests, Selection};
use crate::config::settings::Settings;
use crate::options::IDEMPOTENT;
use crate::options::problem::Checked;
use crate::run::plan::NotIdempotent;

/// Clients whose requests are examined.
const CLIENTS: [&str; 2] = ["curl", "wget"];

/// Returns the reason why the command must not run twice; None if it may. `--idempotent` decides if it is given, as the
/// user knows the command, or else the words of the command do. `words` are all of them, `command` tells which program
/// presets judge. An error is a wrong value of the option.
pub(super) fn why_not_idempotent(
    settings: &Settings,
    words: &[&str],
    command: &WrappedCommand<'_>,
    surroundings: &dyn Surroundings,
) -> Checked<Option<NotIdempotent>> {
    let is_idempotent = settings.value(&IDEMPOTENT)?;
    match settings.find(&IDEMPOTENT) {
        Some(_) if is_idempotent => Ok(None),
        Some(setting) => Ok(Some(NotIdempotent {
            why: setting.to_string(),
            is_by_option: true,
        })),
        None => Ok(shown_by_words(words, command, surroundings)),
    }
}

/// Returns the reason that the words of the command show: a request that sends data or may do so (`curl -d`), as each
/// may be an order. Only of a client that a preset of `--for` judges: the preset alone knows which failures had no
/// effect, and without it, nearly every retry would be forbidden.
fn shown_by_words(
    words: &[&str],
    command: &WrappedCommand<'_>,
    surroundings: &dyn Surroundings,
) -> Option<NotIdempotent> {
    let mut judged = CLIENTS
        .into_iter()
        .filter(|client| command.is_judged(client))
        .peekable();
    // Spares most runs the search.
    judged.peek()?;
    let requests = Requests::find(words, surroundings);
    judged.find_map(|client| reason_not_to_repeat(&requests, command, client))
}

/// Returns the reason why requests of a client with a preset must not be sent twice; None if they may. If `--for` names
/// the preset, the command is known to call the client, and unknown code in the command counts as such a call.
fn reason_not_to_repeat(
    requests: &Requests,
    command: &WrappedCommand<'_>,
    client: &str,
) -> Option<NotIdempotent> {
    let selection = if command.is_named(client) {
        Selection::Named
    } else {
        Selection::Auto
    };
    let finding = requests.first_unsafe(client, selection)?;
    Some(NotIdempotent {
        why: finding.to_string(),
        is_by_option: false,
    })
}
