//! `--stdin auto` on a pipe (Linux): every attempt reads the same bytes, and nothing is read ahead of the command.
//!
//! What the command has not read yet is *duplicated* into its pipe with `tee(2)`: that is the window. What it has
//! really read is the window less what is still in its pipe; that much is then taken from the real pipe and kept.
//! `tee` always starts at the head of the real pipe, so the next window begins when this one has
//! been read completely.
//!
//! There is no event for "read completely", but there is one for "no longer full". So the command's
//! pipe is made exactly as many slots long as the window fills: writable means that the first slot
//! has been read, and with one slot that is all of it. A reader line by line gets windows of one
//! slot and costs no timer. One that reads on and on gets wider ones; if it has read only a part of
//! such a window we look again after a short time.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::read;

use super::feed::{Fed, Feed, Wait, unread};
use super::kept::Kept;
use crate::process::sys::fd::{pipe, ready, set_nonblocking};

/// The first look at a window that has been read partly.
const FIRST_LOOK: Duration = Duration::from_micros(50);
/// Looks are never further apart.
const LAST_LOOK: Duration = Duration::from_millis(100);
/// A window that takes longer once its first slot was read is too wide for this reader.
const SLOW: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) struct PipeInput {
    source: BorrowedFd<'static>,
    /// What earlier attempts have read.
    pub(super) kept: Kept,
    /// The pipe of the running attempt, while there is something to feed.
    pub(super) feed: Option<Feed>,
    buffer: Vec<u8>,
}

impl PipeInput {
    pub(super) fn new(source: BorrowedFd<'static>, limit: u64) -> PipeInput {
        PipeInput {
            source,
            kept: Kept::new(limit),
            feed: None,
            buffer: Vec::new(),
        }
    }

    /// The standard input of an attempt; None where nothing can be duplicated, or counted. Nothing was taken then.
    pub(super) fn begin(&mut self) -> io::Result<Option<OwnedFd>> {
        let (reader, writer) = pipe()?;
        // A pipe's two ends have flags of their own: the command's stays as it is.
        set_nonblocking(&writer)?;
        let mut feed = Feed::new(writer, self.kept.spool.len());
        if !self.kept.spool.is_empty() {
            self.feed = Some(feed);
            self.work()?;
            return Ok(Some(reader));
        }
        // A system, or a sandbox, may have neither call.
        let offered = feed
            .offer(self.source)
            .and_then(|goes_on| unread(&feed.pipe).and(Ok(goes_on)));
        match offered {
            Ok(true) => self.feed = Some(feed),
            Ok(false) => {}
            Err(_) => return Ok(None),
        }
        Ok(Some(reader))
    }

    /// One step of feeding the command.
    pub(super) fn work(&mut self) -> io::Result<()> {
        let Some(mut feed) = self.feed.take() else {
            return Ok(());
        };
        if feed.replayed < feed.replay_end {
            let fed = feed.replay(&self.kept.spool, &mut self.buffer);
            // If that was all, the command hears so without delay. After an error it must not believe so.
            let is_all = || feed.replayed == feed.replay_end && is_at_end(self.source);
            if fed.is_err() || (matches!(fed, Ok(Fed::On)) && !is_all()) {
                self.feed = Some(feed);
            }
            return fed.map(|_| ());
        }
        if unread(&feed.pipe)? > 0 {
            return self.look(feed);
        }
        feed.pace.window_was_read(feed.window, feed.page, self.source);
        // The command can read on while this window is kept.
        let taken = self.take(feed.window);
        let goes_on = match taken {
            Ok(_) => feed.offer(self.source),
            // The command must not take that for the end.
            Err(_) => Ok(true),
        };
        if goes_on != Ok(false) {
            self.feed = Some(feed);
        }
        self.kept.keep(&self.buffer[..taken?])?;
        goes_on?;
        Ok(())
    }

    /// The command's pipe is not empty.
    fn look(&mut self, mut feed: Feed) -> io::Result<()> {
        let state = ready(feed.pipe.as_fd(), PollFlags::POLLOUT).unwrap_or(PollFlags::empty());
        if state.contains(PollFlags::POLLERR) {
            // Nobody can read it any more.
            return self.account(&feed);
        }
        if state.contains(PollFlags::POLLOUT) {
            // The longer it takes, the less does it matter if we are late by a part of that.
            let after = (feed.looked / 4).clamp(FIRST_LOOK, LAST_LOOK);
            feed.looked += after;
            feed.wait = Wait::Look(after);
        } else {
            feed.wait = Wait::Room;
        }
        if feed.looked > SLOW {
            feed.pace.too_wide(feed.page);
        }
        self.feed = Some(feed);
        Ok(())
    }

    /// The attempt is over: what it has read is what is not in its pipe now. A process that it left
    /// behind may still read the rest of that; it is not taken from the source.
    pub(super) fn end(&mut self) -> io::Result<()> {
        match self.feed.take() {
            Some(feed) => self.account(&feed),
            None => Ok(()),
        }
    }

    /// Takes what the command has read of the window.
    fn account(&mut self, feed: &Feed) -> io::Result<()> {
        // What is kept comes before the window in the pipe.
        let count = feed.window - unread(&feed.pipe)?.min(feed.window);
        let taken = self.take(count)?;
        self.kept.keep(&self.buffer[..taken])
    }

    /// Moves bytes from the source to the buffer; they are known to be there. Gives how many. After an error the command
    /// must not be offered them once more.
    fn take(&mut self, count: usize) -> io::Result<usize> {
        // Another process may have read from the same pipe: then ours would block, and what the
        // command read is gone.
        let mut taken = 0;
        if self.buffer.len() < count {
            self.buffer.resize(count, 0);
        }
        while taken < count && unread(self.source).is_ok_and(|there| there >= count - taken) {
            match read(self.source, &mut self.buffer[taken..count]) {
                Ok(0) => break,
                Ok(more) => taken += more,
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        if taken < count {
            self.kept.lose();
        }
        Ok(taken)
    }
}

/// Whether a pipe is empty and nobody can write to it.
fn is_at_end(source: BorrowedFd<'_>) -> bool {
    let state = ready(source, PollFlags::POLLIN).unwrap_or(PollFlags::empty());
    state.contains(PollFlags::POLLHUP) && !state.contains(PollFlags::POLLIN)
}
