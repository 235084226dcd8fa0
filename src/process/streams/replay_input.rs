//! `--stdin replay`: standard input is read to its end before the first attempt, and each attempt is fed all of it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::read;

use super::feed::{CHUNK, Fed, Feed, Wait};
use super::kept::Kept;
use crate::process::sys::fd::{pipe, ready, set_nonblocking};

#[derive(Debug)]
pub(super) struct ReplayInput {
    source: BorrowedFd<'static>,
    pub(super) kept: Kept,
    /// The end has not been read yet.
    pub(super) is_filling: bool,
    /// Read past the limit, and not yet passed on.
    ahead: Vec<u8>,
    /// The pipe of the running attempt, while there is something to feed.
    pub(super) feed: Option<Feed>,
    buffer: Vec<u8>,
}

impl ReplayInput {
    pub(super) fn new(source: BorrowedFd<'static>, limit: u64) -> ReplayInput {
        ReplayInput {
            source,
            kept: Kept::new(limit),
            is_filling: true,
            ahead: Vec::new(),
            feed: None,
            buffer: Vec::new(),
        }
    }

    /// The standard input of an attempt.
    pub(super) fn begin(&mut self) -> io::Result<OwnedFd> {
        let (reader, writer) = pipe()?;
        // A pipe's two ends have flags of their own: the command's stays as it is.
        set_nonblocking(&writer)?;
        self.buffer.resize(CHUNK, 0);
        self.feed = Some(Feed::new(writer, self.kept.spool.len()));
        self.work()?;
        Ok(reader)
    }

    /// One step: of reading, before the first attempt, and of feeding then.
    pub(super) fn work(&mut self) -> io::Result<()> {
        if self.is_filling {
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

    /// Reads on, towards the end.
    fn fill(&mut self) -> io::Result<()> {
        let Some(count) = self.read_ahead()? else {
            return Ok(());
        };
        if count == 0 {
            self.is_filling = false;
        } else if !self.kept.has_room_for(count) {
            self.stop_filling(count);
        } else if let Err(error) = self.kept.spool.append(&self.buffer[..count]) {
            self.stop_filling(count);
            return Err(error);
        }
        Ok(())
    }

    /// What is kept is still needed once; the rest is passed on as it comes.
    fn stop_filling(&mut self, count: usize) {
        self.is_filling = false;
        self.kept.is_lost = true;
        self.ahead = self.buffer[..count].to_vec();
    }

    /// Reads into the buffer if that does not block.
    fn read_ahead(&mut self) -> io::Result<Option<usize>> {
        self.buffer.resize(CHUNK, 0);
        if ready(self.source, PollFlags::POLLIN)?.is_empty() {
            return Ok(None);
        }
        match read(self.source, &mut self.buffer) {
            Ok(count) => Ok(Some(count)),
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn feed_some(&mut self, feed: &mut Feed) -> io::Result<Fed> {
        feed.wait = Wait::Room;
        if feed.replayed < feed.replay_end {
            let fed = feed.replay(&self.kept.spool, &mut self.buffer)?;
            let is_all = feed.replayed == feed.replay_end && !self.kept.is_lost;
            return Ok(if is_all { Fed::Over } else { fed });
        }
        if !self.ahead.is_empty() {
            let (fed, written) = feed.write(&self.ahead)?;
            self.ahead.drain(..written);
            return Ok(fed);
        }
        if !self.kept.is_lost {
            return Ok(Fed::Over);
        }
        match self.read_ahead()? {
            Some(0) => return Ok(Fed::Over),
            Some(count) => self.ahead = self.buffer[..count].to_vec(),
            None => feed.wait = Wait::Data,
        }
        Ok(Fed::On)
    }
}
