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
use nix::sys::stat::SFlag;
use nix::unistd::write;

use crate::process::sys::fd::{inherited, kind, ready};

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
        let own = open_anew(inherited(fd));
        // A write to a file or block device waits for the disk only.
        let is_file = [SFlag::S_IFREG, SFlag::S_IFBLK].contains(&kind(inherited(fd)));
        Sink {
            inherited: fd,
            in_pieces: own.is_none() && !is_file,
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
/// allowed, or would give another file: `/dev/tty` depends on the process, `/dev/ptmx` creates a new terminal, and other
/// devices may do anything.
#[cfg(not(portable))]
fn open_anew(fd: BorrowedFd<'_>) -> Option<OwnedFd> {
    use std::io::IsTerminal;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    use nix::sys::stat::{fstat, major};
    // Major numbers in Linux's devices.txt: memory (null, zero, full), and aliases (tty, console, ptmx).
    const MEMORY: u64 = 1;
    const ALIASES: u64 = 5;
    let is_the_same = match kind(fd) {
        SFlag::S_IFIFO => true,
        SFlag::S_IFCHR => match major(fstat(fd).ok()?.st_rdev) {
            MEMORY => true,
            ALIASES => false,
            _ => fd.is_terminal(),
        },
        _ => false,
    };
    let mut options = File::options();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = is_the_same.then(|| options.open(format!("/proc/self/fd/{}", fd.as_raw_fd())))?;
    file.ok().map(OwnedFd::from)
}

#[cfg(portable)]
fn open_anew(_fd: BorrowedFd<'_>) -> Option<OwnedFd> {
    None
}
