//! Commands to the runner of GitHub Actions, which shows annotations. Source: GitHub Docs, "Workflow commands for
//! GitHub Actions"; a command is a line that begins with `::`, with `%`, CR and LF escaped, or, in the older form,
//! anything from `##[` on.

use super::verbosity::Level;
use crate::run::event::Event;
use crate::text::without_runner_commands;

/// Returns a sentence as a line with the command for an annotation of this level, which the runner shows beside the
/// job; a plain sentence stays a line of the log. Foreign text in either cannot be another command.
pub(super) fn annotation(level: Level, sentence: &str) -> String {
    let command = match level {
        Level::Plain => return format!("backoff: {}\n", without_runner_commands(sentence)),
        Level::Success => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    format!("::{command} title=backoff::{}\n", escaped(sentence))
}

/// Returns the command that begins or ends the group of an attempt in the runner's log, if the event does so, or None.
/// The log then shows the attempt's output folded. Notes in `is_open` whether a group is open, as only an open one may
/// be ended, and once. Without a `title` no group begins. A command has to begin a line: whoever writes it ends the
/// line of the output before (`Streams::is_mid_line`).
pub(super) fn group(
    event: &Event<'_>,
    title: Option<String>,
    is_open: &mut bool,
) -> Option<String> {
    match event {
        Event::Started => {
            let title = title?;
            *is_open = true;
            Some(format!("::group::backoff: {}\n", escaped(&title)))
        }
        // A signal or a fault may end the run before the attempt's end is reported.
        Event::Ended { .. } | Event::Interrupted { .. } | Event::Failed(_) if *is_open => {
            *is_open = false;
            Some("::endgroup::\n".to_owned())
        }
        _ => None,
    }
}

/// Escapes a text for a command of the runner, which is one line: the runner turns `%25`, `%0D` and `%0A` back into the
/// characters.
fn escaped(text: &str) -> String {
    without_runner_commands(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
