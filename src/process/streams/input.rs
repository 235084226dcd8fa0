//! The command's standard input: inherited, rewound, or fed through a pipe of ours so that every
//! attempt reads the same bytes.
//!
//! A pipe (`--stdin auto`, Linux) is never read ahead of the command. What the command has not read
//! yet is *duplicated* into its pipe with `tee(2)`: that is the window. What it has really read is
//! the window less what is still in its pipe; that much is then taken from the real pipe and kept.
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
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Whence, lseek, read};

use super::feed::{CHUNK, Fed, Feed, Wait, unread};
use super::spool::Spool;
use crate::process::sys::fd::{null, pipe, ready, set_nonblocking};
use crate::run::streams::InputMode;

/// The first look at a window that has been read partly.
const FIRST_LOOK: Duration = Duration::from_micros(50);
/// Looks are never further apart.
const LAST_LOOK: Duration = Duration::from_millis(100);
/// A window that takes longer once its first slot was read is too wide for this reader.
const SLOW: Duration = Duration::from_millis(2);

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub struct Input {
    kind: Kind,
    source: BorrowedFd<'static>,
    limit: u64,
    /// What earlier attempts have read, or with `replay` everything.
    spool: Spool,
    /// Read past the limit of `replay`, and not yet passed on.
    ahead: Vec<u8>,
    /// `replay`: the end has not been read yet.
    filling: bool,
    lost: bool,
    /// The pipe of the running attempt, while there is something to feed.
    feed: Option<Feed>,
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inherited,
    Null,
    /// With the offset at which the run began, and whether an attempt has begun.
    File(libc::off_t, bool),
    /// Followed with `tee(2)`.
    Pipe,
    /// `replay`: read to its end first.
    Kept,
}

impl Input {
    /// Looks at standard input, once. Fails if it is to be replayed and is closed.
    pub fn new(mode: InputMode, limit: u64) -> io::Result<Input> {
        // SAFETY: standard input is never closed by us; if the caller closed it, calls say EBADF, as
        // all of our own descriptors are above 2.
        Input::over(unsafe { BorrowedFd::borrow_raw(0) }, mode, limit)
    }

    /// The same of any descriptor.
    pub fn over(source: BorrowedFd<'static>, mode: InputMode, limit: u64) -> io::Result<Input> {
        let kind = match mode {
            InputMode::Auto => look_at(source)?,
            InputMode::Inherit => Kind::Inherited,
            InputMode::Replay => {
                fstat(source)?;
                Kind::Kept
            }
            InputMode::Null => Kind::Null,
        };
        Ok(Input {
            kind,
            source,
            limit,
            spool: Spool::default(),
            ahead: Vec::new(),
            filling: kind == Kind::Kept,
            lost: false,
            feed: None,
            buffer: Vec::new(),
        })
    }

    /// Whether every attempt gets the caller's own, and nothing is to be done about it.
    pub fn is_inherited(&self) -> bool {
        self.kind == Kind::Inherited
    }

    /// Before each attempt: its standard input, close-on-exec and above 2, or `None` if it is to
    /// inherit ours. The caller drops it once the command has it: only then can it be seen that the
    /// command has closed its own.
    pub fn begin(&mut self) -> io::Result<Option<OwnedFd>> {
        match &mut self.kind {
            Kind::Inherited => Ok(None),
            Kind::Null => null().map(Some),
            Kind::File(start, begun) => {
                if std::mem::replace(begun, true) {
                    lseek(self.source, *start, Whence::SeekSet)?;
                }
                Ok(None)
            }
            Kind::Pipe | Kind::Kept => self.begin_feeding(),
        }
    }

    fn begin_feeding(&mut self) -> io::Result<Option<OwnedFd>> {
        let (reader, writer) = pipe()?;
        // A pipe's two ends have flags of their own: the command's stays as it is.
        set_nonblocking(&writer)?;
        self.buffer.resize(CHUNK, 0);
        let mut feed = Feed::new(writer, self.spool.len());
        if self.spool.is_empty() && self.kind == Kind::Pipe {
            match feed.offer(self.source) {
                Ok(true) => self.feed = Some(feed),
                Ok(false) => {}
                // A system, or a sandbox, that has no tee.
                Err(Errno::EINVAL | Errno::ENOSYS | Errno::EPERM | Errno::EBADF) => {
                    self.kind = Kind::Inherited;
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        } else {
            self.feed = Some(feed);
            self.work()?;
        }
        Ok(Some(reader))
    }

    /// What to poll for now. No flags: only to hear that the other end was closed.
    pub fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.filling {
            return Some((self.source, PollFlags::POLLIN));
        }
        let feed = self.feed.as_ref()?;
        match feed.wait {
            Wait::Room => Some((feed.pipe.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((self.source, PollFlags::POLLIN)),
            Wait::Look(_) => Some((feed.pipe.as_fd(), PollFlags::empty())),
            Wait::Nothing => None,
        }
    }

    /// After how long [`Input::work`] is to be called even if nothing became ready.
    pub fn wake_after(&self) -> Option<Duration> {
        match self.feed.as_ref()?.wait {
            Wait::Look(after) => Some(after),
            _ => None,
        }
    }

    /// Whether standard input is still to be read, before the first attempt (`replay`).
    pub fn needs_filling(&self) -> bool {
        self.filling
    }

    /// Whether what was read cannot be given again: it was more than the limit, or could not be kept.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Feeds the command no further.
    pub fn stall(&mut self) {
        if let Some(feed) = &mut self.feed {
            feed.wait = Wait::Nothing;
        }
    }

    /// Whether the command may wait for input that will not come.
    pub fn is_stalled(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.wait == Wait::Nothing)
    }

    /// Does what can be done now, without blocking. If it fails and [`Input::is_lost`] (what was read
    /// cannot be kept: a full disk), the attempt goes on as it would, but is the last. If it fails
    /// otherwise, what was kept cannot be read: the attempt must be ended. It never sees a false end.
    pub fn work(&mut self) -> io::Result<()> {
        if self.filling {
            return self.fill();
        }
        match self.kind {
            Kind::Pipe => self.follow(),
            Kind::Kept => self.push(),
            _ => Ok(()),
        }
    }

    /// The attempt is over: what it has read is what is not in its pipe now. A process that it left
    /// behind may still read the rest of that; it is not taken from the source.
    pub fn end(&mut self) -> io::Result<()> {
        let Some(feed) = self.feed.take() else {
            return Ok(());
        };
        if self.kind == Kind::Pipe {
            self.account(&feed)?;
        }
        Ok(())
    }

    /// Takes what the command has read of the window.
    fn account(&mut self, feed: &Feed) -> io::Result<()> {
        // What is kept comes before the window in the pipe.
        let count = feed.window - unread(&feed.pipe)?.min(feed.window);
        let taken = self.take(count);
        self.keep(taken)
    }

    /// `auto`: one step of feeding the command from a pipe.
    fn follow(&mut self) -> io::Result<()> {
        let Some(mut feed) = self.feed.take() else {
            return Ok(());
        };
        if feed.replayed < feed.replay_end {
            let fed = feed.replay(&self.spool, &mut self.buffer);
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
        feed.pace.window_was_read(feed.window, feed.page);
        // The command can read on while this window is kept.
        let taken = self.take(feed.window);
        let goes_on = feed.offer(self.source);
        if goes_on != Ok(false) {
            self.feed = Some(feed);
        }
        self.keep(taken)?;
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
            feed.pace.too_wide();
        }
        self.feed = Some(feed);
        Ok(())
    }

    /// Moves bytes from the source to the buffer; they are known to be there. Gives how many.
    fn take(&mut self, count: usize) -> usize {
        if count == 0 {
            return 0;
        }
        // Another process may have read from the same pipe: then ours would block, and what the
        // command read is gone.
        let mut taken = 0;
        while taken < count && unread(self.source).is_ok_and(|there| there >= count - taken) {
            match read(self.source, &mut self.buffer[taken..count]) {
                Ok(0) => break,
                Ok(more) => taken += more,
                Err(Errno::EINTR) => {}
                Err(_) => break,
            }
        }
        if taken < count {
            self.lose();
        }
        taken
    }

    /// Keeps what was taken, for the next attempt.
    fn keep(&mut self, taken: usize) -> io::Result<()> {
        if taken == 0 || self.lost {
            return Ok(());
        }
        if self.spool.len() + taken as u64 > self.limit {
            self.lose();
            return Ok(());
        }
        self.spool.append(&self.buffer[..taken]).inspect_err(|_| self.lose())
    }

    fn lose(&mut self) {
        self.lost = true;
        self.spool.clear();
    }

    /// `replay`: reads on, towards the end.
    fn fill(&mut self) -> io::Result<()> {
        let Some(count) = self.read_ahead()? else {
            return Ok(());
        };
        if count == 0 {
            self.filling = false;
        } else if self.spool.len() + count as u64 > self.limit {
            self.stop_filling(count);
        } else if let Err(error) = self.spool.append(&self.buffer[..count]) {
            self.stop_filling(count);
            return Err(error);
        }
        Ok(())
    }

    /// What is kept is still needed once; the rest is passed on as it comes.
    fn stop_filling(&mut self, count: usize) {
        self.filling = false;
        self.lost = true;
        self.ahead = self.buffer[..count].to_vec();
    }

    /// `replay`: reads into the buffer if that does not block.
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

    /// `replay`: one step of feeding the command.
    fn push(&mut self) -> io::Result<()> {
        let Some(mut feed) = self.feed.take() else {
            return Ok(());
        };
        let fed = self.push_some(&mut feed);
        // After an error the command must not believe that this was the end.
        if !matches!(fed, Ok(Fed::Over)) {
            self.feed = Some(feed);
        }
        fed.map(|_| ())
    }

    fn push_some(&mut self, feed: &mut Feed) -> io::Result<Fed> {
        feed.wait = Wait::Room;
        if feed.replayed < feed.replay_end {
            let fed = feed.replay(&self.spool, &mut self.buffer)?;
            let is_all = feed.replayed == feed.replay_end && !self.lost;
            return Ok(if is_all { Fed::Over } else { fed });
        }
        if !self.ahead.is_empty() {
            let (fed, written) = feed.write(&self.ahead)?;
            self.ahead.drain(..written);
            return Ok(fed);
        }
        if !self.lost {
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

/// What `auto` makes of a descriptor.
fn look_at(source: BorrowedFd<'_>) -> io::Result<Kind> {
    let status = match fstat(source) {
        Err(Errno::EBADF) => return Ok(Kind::Inherited),
        status => status?,
    };
    Ok(match SFlag::from_bits_truncate(status.st_mode & SFlag::S_IFMT.bits()) {
        SFlag::S_IFIFO => Kind::Pipe,
        SFlag::S_IFREG | SFlag::S_IFBLK => {
            lseek(source, 0, Whence::SeekCur).map_or(Kind::Inherited, |start| Kind::File(start, false))
        }
        _ => Kind::Inherited,
    })
}

/// Whether a pipe is empty and nobody can write to it.
fn is_at_end(source: BorrowedFd<'_>) -> bool {
    let state = ready(source, PollFlags::POLLIN).unwrap_or(PollFlags::empty());
    state.contains(PollFlags::POLLHUP) && !state.contains(PollFlags::POLLIN)
}
