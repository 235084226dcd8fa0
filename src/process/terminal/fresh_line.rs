//! A message begins in the first column, whatever the command has left there. What it printed went to the terminal
//! itself, so nobody knows where the cursor is.

use std::borrow::Cow;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::termios::{OutputFlags, tcgetattr};

use super::company::is_screen_free;
use super::foreground::has_foreground;
use super::size;

/// What takes the cursor of this terminal to the first column of an empty line; None where that cannot be done, or where
/// another job has the terminal, or another program of this one has the screen.
///
/// Enough blanks to fill a line: from the first column they do that, and the cursor waits at its end, so that CR leads back.
/// From anywhere else they end in the next line. (zsh does the same before its prompt, but marks the line as well.)
pub(crate) fn fresh_line(terminal: BorrowedFd<'_>) -> Option<String> {
    let number = terminal.as_raw_fd();
    let size = size::known(number)?;
    let can = has_foreground(number) && !super::is_dumb() && is_screen_free();
    can.then(|| " ".repeat(usize::from(size.columns)) + "\r\x1b[K")
}

/// Lines as this descriptor needs them: on a terminal that was left raw, LF does not lead to the first column.
pub(crate) fn whole_lines<'a>(descriptor: BorrowedFd<'_>, lines: &'a str) -> Cow<'a, str> {
    let adds_cr = OutputFlags::OPOST | OutputFlags::ONLCR;
    match tcgetattr(descriptor) {
        Ok(modes) if !modes.output_flags.contains(adds_cr) => Cow::Owned(lines.replace('\n', "\r\n")),
        _ => Cow::Borrowed(lines),
    }
}
