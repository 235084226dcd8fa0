//! A message begins in the first column, whatever the command has left there. What it printed went to the terminal
//! itself, so nobody knows where the cursor is.

use super::foreground::has_foreground;
use super::size;
use crate::process::sys::stdio;

/// What takes the cursor of the terminal on standard error to the first column of an empty line; None where that cannot be
/// done, or where the terminal is another job's.
///
/// Enough blanks to fill a line: from the first column they do that, and the cursor waits at its end, so that CR leads back.
/// From anywhere else they end in the next line. (zsh does the same before its prompt, but marks the line as well.)
pub(crate) fn fresh_line() -> Option<String> {
    let size = size::known(stdio::ERR)?;
    let can = has_foreground(stdio::ERR) && !super::is_dumb();
    can.then(|| " ".repeat(usize::from(size.columns)) + "\r\x1b[K")
}
