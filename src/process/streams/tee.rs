//! The pipe that feeds an attempt its standard input. `--stdin auto` duplicates a pipe into it (Linux): every attempt
//! reads the same bytes, and nothing is read ahead of the command.
//!
//! Unread input is *duplicated* into the command's pipe with `tee(2)`: the window. The command has read the window less
//! the bytes still in its pipe; just that much is then taken from the source and kept. `tee` always starts at the head
//! of the source, so the next window begins when the current one has been read completely.
//!
//! No event reports "read completely", but one reports "no longer full". So the command's pipe gets exactly as many
//! slots as the window fills: writable means that the first slot has been read, and with one slot that is the whole
//! window. A reader line by line gets windows of one slot and costs no timer. A continuous reader gets wider windows;
//! if a wide window has been read only partly, it is polled again after a short time.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::{read, write};

use super::output::{CHUNK, widen_if_busy};
use super::spool::{Replayable, Spool};
use crate::process::sys::fd::{ready, to_nix};
use crate::process::sys::native::{set_pipe_size, tee, widen_pipe};
use crate::run::interrupts::uninterrupted;

/// Windows of one slot before a wider one is tried; doubled whenever a window was too wide.
const PATIENCE: u32 = 4;
const MOST_PATIENCE: u32 = 1024;
/// Delay before the first poll of a partly read window.
const FIRST_LOOK: Duration = Duration::from_micros(50);
/// Longest delay between polls.
const LAST_LOOK: Duration = Duration::from_millis(100);
/// A window is too wide for its reader if it takes longer than this after its first slot was read.
const SLOW: Duration = Duration::from_millis(2);

/// The condition for the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// A poll of the window after a delay, as no event reports reading.
    Look(Duration),
    /// The end of the attempt, as kept bytes cannot be read. The pipe stays open, or the command would see an end of
    /// input.
    Nothing,
}

/// The pipe into a running attempt.
#[derive(Debug)]
pub(super) struct StdinPipe {
    pub(super) fd: OwnedFd,
    /// Offsets of kept bytes that are still to be fed.
    replay: Range<u64>,
    pub(super) chunk: Vec<u8>,
    pub(super) unwritten: Range<usize>,
    /// Bytes at the head of the source that were duplicated into this pipe: the window.
    window: usize,
    /// Time spent on polling the current window.
    looked: Duration,
    /// The size of a slot, and of the pipe.
    page: usize,
    size: usize,
    /// Limit on slots of the next window.
    slots: usize,
    /// Windows of one slot left before a wider one.
    until_wider: u32,
    patience: u32,
    full_reads: u32,
    pub(super) source_ended: bool,
    pub(super) wait: Wait,
}

impl StdinPipe {
    /// Creates the feed. `kept`: bytes to feed first. `tees`: windows follow.
    pub(super) fn new(fd: OwnedFd, kept: u64, tees: bool) -> StdinPipe {
        let bytes = usize::try_from(kept).unwrap_or(CHUNK).min(CHUNK);
        let page = tees.then(|| set_pipe_size(&fd, 1)).flatten().unwrap_or(4096);
        let mut pipe = StdinPipe {
            fd,
            replay: 0..kept,
            chunk: Vec::new(),
            unwritten: 0..0,
            window: 0,
            looked: Duration::ZERO,
            page,
            size: page,
            slots: 1,
            until_wider: PATIENCE,
            patience: PATIENCE,
            full_reads: 0,
            source_ended: false,
            wait: Wait::Room,
        };
        if tees {
            pipe.fit(bytes);
        } else {
            widen_pipe(&pipe.fd, bytes);
        }
        pipe
    }

    /// Returns true if kept bytes are still to be fed.
    pub(super) fn has_kept(&self) -> bool {
        !self.replay.is_empty()
    }

    pub(super) fn read_kept(&mut self, kept: &Spool) -> io::Result<()> {
        let left = usize::try_from(self.replay.end - self.replay.start).unwrap_or(CHUNK);
        self.chunk.resize(left.min(CHUNK), 0);
        let count = kept.read_at(&mut self.chunk, self.replay.start)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.chunk.truncate(count);
        self.replay.start += count as u64;
        Ok(())
    }

    /// Writes as much as there is room for. Returns false if the pipe has no reader.
    pub(super) fn write(&mut self) -> io::Result<bool> {
        match write(&self.fd, &self.chunk[self.unwritten.clone()]) {
            Ok(count) => self.unwritten.start += count,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// Opens the first window. Returns false at the end of the source, or an error if the system cannot duplicate or
    /// count.
    pub(super) fn begin_window(&mut self, source: BorrowedFd<'_>) -> Result<bool, Errno> {
        // Check counting first: bytes once duplicated would reach the command twice.
        unread(&self.fd)?;
        self.open_window(source)
    }

    /// Takes the read window from the source and opens the next one. Returns false once there is nothing to wait for.
    pub(super) fn move_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<bool> {
        if unread(&self.fd)? > 0 {
            return self.look_at_window(source, kept);
        }
        // A window of less than half its limit shows that the writer is slow, and nothing about the reader.
        if self.window * 2 > self.slots * self.page {
            self.until_wider = self.until_wider.saturating_sub(1);
            if self.until_wider == 0 {
                self.slots = (self.slots * 2).min(CHUNK / self.page).max(1);
            }
        }
        let taken = self.take(self.window, source, kept)?;
        widen_if_busy(source, &mut self.full_reads, taken);
        // The command can read on while the window is kept.
        let goes_on = self.open_window(source);
        kept.keep(&self.chunk[..taken])?;
        Ok(goes_on?)
    }

    /// Ends the attempt: the command has read all bytes that are no longer in its pipe. A process that it left running
    /// may still read the rest, which is not taken from the source.
    pub(super) fn end_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<()> {
        if self.window == 0 {
            return Ok(());
        }
        let read = self.window - unread(&self.fd)?.min(self.window);
        let taken = self.take(read, source, kept)?;
        kept.keep(&self.chunk[..taken])
    }

    /// Polls a pipe that is not empty. Returns false if the pipe has no reader.
    fn look_at_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<bool> {
        let state = ready(self.fd.as_fd(), PollFlags::POLLOUT).unwrap_or(PollFlags::empty());
        if state.contains(PollFlags::POLLERR) {
            return self.end_window(source, kept).and(Ok(false));
        }
        if state.contains(PollFlags::POLLOUT) {
            // The longer the reader takes, the less a proportional delay matters.
            let after = (self.looked / 4).clamp(FIRST_LOOK, LAST_LOOK);
            self.looked += after;
            self.wait = Wait::Look(after);
        }
        if self.looked > SLOW {
            if self.slots > 1 {
                self.slots = 1;
                self.patience = (self.patience * 2).min(MOST_PATIENCE);
            }
            self.until_wider = self.patience;
        }
        Ok(true)
    }

    /// Opens the next window; the pipe must be empty. Returns false if there is nothing to wait for.
    fn open_window(&mut self, source: BorrowedFd<'_>) -> Result<bool, Errno> {
        self.window = 0;
        self.looked = Duration::ZERO;
        let there = if self.slots > 1 { unread(source)? } else { 0 };
        self.fit(there.min(self.slots * self.page));
        match uninterrupted(|| tee(source, &self.fd, CHUNK)) {
            Err(Errno::EPIPE) => return Ok(false),
            Ok(0) => {
                self.source_ended = true;
                return Ok(false);
            }
            Ok(count) => self.window = count,
            Err(Errno::EAGAIN) => self.wait = Wait::Data,
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Sizes the empty pipe so that `bytes` fill it.
    fn fit(&mut self, bytes: usize) {
        let slots = bytes.div_ceil(self.page).max(1);
        let size = self.page << slots.ilog2();
        // Refused if the user has too many pipes: the size stays, and polls become more frequent.
        if size != self.size
            && let Some(size) = set_pipe_size(&self.fd, size)
        {
            self.size = size;
        }
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
        if taken < count {
            kept.lose();
        }
        Ok(taken)
    }
}

/// Returns how many bytes are in a pipe.
fn unread(pipe: impl AsFd) -> Result<usize, Errno> {
    let count = rustix::io::ioctl_fionread(pipe).map_err(to_nix)?;
    Ok(usize::try_from(count).unwrap_or(0))
}
