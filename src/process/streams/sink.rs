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

use crate::process::sys::fd::{inherited, is_file, ready};
use crate::process::sys::native::open_anew;

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
        let own = open_anew(fd, File::options().write(true));
        Sink {
            inherited: fd,
            in_pieces: own.is_none() && !is_file(fd),
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
