//! Writes to a descriptor without ever blocking in `write(2)`.
//!
//! The description of an inherited descriptor is shared with the caller and the command, so O_NONBLOCK must not be set
//! on it. A pipe or terminal is reopened as a description of our own; if that is refused, each write is limited to the
//! room that `poll(2)` promises.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc;
use nix::poll::PollFlags;
use nix::unistd::write;

use crate::process::sys::fd::{inherited, is_piped, ready};
use crate::process::sys::stdio;

#[derive(Debug)]
pub(crate) struct Sink {
    inherited: RawFd,
    /// Our own non-blocking description.
    own: Option<OwnedFd>,
    /// A write of more than PIPE_BUF bytes might block.
    in_pieces: bool,
}

impl Sink {
    /// Writes to an inherited descriptor.
    pub(crate) fn new(fd: RawFd) -> Sink {
        // A write to a file or to `/dev/null` does not wait for a reader.
        let may_block = is_piped(fd) || stdio::is_terminal(fd);
        let own = may_block.then(|| open_anew(fd)).flatten();
        Sink {
            inherited: fd,
            in_pieces: may_block && own.is_none(),
            own,
        }
    }

    /// Writes to a file of backoff's own.
    pub(crate) fn to_file(file: File) -> Sink {
        Sink {
            inherited: -1,
            own: Some(file.into()),
            in_pieces: false,
        }
    }

    /// Returns the descriptor to poll for room.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.own.as_ref().map_or_else(|| inherited(self.inherited), AsFd::as_fd)
    }

    /// Writes some of the bytes; EAGAIN if there is no room.
    pub(crate) fn write(&self, bytes: &[u8]) -> nix::Result<usize> {
        if !self.in_pieces {
            return write(self.fd(), bytes);
        }
        // If `poll` fails, the write has to be tried.
        if ready(self.fd(), PollFlags::POLLOUT).is_ok_and(|events| events.is_empty()) {
            return Err(Errno::EAGAIN);
        }
        write(self.fd(), &bytes[..bytes.len().min(libc::PIPE_BUF)])
    }
}

/// Reopens a pipe or terminal for writing, as a non-blocking description of our own. Returns `None` if that is not
/// allowed.
#[cfg(not(portable))]
fn open_anew(fd: RawFd) -> Option<OwnedFd> {
    use std::os::unix::fs::OpenOptionsExt;

    use nix::sys::stat::{fstat, major};
    // Linux's devices.txt: `/dev/tty` depends on the process, `/dev/ptmx` creates a new terminal.
    const ALIASES: u64 = 5;
    if major(fstat(inherited(fd)).ok()?.st_rdev) == ALIASES {
        return None;
    }
    let mut options = File::options();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    Some(options.open(format!("/proc/self/fd/{fd}")).ok()?.into())
}

#[cfg(portable)]
fn open_anew(_fd: RawFd) -> Option<OwnedFd> {
    None
}
