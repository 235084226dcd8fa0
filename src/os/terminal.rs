//! The controlling terminal: is there one, and stopping as a job does.

use nix::libc;

use super::signals::Signals;
use crate::signal::Signal;

/// Whether this process has a controlling terminal.
pub fn is_controlled() -> bool {
    use nix::fcntl::{OFlag, open};
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    match open("/dev/tty", flags, nix::sys::stat::Mode::empty()) {
        Ok(_closed_on_drop) => true,
        // The terminal is there and was hung up, or there is none.
        Err(nix::errno::Errno::ENXIO | nix::errno::Errno::EIO) => false,
        // No such device node (a bare container): ask the standard descriptors.
        // SAFETY: tcgetpgrp takes any number and fails where it is no controlling terminal.
        Err(_) => (0..=2).any(|fd| unsafe { libc::tcgetpgrp(fd) } >= 0),
    }
}

/// Whether this process leads its session: then the kernel tells it alone that the terminal is gone.
pub fn leads_session() -> bool {
    // SAFETY: both calls only ask.
    unsafe { libc::getsid(0) == libc::getpid() }
}

/// Whether the parent put backoff into a process group of its own, as a shell with job control does.
/// Such a parent notices that backoff has stopped.
pub fn parent_controls_jobs() -> bool {
    // SAFETY: all three calls only ask.
    unsafe { libc::getpgid(libc::getppid()) != libc::getpgrp() }
}

/// Stops this process by `signal` until somebody continues it.
///
/// In an orphaned process group the kernel ignores TSTP, TTIN and TTOU, as nobody there would
/// continue the job; then `insist` stops it with STOP.
pub fn stop_self(signals: &Signals, signal: Signal, insist: bool) {
    signals.suffer(signal);
    // What continued it was a CONT, which is now pending.
    if insist && signal != Signal::STOP && !signals.is_pending(Signal::CONT) {
        signals.suffer(Signal::STOP);
    }
}
