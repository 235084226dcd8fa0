//! Writing to a standard descriptor without ever waiting in `write(2)`.
//!
//! The descriptor's description is shared with the caller and the command, so O_NONBLOCK must not be
//! set on it. A pipe or terminal is opened once more instead, which gives a description of our own;
//! where that is not allowed, only as much is written at once as `poll(2)` promises room for.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::poll::PollFlags;
use rustix::fs::{FileType, fstat};
use rustix::net::SendFlags;

use crate::process::sys::fd::{has_lost_its_reader, inherited, open_anew, ready, to_nix};
use crate::process::sys::leaf::Leaf;

/// The descriptor that a path stands for: `/dev/stdout`, `/dev/stderr`, `/dev/fd/3`.
pub(crate) fn descriptor(path: &Path) -> Option<RawFd> {
    let path = path.to_str()?;
    let number = match path {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => path
            .strip_prefix("/dev/fd/")
            .or_else(|| path.strip_prefix("/proc/self/fd/"))?
            .parse()
            .ok(),
    };
    number.filter(|number| *number >= 0)
}

/// A standard descriptor to write to.
#[derive(Debug)]
pub(crate) struct Sink {
    fd: RawFd,
    method: Method,
}

#[derive(Debug)]
enum Method {
    /// A file or device: a write takes no longer than the disk.
    Whole,
    /// A description of our own, non-blocking.
    Own(OwnedFd),
    /// A socket can be told per call.
    Socket,
    /// As much as is certain to fit.
    Pieces,
}

impl Sink {
    /// For a descriptor that backoff was given.
    pub(crate) fn new(fd: RawFd) -> Sink {
        let kind = fstat(inherited(fd)).map(|facts| FileType::from_raw_mode(facts.st_mode));
        let method = match kind {
            Ok(FileType::Socket) => Method::Socket,
            Ok(FileType::Fifo | FileType::CharacterDevice) => {
                open_anew(fd, File::options().write(true)).map_or(Method::Pieces, Method::Own)
            }
            Ok(_) => Method::Whole,
            Err(_) => Method::Pieces,
        };
        Sink { fd, method }
    }

    /// Appends to a file, which is made if it is not there. A path that stands for a descriptor is that descriptor: opened anew, a file would be
    /// written at another place than the command writes at.
    pub(crate) fn append(path: &Path) -> io::Result<Sink> {
        if let Some(fd) = descriptor(path) {
            return Ok(Sink::new(fd));
        }
        Sink::append_to(&Leaf::of(path)?)
    }

    /// The same where it is known what the path leads to.
    pub(crate) fn append_to(place: &Leaf) -> io::Result<Sink> {
        Ok(Sink::own(place.append()?))
    }

    /// The same of a path, but nothing is made: None if it is not there and may be made.
    pub(crate) fn append_if_there(path: &Path) -> io::Result<Option<Sink>> {
        match descriptor(path) {
            Some(fd) => Ok(Some(Sink::new(fd))),
            None => Ok(Leaf::of(path)?.append_if_there()?.map(Sink::own)),
        }
    }

    fn own(file: File) -> Sink {
        let fd = OwnedFd::from(file);
        Sink {
            fd: fd.as_raw_fd(),
            method: Method::Own(fd),
        }
    }

    /// What to poll for room.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match &self.method {
            Method::Own(fd) => fd.as_fd(),
            // If it is closed, poll says POLLNVAL and write EBADF.
            _ => inherited(self.fd),
        }
    }

    /// Whether whoever would read this is gone, as far as that can be known without writing.
    pub(crate) fn has_lost_its_reader(&self) -> bool {
        has_lost_its_reader(self.fd())
    }

    /// Writes some of the bytes; EAGAIN if there is no room.
    pub(crate) fn write(&self, bytes: &[u8]) -> nix::Result<usize> {
        match &self.method {
            Method::Whole | Method::Own(_) => nix::unistd::write(self.fd(), bytes),
            // Without room it would wait. Where that cannot be asked it has to be tried.
            Method::Pieces if ready(self.fd(), PollFlags::POLLOUT).is_ok_and(|events| events.is_empty()) => {
                Err(Errno::EAGAIN)
            }
            Method::Pieces => nix::unistd::write(self.fd(), &bytes[..bytes.len().min(libc::PIPE_BUF)]),
            Method::Socket => rustix::net::send(self.fd(), bytes, SendFlags::DONTWAIT).map_err(to_nix),
        }
    }
}
