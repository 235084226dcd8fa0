//! A line at the foot of the terminal that says what is waited for.
//!
//! Others write there meanwhile, and nobody can know when: what is typed is echoed, and what an attempt has left behind
//! may print something late. So the countdown has a row of its own, the last one, which is taken out of what scrolls
//! (DECSTBM). Each frame sets that up anew, as another run on the same terminal may have ended it, and leaves the cursor
//! where it was.

use std::time::{Duration, Instant};

use super::company::is_screen_free;
use super::foreground::is_ours;
use super::size::{self, Size};
use crate::process::sys::deadline::Deadline;
use crate::process::sys::stdio;

/// Shorter waits would only flicker.
const SHORTEST: Duration = Duration::from_secs(1);
/// A program that was started at the same time has the screen by then.
const FIRST_AFTER: Duration = Duration::from_millis(250);
/// What scrolls has two rows at least.
const LEAST_ROWS: u16 = 3;

/// What a person at the terminal may see while this is left of a wait, in so many columns.
pub(crate) type LineFor<'a> = &'a dyn Fn(Duration, usize) -> String;

/// The line of one wait.
#[derive(Debug, Default)]
pub(crate) struct Countdown {
    is_wanted: bool,
    /// It is shown while no more than this is left.
    longest: Duration,
    /// The size of the terminal that it is shown on.
    shown_on: Option<Size>,
}

impl Countdown {
    /// For a wait this long; `always`: also on a terminal that calls itself dumb.
    pub(crate) fn new(wait: Duration, always: bool) -> Countdown {
        let is_wanted = wait >= SHORTEST && stdio::is_terminal(stdio::ERR) && (always || !super::is_dumb());
        Countdown {
            is_wanted,
            longest: wait.saturating_sub(FIRST_AFTER),
            shown_on: None,
        }
    }

    /// Shows the line for what is left, unless somebody else has the terminal. When it will have to be shown anew: at
    /// the next full second.
    pub(crate) fn show(&mut self, now: Instant, left: Duration, line: LineFor<'_>) -> Deadline {
        if !self.is_wanted {
            return Deadline::NEVER;
        }
        if left > self.longest {
            return Deadline::after(now, left - self.longest);
        }
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        // A job in the background must not write over another's line.
        if is_ours(stdio::ERR)
            && let Some(size) = size::known(stdio::ERR).filter(|size| size.rows >= LEAST_ROWS)
        {
            if is_screen_free() {
                // The last column stays free: some terminals wrap after it.
                self.draw(size, &line(Duration::from_secs(seconds), usize::from(size.columns) - 1));
            } else {
                self.erase();
            }
        }
        let after_the_next = Duration::from_secs(seconds.saturating_sub(1));
        Deadline::after(now, left.saturating_sub(after_the_next))
    }

    /// What does not fit (a terminal stopped by Ctrl-S) is left out: the frame before is still there.
    fn draw(&mut self, size: Size, text: &str) {
        if stdio::has_room(stdio::ERR) {
            let before = self.shown_on.replace(size).unwrap_or(size);
            write(&(without_stale_text(before, size) + &frame(size.rows, text)));
        }
    }

    /// Takes the line away. False while the terminal takes nothing.
    pub(crate) fn erase(&mut self) -> bool {
        let Some(before) = self.shown_on else { return true };
        if !stdio::has_room(stdio::ERR) {
            return false;
        }
        self.shown_on = None;
        if !is_screen_free() {
            // Another program's, which needs all of its rows, and draws over the line.
            write(ALL_SCROLL);
            return true;
        }
        let size = size::known(stdio::ERR).unwrap_or(before);
        write(&(without_stale_text(before, size) + &erased(size.rows)));
        true
    }
}

/// In a window of another size the line stands elsewhere, and one that has become narrower may have broken it into
/// several; but always below the cursor, where nothing else is.
fn without_stale_text(before: Size, size: Size) -> String {
    if before == size {
        String::new()
    } else {
        "\x1b[J".to_owned()
    }
}

/// All rows scroll, and the cursor stays where it is.
const ALL_SCROLL: &str = "\x1b7\x1b[r\x1b8";

/// All rows scroll; a row is free below the cursor; all but the last scroll, which holds the text.
fn frame(rows: u16, text: &str) -> String {
    let above = rows - 1;
    format!("\x1b7\x1b[r\x1b8\x1bD\x1b[A\x1b7\x1b[1;{above}r\x1b[{rows};1H\x1b[m{text}\x1b[K\x1b8")
}

/// All rows scroll, and the last is empty.
fn erased(rows: u16) -> String {
    format!("\x1b7\x1b[r\x1b[{rows};1H\x1b[m\x1b[K\x1b8")
}

fn write(text: &str) {
    // Of a terminal that is gone nobody sees anything.
    let _ = stdio::write_some(stdio::ERR, text.as_bytes());
}
