//! Decides whether the command may run twice: `--idempotent`, or else what the words of the command mean. A request
//! that is not idempotent, such as an order, must not be sent again after a failure that may have had an effect.

use crate::command::program::WrappedCommand;
use crate::command::requests::{Requests, Selection, may_name};
use crate::command::{ScriptFile, Surroundings};
use crate::config::settings::Settings;
use crate::options::IDEMPOTENT;
use crate::options::problem::Checked;
use crate::run::plan::NotIdempotent;

/// Clients whose requests are examined.
const CLIENTS: [&str; 2] = ["curl", "wget"];

/// The findings about running the command twice.
#[derive(Default)]
pub(super) struct Idempotence {
    /// The reason why the command must not run twice; None if it may.
    pub(super) why_not: Option<NotIdempotent>,
    /// A remark to print at the first retry.
    pub(super) remark: Option<String>,
}

/// Surroundings whose script files are not read. A remark is not worth the wait for a file system that hangs.
struct WithoutFiles<'a>(&'a dyn Surroundings);

impl Surroundings for WithoutFiles<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn script(&self, _path: &str) -> ScriptFile {
        ScriptFile::NotThere
    }
}

/// Returns the findings by `--idempotent` if it is given, as the user knows the command, or else by the words of the
/// command. `words` are all of them, `command` tells which program presets judge. An error is a wrong value of the
/// option.
pub(super) fn idempotence(
    settings: &Settings,
    words: &[&str],
    command: &WrappedCommand<'_>,
    surroundings: &dyn Surroundings,
) -> Checked<Idempotence> {
    let is_idempotent = settings.value(&IDEMPOTENT)?;
    match settings.find(&IDEMPOTENT) {
        Some(_) if is_idempotent => Ok(Idempotence::default()),
        Some(setting) => Ok(Idempotence {
            why_not: Some(NotIdempotent {
                why: setting.to_string(),
                is_by_option: true,
            }),
            remark: None,
        }),
        None => Ok(shown_by_words(words, command, surroundings)),
    }
}

/// Returns the findings by the words of the command, about requests that send data (`curl -d`), as each may be an
/// order. If a preset of `--for` judges the client, one that sends or may do so forbids a retry; of another client, one
/// that certainly sends only causes a remark, for which alone no script file is read.
fn shown_by_words(
    words: &[&str],
    command: &WrappedCommand<'_>,
    surroundings: &dyn Surroundings,
) -> Idempotence {
    let is_judged = CLIENTS.iter().any(|client| command.is_judged(client));
    if !is_judged && !CLIENTS.iter().any(|client| may_name(client, words)) {
        // Spares most runs the search.
        return Idempotence::default();
    }
    let without_files = WithoutFiles(surroundings);
    let surroundings = if is_judged {
        surroundings
    } else {
        &without_files
    };
    let requests = Requests::find(words, surroundings);
    let mut idempotence = Idempotence::default();
    for client in CLIENTS {
        if command.is_judged(client) {
            let why_not = reason_not_to_repeat(&requests, command, client);
            idempotence.why_not = idempotence.why_not.or(why_not);
        } else {
            let remark = remark_on_sending(&requests, client);
            idempotence.remark = idempotence.remark.or(remark);
        }
    }
    idempotence
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

/// Returns a remark about requests of a client for which no preset is chosen; None if no request certainly sends data.
/// Only a remark: the preset alone knows which failures had no effect, and without it, `--idempotent no` would forbid
/// nearly every retry.
fn remark_on_sending(requests: &Requests, client: &str) -> Option<String> {
    let finding = requests.sending(client)?;
    Some(format!(
        "{}: a retry sends the request again, even if it took effect; --for {client} or \
         --idempotent no prevents that, --idempotent yes hides this remark",
        finding.seen()
    ))
}
