//! `--pty`: a pseudo-terminal in place of a pipe for an output of the command, which then shows colors and progress, and
//! writes each line at once. Input, keys, job control and the controlling terminal stay the caller's.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

use super::window_size;
use crate::process::sys::fd::{inherited, set_nonblocking};
use crate::process::sys::stdio;
use crate::process::sys::tty::controlling;
use crate::run::uninterrupted;

nix::ioctl_write_ptr_bad!(set_window_size, libc::TIOCSWINSZ, Winsize);

/// A pseudo-terminal for output.
#[derive(Debug)]
pub(crate) struct Pty {
    /// The end to read from, non-blocking. Once the command's end is closed by all processes, reading fails with EIO.
    pub(crate) read: OwnedFd,
    /// The command's end.
    pub(crate) write: OwnedFd,
}

/// Opens a pseudo-terminal as large as ours. It is raw, so that bytes come through unchanged: our own terminal turns LF
/// into CR LF.
pub(crate) fn open() -> io::Result<Pty> {
    let pair = uninterrupted(|| openpty(None, None))?;
    for fd in [&pair.master, &pair.slave] {
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    set_nonblocking(&pair.master)?;
    let mut modes = tcgetattr(&pair.slave)?;
    cfmakeraw(&mut modes);
    tcsetattr(&pair.slave, SetArg::TCSANOW, &modes)?;
    copy_size(&pair.master);
    Ok(Pty {
        read: pair.master,
        write: pair.slave,
    })
}

/// Gives a pseudo-terminal the size of our terminal, or 24 lines of 80 columns if that is unknown. Returns true if this
/// has changed the size.
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

/// Returns the size of the terminal on a standard descriptor, or else of the controlling one.
fn our_size() -> Option<Winsize> {
    match (0..=2).find(|fd| stdio::is_terminal(*fd)) {
        Some(fd) => Some(window_size(inherited(fd))),
        None => controlling().ok().map(window_size),
    }
}
