//! `--pty` gives the command a pseudo-terminal instead of a pipe for an output. The command then shows colors and
//! progress, and writes each line at once. Input, keys, job control and the controlling terminal remain the caller's.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

use super::window_size;
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;
use crate::process::sys::tty::controlling;
use crate::run::uninterrupted;

nix::ioctl_write_ptr_bad!(set_window_size, libc::TIOCSWINSZ, Winsize);

/// Opens a pseudo-terminal for output, of the size of ours. Returns the end to read from and the command's end. Reading
/// fails with EIO once all processes have closed the command's end. The terminal is raw, so bytes pass through
/// unchanged. Our own terminal turns LF into CR LF.
pub(crate) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let pair = uninterrupted(|| openpty(None, None))?;
    for fd in [&pair.master, &pair.slave] {
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    let mut modes = tcgetattr(&pair.slave)?;
    cfmakeraw(&mut modes);
    tcsetattr(&pair.slave, SetArg::TCSANOW, &modes)?;
    copy_size(&pair.master);
    Ok((pair.master, pair.slave))
}

/// Gives a pseudo-terminal the size of our terminal, or 24 lines of 80 columns if that is unknown. Returns true if the
/// size changed.
pub(crate) fn copy_size(pty: impl AsFd) -> bool {
    let mut size = our_size().unwrap_or_default();
    if size.ws_col == 0 {
        size.ws_row = 24;
        size.ws_col = 80;
    }
    let is_same = window_size(&pty) == size;
    // SAFETY: the call reads a record of this type.
    let _ = unsafe { set_window_size(pty.as_fd().as_raw_fd(), &raw const size) };
    !is_same
}

/// Returns the size of the terminal on a standard descriptor, or else of the controlling terminal.
fn our_size() -> Option<Winsize> {
    match (0..=2).find(|fd| stdio::is_terminal(*fd)) {
        Some(fd) => Some(window_size(inherited(fd))),
        None => controlling().ok().map(window_size),
    }
}
