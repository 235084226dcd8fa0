//! Commands to the runner of GitHub Actions, which makes annotations of them. Source: GitHub Docs, "Workflow
//! commands for GitHub Actions"; a command is a line that begins with `::`, with `%`, CR and LF escaped, or, in
//! the older form, anything from `##[` on.

use crate::run::event::Event;
use crate::run::text::without_commands;

/// A line about an event, with its line feed.
pub(crate) fn line(event: &Event<'_>, sentence: &str) -> String {
    let level = match event {
        Event::Retrying { .. } | Event::Warning(_) => "warning",
        Event::GaveUp { .. } | Event::NoTime { .. } | Event::Failed(_) => "error",
        Event::Succeeded { .. } | Event::CoolingOff(_) | Event::Nested(_) => "notice",
        _ => return format!("backoff: {}\n", without_commands(sentence)),
    };
    let escaped = without_commands(sentence)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    format!("::{level} title=backoff::{escaped}\n")
}
