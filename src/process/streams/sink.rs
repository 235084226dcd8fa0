//! Reads and writes without blocking in `read(2)` or `write(2)`. A call on an inherited descriptor can still wait if
//! another process takes the bytes or the room between `poll(2)` and the call, or if the system refuses `poll(2)`.
//!
//! The description of an inherited descriptor is shared with the caller and the command, so O_NONBLOCK must not be set
//! on it. A pipe or terminal is reopened for writing as a description of our own. If that is refused, each write is
//! limited to the room that `poll(2)` promises.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::PollFlags;
use nix::unistd::{read, write};

use crate::process::sys::fd::{access_mode, inherited, is_piped, ready};
use crate::process::sys::{stdio, system};

/// Limit on bytes moved at once.
pub(super) const CHUNK: usize = 256 * 1024;

/// A place to write to.
#[derive(Debug)]
pub(crate) enum Sink {
    /// A file that backoff opened, such as the log. Several runs may share it, so a line is one write.
    Own(File),
    /// The caller's pipe or terminal, reopened non-blocking.
    Reopened(File),
    /// The caller's descriptor of a file or `/dev/null`, where a write does not wait for a reader. Also one that is
    /// open for reading only, where a write fails.
    Inherited(RawFd),
    /// The caller's pipe, socket or terminal, which cannot be reopened. A write of more bytes than there is room for
    /// might block.
    Blocking(RawFd),
}

impl Sink {
    /// Chooses how to write to an inherited descriptor without ever waiting for a reader. A file has none. A pipe,
    /// socket or terminal is reopened as a non-blocking description of our own if the system allows it, which it never
    /// does for a socket. Otherwise it is written to in pieces. One that is open for reading only is not reopened, as
    /// backoff could then write where the command cannot, into the pipe of the command's own input (`>&0`).
    pub(crate) fn new(fd: RawFd) -> Sink {
        let is_for_reading = access_mode(inherited(fd)) == Ok(OFlag::O_RDONLY);
        if is_for_reading || !is_piped(fd) && !stdio::is_terminal(fd) {
            return Sink::Inherited(fd);
        }
        system::reopen_for_output(fd).map_or(Sink::Blocking(fd), Sink::Reopened)
    }

    /// Returns the descriptor to poll for room.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Sink::Own(file) | Sink::Reopened(file) => file.as_fd(),
            Sink::Inherited(fd) | Sink::Blocking(fd) => inherited(*fd),
        }
    }

    /// Writes as many of the bytes as there is room for, and returns how many. Returns EAGAIN if there is no room.
    pub(crate) fn write(&self, bytes: &[u8]) -> nix::Result<usize> {
        if matches!(self, Sink::Own(_) | Sink::Inherited(_)) {
            return write(self.fd(), bytes);
        }
        let mut written = 0;
        while written < bytes.len() {
            match self.write_piece(piece(&bytes[written..])) {
                Ok(count) => written += count,
                Err(_) if written > 0 => break,
                Err(errno) => return Err(errno),
            }
        }
        Ok(written)
    }

    fn write_piece(&self, piece: &[u8]) -> nix::Result<usize> {
        // If `poll` fails, the write must be tried.
        if matches!(self, Sink::Blocking(_))
            && ready(self.fd(), PollFlags::POLLOUT).is_ok_and(|events| events.is_empty())
        {
            return Err(Errno::EAGAIN);
        }
        write(self.fd(), piece)
    }
}

/// Returns the first bytes that a pipe takes as a whole or not at all, up to the end of a line if there is one. So
/// whole lines of several writers (`make -j`) do not mix. A terminal or socket practically always has as much room once
/// `poll` has found some.
fn piece(bytes: &[u8]) -> &[u8] {
    let most = &bytes[..bytes.len().min(libc::PIPE_BUF)];
    match memchr::memrchr(b'\n', most) {
        Some(end) => &most[..=end],
        None => most,
    }
}

/// Makes a buffer as long as a chunk. One that already is keeps its bytes. The system zeroes it, so pages that no byte
/// reaches cost nothing.
pub(super) fn set_chunk_length(buffer: &mut Vec<u8>) {
    if buffer.len() != CHUNK {
        *buffer = vec![0; CHUNK];
    }
}

/// Reads a chunk, at most `limit` bytes (at least 1), from a description that is non-blocking or ready. Returns 0 at
/// the end, and None if no data is available now. Makes `into` as long as a chunk, and widens a pipe that seems to have
/// been full.
pub(super) fn read_chunk(
    source: BorrowedFd<'_>,
    into: &mut Vec<u8>,
    limit: usize,
) -> nix::Result<Option<usize>> {
    set_chunk_length(into);
    match read(source, &mut into[..limit.min(CHUNK)]) {
        Ok(count) => {
            widen_if_busy(source, count);
            Ok(Some(count))
        }
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Reads a chunk from the caller's descriptor, which is blocking and is therefore polled first. Returns 0 at the end,
/// and None if no data is available now.
pub(super) fn read_inherited(
    source: BorrowedFd<'_>,
    into: &mut Vec<u8>,
) -> nix::Result<Option<usize>> {
    if ready(source, PollFlags::POLLIN)?.is_empty() {
        return Ok(None);
    }
    read_chunk(source, into, CHUNK)
}

/// Widens a pipe that seems to have been full when `count` bytes were read, so that writer and reader stop waiting for
/// each other. More than half of the usual 64 KiB counts as full, as writes that do not fill pages leave gaps. Pipes
/// are not widened from the start, as the capacity of all pipes of a user is limited. Other files are not changed.
pub(super) fn widen_if_busy(pipe: BorrowedFd<'_>, count: usize) {
    if count > 32 * 1024 {
        system::widen_pipe(pipe, CHUNK as i32);
    }
}
