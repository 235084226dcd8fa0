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
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::read;

use super::stdin_pipe::{CHUNK, Replayable, StdinPipe, Wait};
use crate::process::sys::fd::{ready, to_nix};
use crate::process::sys::native::tee;

/// The first look at a window that has been read partly.
const FIRST_LOOK: Duration = Duration::from_micros(50);
/// Looks are never further apart.
const LAST_LOOK: Duration = Duration::from_millis(100);
/// A window that takes longer once its first slot was read is too wide for this reader.
const SLOW: Duration = Duration::from_millis(2);

impl StdinPipe {
    /// Opens the first window. Returns false at the end of the source, an error if the system cannot duplicate or count.
    pub(super) fn begin_window(&mut self, source: BorrowedFd<'_>) -> Result<bool, Errno> {
        // Asked first: once bytes were duplicated they would reach the command twice.
        unread(&self.fd)?;
        self.open_window(source)
    }

    /// Takes what was read of the window, and opens the next one. Returns false once there is nothing to wait for.
    pub(super) fn move_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<bool> {
        if unread(&self.fd)? > 0 {
            return self.look_at_window(source, kept);
        }
        self.window.was_read();
        let taken = self.take(self.window.bytes, source, kept)?;
        // The command can read on while this window is kept.
        let goes_on = self.open_window(source);
        kept.keep(&self.chunk[..taken])?;
        Ok(goes_on?)
    }

    /// The attempt is over: what it has read is what is not in its pipe now. A process that it left
    /// behind may still read the rest of that; it is not taken from the source.
    pub(super) fn end_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<()> {
        if self.window.bytes == 0 {
            return Ok(());
        }
        let read = self.window.bytes - unread(&self.fd)?.min(self.window.bytes);
        let taken = self.take(read, source, kept)?;
        kept.keep(&self.chunk[..taken])
    }

    /// The command's pipe is not empty.
    fn look_at_window(&mut self, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<bool> {
        let state = ready(self.fd.as_fd(), PollFlags::POLLOUT).unwrap_or(PollFlags::empty());
        if state.contains(PollFlags::POLLERR) {
            // It has no reader any more.
            return self.end_window(source, kept).and(Ok(false));
        }
        if state.contains(PollFlags::POLLOUT) {
            // The longer it takes, the less does it matter if we are late by a part of that.
            let after = (self.window.looked / 4).clamp(FIRST_LOOK, LAST_LOOK);
            self.window.looked += after;
            self.wait = Wait::Look(after);
        }
        if self.window.looked > SLOW {
            self.window.was_too_wide();
        }
        Ok(true)
    }

    /// Opens the next window; the pipe is empty. Returns false if there is nothing to wait for.
    fn open_window(&mut self, source: BorrowedFd<'_>) -> Result<bool, Errno> {
        self.window.bytes = 0;
        self.window.looked = Duration::ZERO;
        let there = if self.window.slots > 1 { unread(source)? } else { 0 };
        self.window
            .fit(&self.fd, there.min(self.window.slots * self.window.page));
        loop {
            match tee(source, &self.fd, CHUNK) {
                Ok(0) | Err(Errno::EPIPE) => return Ok(false),
                Ok(count) => self.window.bytes = count,
                Err(Errno::EAGAIN) => self.wait = Wait::Data,
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error),
            }
            return Ok(true);
        }
    }

    /// Reads bytes of the source that are known to be there. Returns how many came. After an error the command must not be
    /// offered them once more.
    fn take(&mut self, count: usize, source: BorrowedFd<'_>, kept: &mut Replayable) -> io::Result<usize> {
        self.chunk.resize(count, 0);
        let mut taken = 0;
        // Another process may have read from the same pipe: then ours would block, and what the
        // command read is gone.
        while taken < count && unread(source).is_ok_and(|there| there >= count - taken) {
            match read(source, &mut self.chunk[taken..]) {
                Ok(0) => break,
                Ok(more) => taken += more,
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
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
