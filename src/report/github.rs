//! Commands to the runner of GitHub Actions, which makes annotations of them. Source: GitHub Docs, "Workflow
//! commands for GitHub Actions"; a command is a line that begins with `::`, with `%`, CR and LF escaped, or, in
//! the older form, anything from `##[` on.

use crate::policy::classifier::Verdict;
use crate::run::event::Event;
use crate::run::text::without_commands;

/// A group of the runner's log for each attempt.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    is_open: bool,
}

impl Groups {
    /// The line about an event, with what begins or ends a group before it. `title` names the attempt; None is no group.
    pub(crate) fn around(
        &mut self,
        event: &Event<'_>,
        title: impl FnOnce() -> Option<String>,
        line: Option<String>,
    ) -> Option<String> {
        let mark = match event {
            Event::Started => title().map(|title| {
                self.is_open = true;
                format!("::group::backoff: {}\n", escaped(&title))
            }),
            // A run may also end without the end of an attempt. What was printed last may be no whole line.
            Event::Ended { .. } | Event::Interrupted { .. } | Event::Failed(_) => {
                std::mem::take(&mut self.is_open).then(|| "\n::endgroup::\n".to_owned())
            }
            _ => None,
        };
        match (mark, line) {
            (Some(mark), line) => Some(mark + &line.unwrap_or_default()),
            (None, line) => line,
        }
    }
}

fn escaped(text: &str) -> String {
    without_commands(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

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
    format!("::{level} title=backoff::{}\n", escaped(sentence))
}
