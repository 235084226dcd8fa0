//! The pipe that feeds an attempt its standard input. `--stdin auto` duplicates a pipe into it (Linux): every attempt
//! reads the same bytes, and nothing is read ahead of the command.
//!
//! Unread input is *duplicated* into the command's pipe with `tee(2)`: the window. The command has read the window less
//! the bytes still in its pipe; just that much is then taken from the source and kept. `tee` always starts at the head
//! of the source, so the next window begins when the current one has been read completely.
//!
//! No event reports "read completely", but one reports "no longer full". So the command's pipe gets exactly as many
//! slots as the window fills: writable means that the first slot has been read. The rest of the window is polled, ever
//! less often.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
#[cfg(not(portable))]
use nix::fcntl::{FcntlArg, SpliceFFlags, fcntl, tee};
use nix::libc;
use nix::poll::PollFlags;
use nix::unistd::{read, write};

use super::spool::Replayable;
use crate::process::sys::fd::ready;
use crate::run::interrupts::uninterrupted;

/// Most bytes moved at once, and the capacity of a widened pipe.
pub(super) const CHUNK: usize = 256 * 1024;

/// Shortest and longest delay between polls of a partly read window.
const LOOKS: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(100)];

/// The condition for the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// A poll of the window after a delay, as no event reports reading.
    Look(Duration),
    /// None: the source has ended, and the command has all input.
    SourceEnded,
    /// None: the command has stopped reading.
    ReaderGone,
}

/// The pipe into a running attempt.
#[derive(Debug)]
pub(super) struct StdinPipe {
    pub(super) fd: OwnedFd,
    /// Offsets of kept bytes that are still to be fed.
    pub(super) replay: Range<u64>,
    pub(super) chunk: Vec<u8>,
    pub(super) unwritten: Range<usize>,
    /// Bytes at the head of the source that were duplicated into this pipe: the window.
    window: usize,
    /// Time spent on polling the current window.
    looked: Duration,
    /// The size of a slot.
    page: usize,
    pub(super) wait: Wait,
}

impl StdinPipe {
    /// Creates the feed. `kept`: bytes to feed first.
    pub(super) fn new(fd: OwnedFd, kept: u64) -> StdinPipe {
        let page = set_pipe_size(&fd, 1).unwrap_or(4096);
        StdinPipe {
            fd,
            replay: 0..kept,
            chunk: Vec::new(),
            unwritten: 0..0,
            window: 0,
            looked: Duration::ZERO,
            page,
            wait: Wait::Room,
        }
    }

    /// Writes as much as there is room for.
    pub(super) fn write(&mut self) -> io::Result<()> {
        match write(&self.fd, &self.chunk[self.unwritten.clone()]) {
            Ok(count) => self.unwritten.start += count,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => self.wait = Wait::ReaderGone,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Takes the read window from the source and opens the next one.
    pub(super) fn move_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<()> {
        if unread(&self.fd)? > 0 {
            return self.look_at_window(source, kept);
        }
        let taken = self.take(self.window, source, kept)?;
        widen_if_full(source, taken);
        // The command can read on while the window is kept.
        let opened = self.open_window(source);
        kept.keep(&self.chunk[..taken]);
        opened
    }

    /// Ends the attempt: the command has read all bytes that are no longer in its pipe. A process that it left running
    /// may still read the rest, which is not taken from the source.
    pub(super) fn end_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<()> {
        if self.window > 0 {
            let read = self.window - unread(&self.fd)?.min(self.window);
            let taken = self.take(read, source, kept)?;
            kept.keep(&self.chunk[..taken]);
        }
        Ok(())
    }

    /// Polls a pipe that is not empty.
    fn look_at_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<()> {
        let state = ready(self.fd.as_fd(), PollFlags::POLLOUT).unwrap_or(PollFlags::empty());
        if state.contains(PollFlags::POLLERR) {
            self.wait = Wait::ReaderGone;
            return self.end_window(source, kept);
        }
        if state.contains(PollFlags::POLLOUT) {
            // The longer the reader takes, the less a proportional delay matters.
            let after = (self.looked / 4).clamp(LOOKS[0], LOOKS[1]);
            self.looked += after;
            self.wait = Wait::Look(after);
        }
        Ok(())
    }

    /// Opens the first or the next window; the pipe must be empty. Fails if the system cannot duplicate or count.
    pub(super) fn open_window(&mut self, source: BorrowedFd<'_>) -> io::Result<()> {
        self.window = 0;
        self.looked = Duration::ZERO;
        self.fit(unread(source)?.min(CHUNK));
        match uninterrupted(|| duplicate(source, self.fd.as_fd())) {
            Err(Errno::EPIPE) => self.wait = Wait::ReaderGone,
            Ok(0) => self.wait = Wait::SourceEnded,
            Ok(count) => self.window = count,
            Err(Errno::EAGAIN) => self.wait = Wait::Data,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Sizes the empty pipe so that `bytes` fill it.
    pub(super) fn fit(&mut self, bytes: usize) {
        let slots = bytes.div_ceil(self.page).max(1);
        let size = self.page << slots.ilog2();
        // Refused if the user has too many pipes: the size stays, and polls become more frequent.
        set_pipe_size(&self.fd, size);
    }

    /// Reads available bytes of the source. Returns how many were read. After an error these bytes must not be offered
    /// to the command again.
    fn take(&mut self, count: usize, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<usize> {
        self.chunk.resize(count, 0);
        let mut taken = 0;
        // Another process may have read from the source: a read would block, and the bytes that the command has read
        // are gone.
        while taken < count && unread(source).is_ok_and(|there| there >= count - taken) {
            match uninterrupted(|| read(source, &mut self.chunk[taken..]))? {
                0 => break,
                more => taken += more,
            }
        }
        kept.is_lost |= taken < count;
        Ok(taken)
    }
}

nix::ioctl_read_bad!(fionread, libc::FIONREAD, libc::c_int);

/// Returns how many bytes are in a pipe.
fn unread(pipe: impl AsFd) -> io::Result<usize> {
    let mut count = 0;
    // SAFETY: the call writes one integer.
    unsafe { fionread(pipe.as_fd().as_raw_fd(), &raw mut count) }?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Makes a buffer as large as a chunk. Zeroed by the system, not by hand: pages that no byte reaches cost nothing.
pub(super) fn make_room(buffer: &mut Vec<u8>) {
    if buffer.len() != CHUNK {
        *buffer = vec![0; CHUNK];
    }
}

/// Reads a chunk without blocking. Returns 0 at the end, `None` if no data is available.
pub(super) fn read_chunk(source: BorrowedFd<'_>, into: &mut Vec<u8>, most: usize) -> nix::Result<Option<usize>> {
    make_room(into);
    match read(source, &mut into[..most.min(CHUNK)]) {
        Ok(count) => {
            widen_if_full(source, count);
            Ok(Some(count))
        }
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Widens a pipe that holds more than half of its usual capacity, so that writer and reader stop waiting for each other:
/// writes that do not fill pages leave gaps. Not done at once, as the capacity of all pipes of a user is limited.
fn widen_if_full(pipe: BorrowedFd<'_>, count: usize) {
    #[cfg(not(portable))]
    if count > 32 * 1024 && fcntl(pipe, FcntlArg::F_GETPIPE_SZ).is_ok_and(|size| (size as usize) < CHUNK) {
        set_pipe_size(pipe, CHUNK);
    }
}

/// Sets the capacity of a pipe. Returns the new capacity, or `None` if refused (for example, the user has too many
/// pipes).
#[cfg(not(portable))]
fn set_pipe_size(pipe: impl AsFd, bytes: usize) -> Option<usize> {
    let size = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(i32::try_from(bytes).ok()?));
    usize::try_from(size.ok()?).ok()
}

#[cfg(portable)]
fn set_pipe_size(_pipe: impl AsFd, _bytes: usize) -> Option<usize> {
    None
}

/// Duplicates bytes at the head of a pipe into another pipe, without blocking.
#[cfg(not(portable))]
fn duplicate(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> nix::Result<usize> {
    tee(from, to, CHUNK, SpliceFFlags::SPLICE_F_NONBLOCK)
}

#[cfg(portable)]
fn duplicate(_from: BorrowedFd<'_>, _to: BorrowedFd<'_>) -> nix::Result<usize> {
    Err(Errno::ENOSYS)
}
