//! The pipe through which an attempt is fed its standard input: kept bytes first, then windows on the real
//! pipe (`pipe_input.rs` says why).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::write;

use super::spool::Spool;
use crate::process::sys::fd::{ready, set_pipe_size, to_nix, widen_pipe};

/// What is moved at once, and the widest window on a pipe as it came.
pub(super) const CHUNK: usize = 64 * 1024;
/// The widest window for a reader that has kept up with those of a whole pipe. The source is made twice as long, so that its
/// writer can go on while a window is read.
const WIDEST: usize = 512 * 1024;
/// The pipe through which kept bytes are fed: longer, as nothing in it needs accounting.
const REPLAY_PIPE: u64 = 256 * 1024;
/// Windows of one slot that are read before a wider one is tried; doubled whenever that was too wide.
const PATIENCE: u32 = 4;
const MOST_PATIENCE: u32 = 1024;

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// The command to read on, for which there is no event.
    Look(Duration),
    /// The end of the attempt: what was kept cannot be read. The pipe stays open, or the command would take
    /// this for the end of its input.
    Nothing,
}

/// What follows a step of feeding.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fed {
    On,
    /// The command has closed its end, or has been given everything.
    Over,
}

/// The pipe into a running attempt.
#[derive(Debug)]
pub(super) struct Feed {
    /// The end that we write to.
    pub(super) pipe: OwnedFd,
    /// The size of a slot.
    pub(super) page: usize,
    /// The size of the pipe.
    size: usize,
    /// How much of the spool has been written, and how much is to be.
    pub(super) replayed: u64,
    pub(super) replay_end: u64,
    /// How much of the head of the source is in the pipe or was read from it, and is still in the source.
    pub(super) window: usize,
    pub(super) wait: Wait,
    /// How long this window has been looked at.
    pub(super) looked: Duration,
    pub(super) pace: Pace,
}

/// How wide the next window may be.
#[derive(Debug)]
pub(super) struct Pace {
    slots: usize,
    streak: u32,
    patience: u32,
    /// The widest window, in bytes; None before a wider one than [`CHUNK`] was tried.
    widest: Option<usize>,
}

impl Feed {
    pub(super) fn new(pipe: OwnedFd, replay_end: u64) -> Feed {
        let page = set_pipe_size(&pipe, 1).unwrap_or(4096);
        let mut feed = Feed {
            pipe,
            page,
            size: page,
            replayed: 0,
            replay_end,
            window: 0,
            wait: Wait::Room,
            looked: Duration::ZERO,
            pace: Pace {
                slots: 1,
                streak: 0,
                patience: PATIENCE,
                widest: None,
            },
        };
        feed.fit(usize::try_from(replay_end.min(REPLAY_PIPE)).unwrap_or(CHUNK));
        feed
    }

    /// What to poll for. No flags: only to hear that the other end was closed.
    pub(super) fn interest<'a>(&'a self, source: BorrowedFd<'a>) -> Option<(BorrowedFd<'a>, PollFlags)> {
        match self.wait {
            Wait::Room => Some((self.pipe.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((source, PollFlags::POLLIN)),
            Wait::Look(_) => Some((self.pipe.as_fd(), PollFlags::empty())),
            Wait::Nothing => None,
        }
    }

    /// After how long to look even if nothing became ready.
    pub(super) fn wake_after(&self) -> Option<Duration> {
        match self.wait {
            Wait::Look(after) => Some(after),
            _ => None,
        }
    }

    /// Makes the empty pipe as long as can be filled with so many bytes.
    fn fit(&mut self, bytes: usize) {
        let slots = bytes.div_ceil(self.page).max(1);
        let size = self.page << slots.ilog2();
        // Refused if the user has too many pipes: then it stays as it is, and we look more often.
        if size != self.size
            && let Some(size) = set_pipe_size(&self.pipe, size)
        {
            self.size = size;
        }
    }

    /// Whether nobody can read the pipe any more.
    pub(super) fn is_closed(&self) -> bool {
        ready(self.pipe.as_fd(), PollFlags::POLLOUT).is_ok_and(|state| state.contains(PollFlags::POLLERR))
    }

    /// Writes what there is room for.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<(Fed, usize)> {
        match write(&self.pipe, bytes) {
            Ok(count) => Ok((Fed::On, count)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok((Fed::On, 0)),
            Err(Errno::EPIPE) => Ok((Fed::Over, 0)),
            Err(error) => Err(error.into()),
        }
    }

    /// Feeds kept bytes.
    pub(super) fn replay(&mut self, spool: &Spool, buffer: &mut Vec<u8>) -> io::Result<Fed> {
        let left = usize::try_from(self.replay_end - self.replayed).unwrap_or(usize::MAX);
        buffer.resize(left.min(CHUNK), 0);
        let count = spool.read_at(buffer, self.replayed)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (fed, written) = self.write(&buffer[..count])?;
        self.replayed += written as u64;
        Ok(fed)
    }

    /// Opens the next window; the pipe is empty. Gives whether there is anything to wait for.
    pub(super) fn offer(&mut self, source: BorrowedFd<'_>) -> Result<bool, Errno> {
        self.window = 0;
        self.looked = Duration::ZERO;
        let there = if self.pace.slots > 1 { unread(source)? } else { 0 };
        self.fit(there.min(self.pace.slots * self.page));
        loop {
            match duplicate(source, &self.pipe, WIDEST) {
                Ok(0) | Err(Errno::EPIPE) => return Ok(false),
                Ok(count) => {
                    self.window = count;
                    self.wait = Wait::Room;
                    return Ok(true);
                }
                Err(Errno::EAGAIN) => {
                    self.wait = Wait::Data;
                    return Ok(true);
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Pace {
    /// The reader has not finished a wide window soon.
    pub(super) fn too_wide(&mut self, page: usize) {
        if self.slots * page > CHUNK {
            // It still reads whole pipes, as far as is known.
            self.slots = (CHUNK / page).max(1);
            self.widest = Some(CHUNK);
        } else if self.slots > 1 {
            self.slots = 1;
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        self.streak = 0;
    }

    /// `source` may be made longer.
    pub(super) fn window_was_read(&mut self, window: usize, page: usize, source: BorrowedFd<'_>) {
        // Less than was allowed says that the writer is slow, which says nothing of the reader.
        if window * 2 <= self.slots * page {
            return;
        }
        self.streak += 1;
        if self.slots > 1 || self.streak >= self.patience {
            let widest = match self.widest {
                None if self.slots * page >= CHUNK => *self.widest.insert(widest_of(source)),
                None => CHUNK,
                Some(widest) => widest,
            };
            self.slots = (self.slots * 2).min((widest / page).max(1));
        }
    }
}

/// The widest window on a pipe, which is made longer if the user may have longer ones.
fn widest_of(source: BorrowedFd<'_>) -> usize {
    if widen_pipe(source, 2 * WIDEST) { WIDEST } else { CHUNK }
}

/// How many bytes are in a pipe.
pub(super) fn unread(pipe: impl AsFd) -> Result<usize, Errno> {
    let count = rustix::io::ioctl_fionread(pipe).map_err(to_nix)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Duplicates the head of a pipe into another, without blocking.
#[cfg(not(portable))]
fn duplicate(from: BorrowedFd<'_>, to: &OwnedFd, bytes: usize) -> Result<usize, Errno> {
    rustix::pipe::tee(from, to, bytes, rustix::pipe::SpliceFlags::NONBLOCK).map_err(to_nix)
}

#[cfg(portable)]
fn duplicate(_from: BorrowedFd<'_>, _to: &OwnedFd, _bytes: usize) -> Result<usize, Errno> {
    Err(Errno::ENOSYS)
}
