//! How large terminals are.

use std::os::fd::{AsFd, RawFd};

use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};

use crate::process::sys::fd::inherited;

/// Where nobody knows.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// How wide the terminal on this descriptor is; None if it is none or does not know.
pub(crate) fn columns(fd: RawFd) -> Option<u16> {
    let size = tcgetwinsize(inherited(fd)).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// The size of a terminal; None of anything else.
pub(super) fn size(terminal: impl AsFd) -> Option<Winsize> {
    tcgetwinsize(terminal).ok()
}

/// Sets the size of a terminal. The kernel tells who runs on it (WINCH) if it has changed.
pub(super) fn set_size(terminal: impl AsFd, size: Option<Winsize>) {
    // A terminal that does not know its size says 0.
    let known = |side: fn(&Winsize) -> u16| size.as_ref().map(side).filter(|side| *side > 0);
    let whole = Winsize {
        ws_row: known(|size| size.ws_row).unwrap_or(ROWS),
        ws_col: known(|size| size.ws_col).unwrap_or(COLUMNS),
        ws_xpixel: known(|size| size.ws_xpixel).unwrap_or(0),
        ws_ypixel: known(|size| size.ws_ypixel).unwrap_or(0),
    };
    let _ = tcsetwinsize(terminal, whole);
}
