//! The pipe that feeds an attempt its standard input. `--stdin auto` duplicates a pipe or a Unix socket into it (Linux):
//! every attempt reads the same bytes, and nothing is read ahead of the command.
//!
//! Unread input is *duplicated* into the command's pipe: the window, by `tee(2)` from a pipe, and by `recv(2)` with
//! MSG_PEEK from a socket. Bytes of the window that have left the pipe were read by the command; only bytes that were
//! read are then taken from the source and kept. Duplication always starts at the head of the source, so the next
//! window begins when the current one has been read completely.
//!
//! No event reports "read completely", but one reports "no longer full". So the command's pipe gets as many slots as
//! the window fills: writable means that the first slot has been read. The rest of the window is polled, ever less
//! often.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::{read, write};

use super::sink;
use super::spool::Replayable;
use crate::process::sys::fd::{ready, unread};
use crate::process::sys::system;
use crate::run::uninterrupted;

/// First and longest delay between polls of a partly read pipe.
const FIRST_DELAY: Duration = Duration::from_micros(50);
const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// The condition for the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// The end of a delay, as no event reports that the rest of what is in the pipe was read.
    Delay(Duration),
    /// Nothing: the source has ended, and the command has all input.
    SourceEnded,
    /// Nothing: the command has stopped reading.
    ReaderGone,
    /// Nothing: feeding has failed.
    Failed,
}

/// The pipe into a running attempt.
#[derive(Debug)]
pub(super) struct StdinPipe {
    /// The end that backoff writes to; the command reads from the other one.
    pub(super) fd: OwnedFd,
    /// Offsets of kept bytes that are still to be fed.
    pub(super) replay: Range<u64>,
    /// Bytes on their way into the pipe, which are not part of a window.
    pub(super) chunk: Vec<u8>,
    /// The part of the chunk that waits for room.
    pub(super) unwritten: Range<usize>,
    /// Number of bytes at the head of the source that were duplicated into this pipe: the window.
    pub(super) window: usize,
    /// The condition for the next step.
    pub(super) wait: Wait,
}

impl StdinPipe {
    /// Writes as much of the chunk as there is room for. Returns what to wait for next: room for the rest or the next
    /// chunk, or nothing if the command has closed its input.
    pub(super) fn write(&mut self) -> nix::Result<Wait> {
        match write(&self.fd, &self.chunk[self.unwritten.clone()]) {
            Ok(count) => self.unwritten.start += count,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => return Ok(Wait::ReaderGone),
            Err(errno) => return Err(errno),
        }
        Ok(Wait::Room)
    }

    /// Opens the next window once the command has read all that is in its pipe: takes the current window from the
    /// source, keeps it for later attempts, and duplicates the bytes that follow. Returns what to wait for before the
    /// next call. After an error, `window` is 0 unless the command may have got bytes that the source still holds: only
    /// with 0, as if the system cannot duplicate at all, may the caller feed the source in another way. Called once
    /// kept bytes and the chunk are written.
    pub(super) fn move_window(
        &mut self,
        source: BorrowedFd<'_>,
        kept: &mut Replayable,
    ) -> nix::Result<Wait> {
        if unread(&self.fd)? > 0 {
            let state = ready(self.fd.as_fd(), PollFlags::POLLOUT)?;
            // If the reader is gone, `duplicate` will say so.
            if !state.contains(PollFlags::POLLERR) {
                return Ok(self.wait_until_empty(state));
            }
        }
        self.take_window(source, kept)?;
        match duplicate(source, self.fd.as_fd()) {
            Ok(0) => Ok(Wait::SourceEnded),
            Ok(count) => {
                self.window = count;
                Ok(Wait::Room)
            }
            Err(Errno::EAGAIN) => Ok(Wait::Data),
            Err(Errno::EPIPE) => Ok(Wait::ReaderGone),
            Err(errno) => Err(errno),
        }
    }

    /// Returns how to wait until the command has read all that is in its pipe, the window or kept bytes before the
    /// first one, given whether the pipe is writable (`state`).
    fn wait_until_empty(&self, state: PollFlags) -> Wait {
        if state.is_empty() {
            // The pipe is full, as its first slot is unread: an event will report that it was read.
            return Wait::Room;
        }
        match self.wait {
            // Grows with the time that the reader has taken so far, so that polls stay few and the loss of time small.
            Wait::Delay(before) => Wait::Delay((before * 5 / 4).min(LONGEST_DELAY)),
            _ => Wait::Delay(FIRST_DELAY),
        }
    }

    /// Closes the window: takes from the source the part that the command has read, and keeps it for later attempts.
    /// The rest is not taken, as a process that the command left running may still read it, or a later program. Uses
    /// the chunk, all of which is written by then.
    pub(super) fn take_window(
        &mut self,
        source: BorrowedFd<'_>,
        kept: &mut Replayable,
    ) -> nix::Result<()> {
        if self.window == 0 {
            return Ok(());
        }
        let read_by_command = self.window - unread(&self.fd)?.min(self.window);
        self.chunk.resize(read_by_command, 0);
        let mut taken = 0;
        // Another process may have taken the bytes from the source: a read would block, and they cannot be replayed.
        // Then what is kept has a gap.
        while taken < read_by_command
            && unread(source).is_ok_and(|available| available >= read_by_command - taken)
        {
            match uninterrupted(|| read(source, &mut self.chunk[taken..]))? {
                0 => break,
                count => taken += count,
            }
        }
        sink::widen_if_busy(source, taken);
        kept.is_incomplete |= taken < read_by_command;
        kept.keep(&self.chunk[..taken]);
        // Only now: after an error above, the window stays, so that `Stdin` does not feed its bytes a second time.
        self.window = 0;
        Ok(())
    }
}

/// Duplicates bytes at the head of the source into an empty pipe, without blocking and without taking them out. The
/// pipe is sized so that the bytes fill it. Returns their number, which is 0 if the source has ended, or EAGAIN if it
/// has none now.
fn duplicate(source: BorrowedFd<'_>, target: BorrowedFd<'_>) -> nix::Result<usize> {
    let size = unread(source)?.clamp(1, sink::CHUNK);
    system::duplicate(source, target, size, sink::CHUNK)
}
