//! Commands to the runner of GitHub Actions, which makes annotations of them. Source: GitHub Docs, "Workflow
//! commands for GitHub Actions"; a command is a line that begins with `::`, with `%`, CR and LF escaped, or, in
//! the older form, anything from `##[` on.

use crate::policy::classifier::Verdict;
use crate::run::event::Event;
use crate::run::text::without_commands;

fn plain(sentence: &str) -> String {
    format!("backoff: {}\n", without_commands(sentence))
}

/// A line about an event, with its line feed.
pub(crate) fn line(event: &Event<'_>, sentence: &str) -> String {
    let level = match event {
        Event::Retrying {
            verdict: Verdict::Success,
            ..
        } => return plain(sentence),
        Event::Retrying { .. } | Event::Warning(_) => "warning",
        Event::GaveUp { .. } | Event::NoTime { .. } | Event::Failed(_) => "error",
        Event::Succeeded { .. } | Event::FailureCame { .. } | Event::CoolingOff(_) | Event::Nested(_) => "notice",
        _ => return plain(sentence),
    };
    let escaped = without_commands(sentence)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    format!("::{level} title=backoff::{escaped}\n")
}
