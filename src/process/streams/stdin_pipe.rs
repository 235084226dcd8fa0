//! The pipe through which an attempt is fed its standard input, and what was read of it.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::write;

use super::spool::Spool;
use crate::process::sys::fd::ready;
use crate::process::sys::native::{set_pipe_size, widen_pipe};

/// Moved at once.
pub(super) const CHUNK: usize = 64 * 1024;
/// The longest pipe through which kept bytes are fed.
const REPLAY_PIPE: usize = 256 * 1024;
/// Windows of one slot that are read before a wider one is tried; doubled whenever that was too wide.
const PATIENCE: u32 = 4;
const MOST_PATIENCE: u32 = 1024;

/// What to wait for before the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// The command to read on, for which there is no event.
    Look(Duration),
    /// The end of the attempt: what was kept cannot be read. The pipe stays open, or the command would take this for
    /// the end of its input.
    Nothing,
}

/// The pipe into a running attempt.
#[derive(Debug)]
pub(super) struct StdinPipe {
    pub(super) fd: OwnedFd,
    /// How many of the kept bytes were read, and how many are to be.
    pub(super) replayed: u64,
    pub(super) replay_end: u64,
    pub(super) chunk: Vec<u8>,
    pub(super) unwritten: Range<usize>,
    pub(super) window: Window,
    pub(super) wait: Wait,
}

impl StdinPipe {
    pub(super) fn new(fd: OwnedFd, kept: &Spool, tees: bool) -> StdinPipe {
        let replay_end = kept.len();
        let bytes = usize::try_from(replay_end).unwrap_or(REPLAY_PIPE).min(REPLAY_PIPE);
        let mut window = Window::default();
        if tees {
            window = Window::new(&fd, bytes);
        } else {
            widen_pipe(&fd, bytes);
        }
        StdinPipe {
            fd,
            replayed: 0,
            replay_end,
            chunk: Vec::new(),
            unwritten: 0..0,
            window,
            wait: Wait::Room,
        }
    }

    pub(super) fn read_kept(&mut self, kept: &Spool) -> io::Result<()> {
        let left = usize::try_from(self.replay_end - self.replayed).unwrap_or(CHUNK);
        self.chunk.resize(left.min(CHUNK), 0);
        let count = kept.read_at(&mut self.chunk, self.replayed)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.chunk.truncate(count);
        self.replayed += count as u64;
        Ok(())
    }

    /// Writes what there is room for. Returns false if the pipe has no reader.
    pub(super) fn write(&mut self) -> io::Result<bool> {
        match write(&self.fd, &self.chunk[self.unwritten.clone()]) {
            Ok(count) => self.unwritten.start += count,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// Returns true if the pipe has no reader.
    pub(super) fn is_closed(&self) -> bool {
        ready(self.fd.as_fd(), PollFlags::POLLOUT).is_ok_and(|state| state.contains(PollFlags::POLLERR))
    }
}

/// The head of the source, as far as it was duplicated into the command's pipe.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) bytes: usize,
    /// How long this one has been looked at.
    pub(super) looked: Duration,
    /// The size of a slot of the pipe, and of the pipe.
    pub(super) page: usize,
    size: usize,
    /// How many slots the next one may have.
    pub(super) slots: usize,
    /// Windows of one slot that were read one after the other.
    streak: u32,
    patience: u32,
}

impl Window {
    /// For a new pipe, into which so many kept bytes are written first.
    fn new(pipe: &OwnedFd, kept: usize) -> Window {
        let page = set_pipe_size(pipe, 1).unwrap_or(4096);
        let mut window = Window {
            page,
            size: page,
            slots: 1,
            patience: PATIENCE,
            ..Window::default()
        };
        window.fit(pipe, kept);
        window
    }

    /// Makes the empty pipe as long as can be filled with so many bytes.
    pub(super) fn fit(&mut self, pipe: &OwnedFd, bytes: usize) {
        let slots = bytes.div_ceil(self.page).max(1);
        let size = self.page << slots.ilog2();
        // Refused if the user has too many pipes: then it stays as it is, and we look more often.
        if size != self.size
            && let Some(size) = set_pipe_size(pipe, size)
        {
            self.size = size;
        }
    }

    /// The reader has not finished a wide window soon.
    pub(super) fn was_too_wide(&mut self) {
        if self.slots > 1 {
            self.slots = 1;
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        self.streak = 0;
    }

    pub(super) fn was_read(&mut self) {
        // Less than was allowed says that the writer is slow, which says nothing of the reader.
        if self.bytes * 2 > self.slots * self.page {
            self.streak += 1;
            if self.slots > 1 || self.streak >= self.patience {
                self.slots = (self.slots * 2).min(CHUNK / self.page).max(1);
            }
        }
    }
}

/// What was read of standard input, up to a limit.
#[derive(Debug)]
pub(super) struct Replayable {
    pub(super) spool: Spool,
    limit: u64,
    /// It was more than the limit, or could not be kept: it cannot be replayed.
    pub(super) is_lost: bool,
}

impl Replayable {
    pub(super) fn new(limit: u64) -> Replayable {
        Replayable {
            spool: Spool::default(),
            limit,
            is_lost: false,
        }
    }

    pub(super) fn has_room_for(&self, count: usize) -> bool {
        self.spool.len() + count as u64 <= self.limit
    }

    /// Keeps these bytes too, unless something is lost already.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() || self.is_lost {
            return Ok(());
        }
        if !self.has_room_for(bytes.len()) {
            self.lose();
            return Ok(());
        }
        self.spool.append(bytes).inspect_err(|_| self.lose())
    }

    /// Something is missing: the rest is of no use.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.spool.clear();
    }
}
