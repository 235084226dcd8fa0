//! Commands to the runner of GitHub Actions, which shows annotations. Source: GitHub Docs, "Workflow commands for
//! GitHub Actions"; a command is a line that begins with `::`, with `%`, CR and LF escaped, or, in the older form,
//! anything from `##[` on.

use super::verbosity::Level;
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

/// Escapes a text for a command of the runner, which is one line: the runner turns `%25`, `%0D` and `%0A` back into the
/// characters.
fn escaped(text: &str) -> String {
    without_runner_commands(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
