//! The controlling terminal, with its foreground group, job stops and size. A shell with job control expects a job to
//! stop as a whole and to give the terminal back. This is backoff's part of that.

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
use crate::process::sys::stdio;
pub(crate) use crate::process::sys::tty::has_terminal;

/// Returns true unless another job has the terminal on this descriptor. Also returns true if it is not a terminal of
/// this session, as no job can then have it.
pub(crate) fn may_use(terminal: RawFd) -> bool {
    tcgetpgrp(inherited(terminal)).map_or(true, |group| group == getpgrp())
}

/// Returns true if this process leads its session. The kernel reports a lost terminal to the leader only.
pub(crate) fn leads_session() -> bool {
    getsid(None) == Ok(getpid())
}

/// Returns true if backoff's process group differs from its parent's in the same session, which is how a shell with job
/// control starts a job. Such a parent notices that backoff has stopped, and can continue it.
pub(crate) fn parent_controls_jobs() -> bool {
    let parent = Some(getppid());
    getpgid(parent) != Ok(getpgrp()) && getsid(parent) == getsid(None)
}

/// Stops this process, or its whole job, with `signal`. Returns once it is continued, or at once if it did not stop.
///
/// In an orphaned process group the kernel ignores SIGTSTP, SIGTTIN and SIGTTOU, as no parent would continue the job.
/// On a terminal, backoff then goes on. Without a terminal, SIGSTOP follows, because a process sent `signal` and can
/// also send SIGCONT.
pub(crate) fn stop(signals: &mut Signals, signal: Signal, target: Target) {
    signals.stop_here_by(signal, target);
    if !has_terminal() {
        // Does nothing if `signal` stopped this process, as the SIGCONT that continued it is not handled yet.
        signals.stop_here_by(Signal::STOP, target);
    }
}

nix::ioctl_read_bad!(get_window_size, TIOCGWINSZ, Winsize);

/// Returns the size of a terminal, or zero lines and columns if it is unknown.
fn window_size(terminal: impl AsFd) -> Winsize {
    let mut size = Winsize::default();
    // SAFETY: the call fills a record of this type.
    let _ = unsafe { get_window_size(terminal.as_fd().as_raw_fd(), &raw mut size) };
    size
}

/// Returns the width of the terminal on standard error, if known.
fn columns() -> Option<u16> {
    Some(window_size(inherited(stdio::ERR)).ws_col).filter(|columns| *columns > 0)
}
