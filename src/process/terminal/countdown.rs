//! The countdown of a wait on a terminal. It is one line at the cursor, redrawn each second and erased at the end. It
//! is only decoration, so it is left out if it could disturb (another job in the foreground, a stopped terminal).

use std::time::{Duration, Instant};

use super::{columns, may_use};
use crate::process::sys::clock::Deadline;
use crate::process::sys::environment::nonempty;
use crate::process::sys::stdio;
use crate::run::plan::When;
use crate::text::escapes::ERASE_TO_END;

/// Shorter waits would flicker.
const SHORTEST: Duration = Duration::from_secs(1);

/// Formats the remaining time, in whole seconds, in at most this many columns and without a newline.
pub(crate) type LineFor<'a> = &'a dyn Fn(Duration, usize) -> String;

#[derive(Debug)]
pub(crate) struct Countdown {
    progress: When,
    /// The current wait shows a line.
    is_wanted: bool,
    /// The seconds that the line shows. None while no line is drawn.
    shown: Option<u64>,
}

impl Countdown {
    /// Returns a countdown that draws nothing before [`Countdown::begin`].
    pub(crate) fn new(progress: When) -> Countdown {
        Countdown {
            progress,
            is_wanted: false,
            shown: None,
        }
    }

    /// Begins a wait, and decides if it shows a line. It does if countdowns are on, the wait is long enough and
    /// standard error is a terminal. Unless `--progress always` is given, the terminal must also be able to erase a
    /// line.
    pub(crate) fn begin(&mut self, wait: Duration) {
        let is_on = match self.progress {
            When::Auto => nonempty("TERM").is_some_and(|term| term != "dumb"),
            When::Always => true,
            When::Never => false,
        };
        self.is_wanted = wait >= SHORTEST && is_on && stdio::is_terminal(stdio::ERR);
    }

    /// Draws the line if its seconds have changed. Skips it until the next second if backoff is in the background, or
    /// if the terminal is stopped (Ctrl-S) or its width is unknown. `end` is the end of the wait. Returns when to
    /// redraw, which is never if this wait shows no line.
    pub(crate) fn show(
        &mut self,
        now: Instant,
        end: Deadline,
        format_line: LineFor<'_>,
    ) -> Deadline {
        if !self.is_wanted {
            return Deadline::NEVER;
        }
        let Some(left) = end.left(now) else {
            return Deadline::NEVER;
        };
        // Rounded up, so the last second shows 1, not 0.
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        if self.shown != Some(seconds)
            && may_use(stdio::ERR)
            && let Some(columns) = columns()
        {
            // Some terminals wrap after the last column.
            let text = format_line(Duration::from_secs(seconds), usize::from(columns) - 1);
            if stdio::write_if_room(&format!("\r{text}{ERASE_TO_END}")) {
                self.shown = Some(seconds);
            }
        }
        let next_shown = Duration::from_secs(seconds.saturating_sub(1));
        Deadline::after(now, left.saturating_sub(next_shown))
    }

    /// Erases the line if one is drawn, unless the terminal is stopped (Ctrl-S).
    pub(crate) fn erase(&mut self) {
        if self.shown.take().is_some() {
            stdio::write_if_room(&format!("\r{ERASE_TO_END}"));
        }
    }
}
