//! Who has the terminal: one process group, which is in the foreground.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;
use nix::unistd::{getpgrp, tcgetpgrp};

use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// Returns true if the terminal on standard input controls this process.
pub(crate) fn is_controlling() -> bool {
    tcgetpgrp(inherited(stdio::IN)).is_ok()
}

/// Returns true if the terminal on this descriptor controls this process, and backoff is in its foreground.
pub(super) fn has_foreground(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)) == Ok(getpgrp())
}

/// Whether backoff's job has the terminal on this descriptor. Of one that does not control this process nobody can
/// say: then it is nobody else's.
pub(crate) fn is_ours(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).map_or(true, |group| group == getpgrp())
}

/// Opens the controlling terminal.
pub(super) fn terminal() -> Option<File> {
    let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags).open("/dev/tty").ok()
}

/// Returns true if backoff is in the foreground of the controlling terminal.
pub(crate) fn is_in_foreground() -> bool {
    terminal().is_some_and(|terminal| has_foreground(terminal.as_raw_fd()))
}
