//! The controlling terminal: its foreground group, stopping as a job, and its size.

pub(crate) mod countdown;
pub(crate) mod modes;
pub(crate) mod pty;

use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::errno::Errno;
use nix::libc::TIOCGWINSZ;
use nix::pty::Winsize;
use nix::sys::signal::killpg;
use nix::unistd::{getpgid, getpgrp, getpid, getppid, getsid, tcgetpgrp, tcsetpgrp};

use crate::policy::signal::Signal;
use crate::process::signals::{Signals, Target, send};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;
pub(crate) use crate::process::sys::tty::has_terminal;
use crate::process::sys::tty::{controlling, has_foreground, is_controlling};

/// Returns true unless another job has the terminal on this descriptor.
fn may_use(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).map_or(true, |group| group == getpgrp())
}

/// Returns true if backoff is in the foreground of the controlling terminal.
pub(crate) fn is_in_foreground() -> bool {
    controlling().is_ok_and(has_foreground)
}

/// Takes the terminal back from a process group that has ended: a command with job control gave it the terminal.
/// Otherwise no process would get Ctrl-C.
pub(crate) fn take_back() {
    if let Ok(terminal) = controlling()
        && tcgetpgrp(&terminal).is_ok_and(|group| killpg(group, None) == Err(Errno::ESRCH))
    {
        // A background process may do this while TTOU is blocked, as all signals are.
        let _ = tcsetpgrp(&terminal, getpgrp());
    }
}

/// Returns true if this process leads its session: the kernel reports a lost terminal to the leader only.
pub(crate) fn leads_session() -> bool {
    getsid(None) == Ok(getpid())
}

/// Returns true if the parent put backoff into its own process group within the session, as a shell with job control
/// does. Such a parent notices that backoff has stopped.
pub(crate) fn parent_controls_jobs() -> bool {
    let parent = Some(getppid());
    getpgid(parent) != Ok(getpgrp()) && getsid(parent) == getsid(None)
}

/// Returns the target of keys typed on standard input's terminal: this process's group, or this process if that
/// terminal does not control it.
pub(crate) fn key_target() -> Target {
    if is_controlling(stdio::IN) {
        Target::OwnGroup
    } else {
        Target::OwnProcess
    }
}

/// Stops this process, or its whole job, by `signal` until it is continued.
///
/// In an orphaned process group the kernel ignores TSTP, TTIN and TTOU, as no parent would continue the job. On a
/// terminal, backoff then goes on. Without a terminal, STOP follows: a process sent `signal`, and can also send CONT.
pub(crate) fn stop(signals: &mut Signals, signal: Signal, target: Target) {
    let fallback = (!has_terminal()).then_some(Signal::STOP);
    for signal in [signal].into_iter().chain(fallback) {
        // The job was continued already, and stopping would discard that CONT.
        if signals.is_queued(Signal::CONT) {
            return;
        }
        let _ = send(target, signal);
        // The process stops here.
        signals.deliver(signal);
    }
}

nix::ioctl_read_bad!(get_window_size, TIOCGWINSZ, Winsize);

/// Returns the size of a terminal; zero if it is unknown.
fn window_size(terminal: impl AsFd) -> Winsize {
    let mut size = Winsize::default();
    // SAFETY: the call fills a record of this type.
    let _ = unsafe { get_window_size(terminal.as_fd().as_raw_fd(), &raw mut size) };
    size
}

/// Returns the width of the terminal on this descriptor, if it is known.
pub(crate) fn columns(fd: RawFd) -> Option<u16> {
    Some(window_size(inherited(fd)).ws_col).filter(|columns| *columns > 0)
}
