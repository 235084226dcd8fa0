//! The controlling terminal: its foreground group, stopping as a job, and its size. A shell with job control expects a
//! job to stop as a whole and to give the terminal back; this is backoff's part of it.

pub(crate) mod countdown;
pub(crate) mod modes;
pub(crate) mod pty;

use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::libc::TIOCGWINSZ;
use nix::pty::Winsize;
use nix::unistd::{getpgid, getpgrp, getpid, getppid, getsid, tcgetpgrp};

use crate::policy::signal::Signal;
use crate::process::signals::{Signals, Target};
use crate::process::sys::fd::inherited;
pub(crate) use crate::process::sys::tty::has_terminal;

/// Returns true unless another job has the terminal on this descriptor. Also true if it is no terminal of this session,
/// as then no job can have it.
pub(crate) fn may_use(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).map_or(true, |group| group == getpgrp())
}

/// Returns true if this process leads its session: the kernel reports a lost terminal to the leader only.
pub(crate) fn leads_session() -> bool {
    getsid(None) == Ok(getpid())
}

/// Returns true if backoff's process group is not its parent's, but in the same session: so a shell with job control
/// starts a job. Such a parent notices that backoff has stopped, and can continue it.
pub(crate) fn parent_controls_jobs() -> bool {
    let parent = Some(getppid());
    getpgid(parent) != Ok(getpgrp()) && getsid(parent) == getsid(None)
}

/// Stops this process, or its whole job, by `signal`. Returns once it is continued, or at once if it did not stop.
///
/// In an orphaned process group the kernel ignores TSTP, TTIN and TTOU, as no parent would continue the job. On a
/// terminal, backoff then goes on. Without a terminal, STOP follows: a process sent `signal`, and can also send CONT.
pub(crate) fn stop(signals: &mut Signals, signal: Signal, target: Target) {
    signals.stop_here_by(signal, target);
    if !has_terminal() {
        // Does nothing if `signal` has stopped this process: the CONT that continued it is not handled yet.
        signals.stop_here_by(Signal::STOP, target);
    }
}

nix::ioctl_read_bad!(get_window_size, TIOCGWINSZ, Winsize);

/// Returns the size of a terminal; zero lines and columns if it is unknown.
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
