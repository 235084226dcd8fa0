//! The controlling terminal of this process (the one whose keys send signals to its session), and whether the process
//! is in its foreground.

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::stat::Mode;
use nix::unistd::{getpgrp, getsid, tcgetpgrp};

use super::fd::inherited;
use super::origin::{Evidence, Origin, Place, origin};
use super::system;
use crate::policy::signal::Signal;

/// The name of each process's controlling terminal.
const ALIAS: &str = "/dev/tty";

/// Opens the controlling terminal as a description of our own, non-blocking, so that no call waits for the line.
/// Returns ENXIO if this process has none, and other errors if it cannot be opened.
pub(crate) fn controlling() -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let path = system::terminal_path();
    let opened = open(&path, flags, Mode::empty());
    if opened.is_err() && path != Path::new(ALIAS) {
        // The device may belong to another user (su), who alone may open it by its name.
        return open(ALIAS, flags, Mode::empty());
    }
    opened
}

/// Returns true if this process had a controlling terminal at the first call. The answer stays, also if the terminal is
/// lost, so that all attempts are isolated alike.
pub(crate) fn has_terminal() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| match controlling() {
        Ok(_closed_on_drop) => true,
        // There is none.
        Err(Errno::ENXIO) => false,
        // It cannot be opened, for example as its device node is missing (a minimal container): standard descriptors
        // tell.
        Err(_) => (0..=2).any(is_controlling),
    })
}

/// Returns true if the terminal on this descriptor controls this process.
pub(crate) fn is_controlling(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).is_ok()
}

/// Returns true if this terminal controls this process and backoff is in its foreground.
pub(crate) fn has_foreground(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}

/// Returns who sent a signal that this process has received: the terminal, the kernel for another reason, or a process.
/// If the system does not mark the sender (macOS), this looks at the terminal as it is now, so it has to be called
/// soon, but not in the handler (not async-signal-safe). `from_kernel`: the system marks it as the kernel's. `sender`
/// is the process number that came with it, 0 for none.
pub(crate) fn origin_of(signal: Signal, from_kernel: bool, sender: libc::pid_t) -> Origin {
    let evidence = Evidence {
        signal,
        from_kernel,
        // If the sender is not marked, HUP comes in the name of the session's leader if it dies.
        by_leader: signal == Signal::HUP
            && getsid(None).is_ok_and(|leader| leader.as_raw() == sender),
        is_of_status_key: system::status_key_signal() == Some(signal),
    };
    origin(system::SENDERS, evidence, find_place)
}

/// Returns where this process stands in its session now, by the system's calls.
fn find_place() -> Place {
    if !has_terminal() {
        return Place::NoTerminal;
    }
    match controlling() {
        Ok(terminal) if system::has_hung_up(terminal.as_fd()) => Place::LostTerminal,
        Ok(terminal) if has_foreground(&terminal) => Place::Foreground,
        Ok(_) => Place::Background,
        // There was one at the start (`has_terminal`). If it could not be opened even then, it counts as lost all the
        // same.
        Err(_) => Place::LostTerminal,
    }
}
