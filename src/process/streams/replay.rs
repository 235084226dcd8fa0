//! Standard input through a pipe of ours: every attempt reads first what earlier ones have read, and then the tail.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use rustix::buffer::spare_capacity;

use super::pump::Bulk;
use super::stdin_pipe::{CHUNK, Replayable, StdinPipe, Wait};
use crate::process::sys::fd::{pipe, ready, set_nonblocking, to_nix};
use crate::process::sys::native::widen_pipe;

/// Read at once before the first attempt, as far as a pipe holds so much: with fewer turns it starts sooner.
const READ_FIRST: usize = 256 * 1024;

/// Standard input that is kept for further attempts.
#[derive(Debug)]
pub(super) struct PipeStdin {
    source: BorrowedFd<'static>,
    pub(super) kept: Replayable,
    tail: Tail,
    /// Bytes that were read first and could not be kept; the first attempt gets them after what was.
    surplus: Vec<u8>,
    /// The pipe of the running attempt, while there is something to feed.
    pipe: Option<StdinPipe>,
    bulk: Bulk,
    /// The source turned out to need reading ahead of the command, and no caller was told yet.
    newly_read_ahead: bool,
}

/// How the command gets what follows the kept bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// The source is read to its end before the first attempt (`--stdin replay`).
    ReadFirst,
    /// Windows on the source are duplicated (`tee.rs`): nothing is read ahead of the command.
    Tee,
    /// The source is read once the command's pipe has room.
    ReadAhead,
    /// The end of the source was seen.
    Ended,
}

impl PipeStdin {
    /// With `first`, the source is read to its end before the first attempt.
    pub(super) fn new(source: BorrowedFd<'static>, limit: u64, first: bool) -> PipeStdin {
        PipeStdin {
            source,
            kept: Replayable::new(limit),
            tail: if first { Tail::ReadFirst } else { Tail::Tee },
            surplus: Vec::new(),
            pipe: None,
            bulk: Bulk::default(),
            newly_read_ahead: false,
        }
    }

    /// Returns true while the source is to be read before the first attempt.
    pub(super) fn is_filling(&self) -> bool {
        self.tail == Tail::ReadFirst
    }

    /// Returns true once if the source turned out to need reading ahead of the command.
    pub(super) fn take_newly_read_ahead(&mut self) -> bool {
        std::mem::take(&mut self.newly_read_ahead)
    }

    /// Returns the standard input of an attempt.
    pub(super) fn begin(&mut self) -> io::Result<OwnedFd> {
        let (reader, writer) = pipe()?;
        // A pipe's two ends have flags of their own: the command's stays as it is.
        set_nonblocking(&writer)?;
        let mut pipe = StdinPipe::new(writer, &self.kept.spool, self.tail == Tail::Tee);
        if self.tail == Tail::Tee && self.kept.spool.is_empty() {
            match pipe.begin_window(self.source) {
                Ok(true) => {}
                Ok(false) => return Ok(reader),
                // A system, or a sandbox, may lack the calls. Nothing was taken.
                Err(_) => {
                    self.tail = Tail::ReadAhead;
                    self.newly_read_ahead = true;
                    widen_pipe(&pipe.fd, CHUNK);
                }
            }
            self.pipe = Some(pipe);
            return Ok(reader);
        }
        self.pipe = Some(pipe);
        // A command that cannot be started takes nothing that was not read yet.
        if self.tail != Tail::ReadAhead {
            self.work()?;
        }
        Ok(reader)
    }

    /// Returns what to poll for. No flags: only to hear that the other end was closed.
    pub(super) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.is_filling() {
            return Some((self.source, PollFlags::POLLIN));
        }
        let pipe = self.pipe.as_ref()?;
        match pipe.wait {
            Wait::Room => Some((pipe.fd.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((self.source, PollFlags::POLLIN)),
            Wait::Look(_) => Some((pipe.fd.as_fd(), PollFlags::empty())),
            Wait::Nothing => None,
        }
    }

    pub(super) fn wait(&self) -> Option<Wait> {
        self.pipe.as_ref().map(|pipe| pipe.wait)
    }

    /// Feeds the command no further.
    pub(super) fn stall(&mut self) {
        if let Some(pipe) = &mut self.pipe {
            pipe.wait = Wait::Nothing;
        }
    }

    /// Takes one step: of reading before the first attempt, or of feeding the running one.
    pub(super) fn work(&mut self) -> io::Result<()> {
        if self.is_filling() {
            return self.fill();
        }
        let Some(mut pipe) = self.pipe.take() else {
            return Ok(());
        };
        let goes_on = self.feed(&mut pipe);
        // After an error the command must not take this for the end of its input.
        if !matches!(goes_on, Ok(false)) {
            self.pipe = Some(pipe);
        }
        goes_on.map(drop)
    }

    /// The attempt is over: bytes that it has read are kept.
    pub(super) fn end(&mut self) -> io::Result<()> {
        match self.pipe.take() {
            Some(mut pipe) => pipe.end_window(self.source, &mut self.kept),
            None => Ok(()),
        }
    }

    /// Reads on towards the end.
    fn fill(&mut self) -> io::Result<()> {
        let Some(count) = read_some(self.source, &mut self.surplus, READ_FIRST)? else {
            return Ok(());
        };
        self.bulk.on_read(count, self.source);
        let has_room = self.kept.has_room_for(count);
        let kept = if has_room {
            self.kept.spool.append(&self.surplus)
        } else {
            Ok(())
        };
        if kept.is_err() || !has_room {
            // What is kept is still needed once.
            self.kept.is_lost = true;
            self.tail = Tail::ReadAhead;
        } else if count > 0 {
            self.surplus.clear();
        } else {
            self.surplus = Vec::new();
            self.tail = Tail::Ended;
        }
        kept
    }

    /// Moves what can be moved without blocking. Returns false once the command has everything, or reads no more.
    fn feed(&mut self, pipe: &mut StdinPipe) -> io::Result<bool> {
        if pipe.unwritten.is_empty() {
            pipe.wait = Wait::Room;
            if pipe.replayed < pipe.replay_end {
                pipe.read_kept(&self.kept.spool)?;
            } else if !self.surplus.is_empty() {
                pipe.chunk = std::mem::take(&mut self.surplus);
            } else if self.tail == Tail::Tee {
                return pipe.move_window(self.source, &mut self.kept);
            } else if self.tail == Tail::Ended || pipe.is_closed() {
                return Ok(false);
            } else {
                match read_some(self.source, &mut pipe.chunk, CHUNK)? {
                    Some(0) => self.tail = Tail::Ended,
                    Some(_) => {}
                    None => pipe.wait = Wait::Data,
                }
                // Before an error is returned: the command gets these bytes all the same.
                pipe.unwritten = 0..pipe.chunk.len();
                self.kept.keep(&pipe.chunk)?;
            }
            pipe.unwritten = 0..pipe.chunk.len();
        }
        let is_read = pipe.write()?;
        let has_all = pipe.unwritten.is_empty() && pipe.replayed == pipe.replay_end && self.surplus.is_empty();
        Ok(is_read && !(has_all && self.is_at_end()))
    }

    /// Returns true if nothing follows what was kept: the command hears so without delay.
    fn is_at_end(&self) -> bool {
        match self.tail {
            Tail::Ended => true,
            Tail::Tee => ready(self.source, PollFlags::POLLIN)
                .is_ok_and(|state| state.contains(PollFlags::POLLHUP) && !state.contains(PollFlags::POLLIN)),
            Tail::ReadFirst | Tail::ReadAhead => false,
        }
    }
}

/// Reads at most so many bytes if that does not block. Returns 0 at the end, None if there is nothing yet.
fn read_some(source: BorrowedFd<'_>, into: &mut Vec<u8>, at_most: usize) -> io::Result<Option<usize>> {
    into.clear();
    if ready(source, PollFlags::POLLIN)?.is_empty() {
        return Ok(None);
    }
    into.reserve(at_most);
    match rustix::io::read(source, spare_capacity(into)).map_err(to_nix) {
        Ok(count) => Ok(Some(count)),
        Err(Errno::EINTR | Errno::EAGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
