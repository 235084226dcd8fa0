//! A line at the bottom of the terminal that says what is waited for. Drawn over and over in its place, and
//! gone before anything else is shown.

use std::time::{Duration, Instant};

use super::foreground::is_ours;
use super::size;
use crate::process::sys::deadline::Deadline;
use crate::process::sys::{environment, stdio};

/// Shorter waits would only flicker.
const SHORTEST: Duration = Duration::from_secs(1);
/// Back to the first column, and nothing more in this line.
const ERASE: &str = "\r\x1b[K";

/// The line of one wait.
#[derive(Debug, Default)]
pub(crate) struct Countdown {
    is_wanted: bool,
    is_shown: bool,
}

impl Countdown {
    /// For a wait this long; `always`: also on a terminal that calls itself dumb.
    pub(crate) fn new(wait: Duration, always: bool) -> Countdown {
        let is_dumb = || environment::variable("TERM").is_none_or(|term| term.is_empty() || term == b"dumb");
        let is_wanted = wait >= SHORTEST && stdio::is_terminal(stdio::ERR) && (always || !is_dumb());
        Countdown {
            is_wanted,
            is_shown: false,
        }
    }

    /// Shows the line for what is left, unless somebody else has the terminal. When it will have to be shown anew: at
    /// the next full second.
    pub(crate) fn show(&mut self, now: Instant, left: Duration, text: &dyn Fn(Duration) -> String) -> Deadline {
        if !self.is_wanted {
            return Deadline::NEVER;
        }
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        // A job in the background must not write over another's line.
        if is_ours(stdio::ERR) {
            let columns = size::columns(stdio::ERR).unwrap_or(80);
            let text = text(Duration::from_secs(seconds));
            // The last column stays free: some terminals wrap after it.
            let shown = beginning(&text, usize::from(columns).saturating_sub(1));
            self.is_shown = write(&format!("{ERASE}{shown}"));
        }
        let after_the_next = Duration::from_secs(seconds.saturating_sub(1));
        Deadline::after(now, left.saturating_sub(after_the_next))
    }

    /// Takes the line away.
    pub(crate) fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            write(ERASE);
        }
    }
}

/// What fits for certain. What the command printed may be in scripts whose characters take two columns, and a line
/// that wraps could not be taken away again.
fn beginning(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += if c.is_ascii() { 1 } else { 2 };
        used > columns
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// What does not fit at once (a terminal stopped by Ctrl-S) is left out.
fn write(text: &str) -> bool {
    stdio::has_room(stdio::ERR) && stdio::write_some(stdio::ERR, text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(beginning("attempt", 7), "attempt");
        assert_eq!(beginning("attempt", 6), "attemp");
        assert_eq!(beginning("a失敗", 5), "a失敗");
        assert_eq!(beginning("a失敗", 4), "a失");
        assert_eq!(beginning("", 0), "");
        assert_eq!(beginning("x", 0), "");
    }
}
