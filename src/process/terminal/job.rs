//! The controlling terminal: is there one, and stopping as a job does.

use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

use super::pty;
use crate::policy::signal::Signal;
use crate::process::signals::Signals;

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

/// The controlling terminal, to ask about its foreground group.
fn terminal() -> Option<std::fs::File> {
    let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open("/dev/tty")
        .ok()
}

/// Whether backoff's group has the terminal.
pub fn is_in_foreground() -> bool {
    // SAFETY: only asks.
    let own = unsafe { libc::getpgrp() };
    terminal().is_some_and(|tty| nix::unistd::tcgetpgrp(tty).is_ok_and(|group| group.as_raw() == own))
}

/// Takes the terminal back from a group that a command with job control of its own gave it to and left
/// behind: otherwise nobody would hear Ctrl-C any more.
pub fn take_back() {
    // SAFETY: only asks.
    let own = nix::unistd::Pid::from_raw(unsafe { libc::getpgrp() });
    if let Some(tty) = terminal()
        && nix::unistd::tcgetpgrp(&tty).is_ok_and(|group| group != own)
    {
        // TTOU, which a process outside of the foreground gets for this, is blocked or caught.
        let _ = nix::unistd::tcsetpgrp(&tty, own);
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

/// Sends a signal to whom the terminal on standard input would send it, had it made it of a key: this
/// process's group. If that terminal does not control this process, to this process.
pub fn signal_as_typed(signal: Signal) {
    let target = if pty::is_controlling() {
        0
    } else {
        std::process::id() as i32
    };
    // SAFETY: 0 is the own group, and the other number is this process's own.
    unsafe {
        libc::kill(target, signal.number());
    }
}

/// Stops the job, this process included, as a key on the terminal does; until somebody continues it.
///
/// A shell may take the terminal, and continue the job, as soon as one other process of it has stopped. So this
/// comes last, when all that the stop needs is done; and this process gets the one signal that all get: a CONT
/// that comes before it has acted on that revokes it, but would be forgotten over a second signal.
pub fn stop_job(signals: &mut Signals, signal: Signal) {
    signal_as_typed(signal);
    signals.admit(signal);
}

/// Stops this process by `signal` until somebody continues it.
///
/// In an orphaned process group the kernel ignores TSTP, TTIN and TTOU, as nobody there would
/// continue the job; then `insist` stops it with STOP.
pub fn stop_self(signals: &mut Signals, signal: Signal, insist: bool) {
    // Somebody has continued the job already, and the kernel would forget that CONT.
    if signals.is_waiting(Signal::CONT) {
        return;
    }
    signals.raise(signal);
    // What continued it was a CONT, which is now waiting.
    if insist && signal != Signal::STOP && !signals.is_waiting(Signal::CONT) {
        signals.raise(Signal::STOP);
    }
}
