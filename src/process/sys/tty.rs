//! The controlling terminal of this process, whose keys send signals to its session, and whether the process is in its
//! foreground.

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{getpgrp, tcgetpgrp};

use super::fd::inherited;

/// Opens the controlling terminal as a description of our own, non-blocking so that no call waits for the line. Returns
/// ENXIO if this process has none, and other errors if it cannot be opened.
pub(crate) fn controlling() -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    open("/dev/tty", flags, Mode::empty())
}

/// Returns true if this process had a controlling terminal at the first call. The answer never changes, even if the
/// terminal is lost, so that all attempts are isolated alike.
pub(crate) fn has_terminal() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| match controlling() {
        Ok(_closed_on_drop) => true,
        // There is none.
        Err(Errno::ENXIO) => false,
        // It cannot be opened, for example because its device node is missing (a minimal container). Try the standard
        // descriptors.
        Err(_) => (0..=2).any(is_controlling),
    })
}

/// Returns true if the terminal on this descriptor controls this process.
fn is_controlling(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).is_ok()
}

/// Returns true if this terminal controls this process and backoff is in its foreground.
pub(crate) fn has_foreground(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}
