//! Who has the terminal: one process group, which is in the foreground.

use std::fs::{File, OpenOptions};
use std::os::fd::RawFd;
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;
use nix::unistd::{getpgrp, tcgetpgrp};

use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// Whether the terminal on standard input is the one that controls this process.
pub(crate) fn is_controlling() -> bool {
    tcgetpgrp(inherited(stdio::IN)).is_ok()
}

/// Whether the terminal on this descriptor controls this process, and backoff's job has it.
pub(super) fn has_foreground(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)) == Ok(getpgrp())
}

/// Whether backoff's job has the terminal on this descriptor. Of one that does not control this process nobody can
/// say: then it is nobody else's.
pub(crate) fn is_ours(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).map_or(true, |group| group == getpgrp())
}

/// The controlling terminal.
pub(super) fn terminal() -> Option<File> {
    let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags).open("/dev/tty").ok()
}

/// The controlling terminal, if backoff's group has it.
pub(crate) fn terminal_in_foreground() -> Option<File> {
    terminal().filter(|tty| tcgetpgrp(tty).is_ok_and(|group| group == getpgrp()))
}
