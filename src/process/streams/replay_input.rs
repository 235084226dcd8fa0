//! Standard input that is read, kept and fed to each attempt. With `--stdin replay` it is read to its end before the
//! first attempt; with `--stdin auto` on a pipe that cannot be duplicated, as the command takes it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use rustix::buffer::spare_capacity;

use super::feed::{CHUNK, Fed, Feed, Wait};
use super::kept::Kept;
use super::pump::Bulk;
use crate::process::sys::fd::{pipe, ready, set_nonblocking, to_nix};

/// What is read at once before the first attempt, as far as a pipe holds so much: with fewer turns it starts sooner.
const READ_FIRST: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct ReplayInput {
    source: BorrowedFd<'static>,
    pub(super) kept: Kept,
    reading: Reading,
    /// Read during this attempt (or, past the limit, before the first), and not yet passed on.
    ahead: Vec<u8>,
    /// The pipe of the running attempt, while there is something to feed.
    pub(super) feed: Option<Feed>,
    buffer: Vec<u8>,
    bulk: Bulk,
}

/// When the source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Now, before the first attempt.
    First,
    /// When the running attempt has taken what was read before.
    AsTaken,
    /// No more: its end was seen.
    Ended,
}

impl ReplayInput {
    pub(super) fn new(source: BorrowedFd<'static>, limit: u64, reading: Reading) -> ReplayInput {
        ReplayInput {
            source,
            kept: Kept::new(limit),
            reading,
            ahead: Vec::new(),
            feed: None,
            buffer: Vec::new(),
            bulk: Bulk::default(),
        }
    }

    /// Whether it is still to be read, before the first attempt.
    pub(super) fn is_filling(&self) -> bool {
        self.reading == Reading::First
    }

    /// The standard input of an attempt.
    pub(super) fn begin(&mut self) -> io::Result<OwnedFd> {
        let (reader, writer) = pipe()?;
        // A pipe's two ends have flags of their own: the command's stays as it is.
        set_nonblocking(&writer)?;
        self.feed = Some(Feed::new(writer, self.kept.spool.len()));
        // A command that cannot be started takes nothing that was not read yet.
        if self.reading == Reading::Ended {
            self.work()?;
        }
        Ok(reader)
    }

    /// One step: of reading, before the first attempt, and of feeding then.
    pub(super) fn work(&mut self) -> io::Result<()> {
        if self.is_filling() {
            return self.fill();
        }
        let Some(mut feed) = self.feed.take() else {
            return Ok(());
        };
        let fed = self.feed_some(&mut feed);
        // After an error the command must not believe that this was the end.
        if !matches!(fed, Ok(Fed::Over)) {
            self.feed = Some(feed);
        }
        fed.map(|_| ())
    }

    /// The attempt is over. What it was not given is kept, like the rest.
    pub(super) fn end(&mut self) {
        self.feed = None;
        self.ahead.clear();
    }

    /// Reads on, towards the end.
    fn fill(&mut self) -> io::Result<()> {
        let Some(count) = self.read_ahead(READ_FIRST)? else {
            return Ok(());
        };
        if count == 0 {
            self.reading = Reading::Ended;
            self.buffer = Vec::new();
        } else if !self.kept.has_room_for(count) {
            self.stop_filling();
        } else if let Err(error) = self.kept.spool.append(&self.buffer) {
            self.stop_filling();
            return Err(error);
        }
        Ok(())
    }

    /// What is kept is still needed once; the rest is passed on as it comes.
    fn stop_filling(&mut self) {
        self.reading = Reading::AsTaken;
        self.kept.is_lost = true;
        self.ahead = std::mem::take(&mut self.buffer);
    }

    /// Reads at most so much into the buffer if that does not block.
    fn read_ahead(&mut self, at_most: usize) -> io::Result<Option<usize>> {
        if ready(self.source, PollFlags::POLLIN)?.is_empty() {
            return Ok(None);
        }
        self.buffer.clear();
        self.buffer.reserve(at_most);
        match rustix::io::read(self.source, spare_capacity(&mut self.buffer)).map_err(to_nix) {
            Ok(count) => {
                self.bulk.on_read(count, self.source);
                Ok(Some(count))
            }
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn feed_some(&mut self, feed: &mut Feed) -> io::Result<Fed> {
        feed.wait = Wait::Room;
        if feed.replayed < feed.replay_end {
            let fed = feed.replay(&self.kept.spool, &mut self.buffer)?;
            let is_all = feed.replayed == feed.replay_end && self.reading == Reading::Ended;
            return Ok(if is_all { Fed::Over } else { fed });
        }
        if !self.ahead.is_empty() {
            let (fed, written) = feed.write(&self.ahead)?;
            self.ahead.drain(..written);
            return Ok(fed);
        }
        if self.reading == Reading::Ended || feed.is_closed() {
            return Ok(Fed::Over);
        }
        feed.wait = Wait::Data;
        match self.read_ahead(CHUNK)? {
            Some(0) => {
                self.reading = Reading::Ended;
                return Ok(Fed::Over);
            }
            Some(_) => {
                self.ahead.extend_from_slice(&self.buffer);
                feed.wait = Wait::Room;
                self.kept.keep(&self.buffer)?;
            }
            None => {}
        }
        Ok(Fed::On)
    }
}
