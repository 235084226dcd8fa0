//! One output of an attempt on its way from the command's pipe to its destination.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use rustix::buffer::spare_capacity;

use super::destination::OutputDestination;
use crate::process::sys::fd::to_nix;
use crate::process::sys::native::widen_pipe;

/// Taken from the pipe at once.
const CHUNK: usize = 64 * 1024;
/// At first, from the stack: an output that stays silent takes no memory. It is what a pipe takes at once of several
/// writers (PIPE_BUF), so that a first line that is not torn by then is not torn here.
const FIRST: usize = 4096;
/// A command that writes faster than it is read gets a wider pipe after it was full so many times, so that the two do
/// not wait for each other all the time: it makes the most of two processors, up to four times as fast. Not before,
/// as what all pipes of a user may hold is limited.
const MUCH: u32 = 16;
/// How wide, in bytes.
const WIDE_PIPE: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct OutputPump {
    source: Option<OwnedFd>,
    /// EIO is the end of a pseudo-terminal: its other side was closed.
    is_terminal: bool,
    buffer: Vec<u8>,
    /// What was taken and is not passed on yet.
    pending: Range<usize>,
    bulk: Bulk,
}

/// How often one read took what may have been a full pipe.
#[derive(Debug, Default)]
pub(super) struct Bulk(u32);

impl Bulk {
    /// So much came in one read from this pipe, of a chunk or more.
    pub(super) fn on_read(&mut self, count: usize, pipe: impl AsFd) {
        // Writes that do not fill whole pages leave gaps in a full pipe, of less than half of it.
        if count > CHUNK / 2 {
            self.0 = self.0.saturating_add(1);
            if self.0 == MUCH {
                widen_pipe(pipe, WIDE_PIPE);
            }
        }
    }
}

impl OutputPump {
    /// Takes from this end of a pipe, or of a pseudo-terminal.
    pub(super) fn new(source: OwnedFd, is_terminal: bool) -> OutputPump {
        OutputPump {
            source: Some(source),
            is_terminal,
            buffer: Vec::new(),
            pending: 0..0,
            bulk: Bulk::default(),
        }
    }

    /// Whether more may come, or has to be passed on.
    pub(super) fn is_open(&self) -> bool {
        self.source.is_some() || self.has_pending()
    }

    /// Whether something was taken and not passed on yet.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes nothing more: the command gets SIGPIPE when it writes.
    pub(super) fn close(&mut self) {
        self.source = None;
        self.pending = 0..0;
    }

    /// What to poll for.
    pub(super) fn interest<'a>(&'a self, destination: &'a OutputDestination) -> Option<(BorrowedFd<'a>, PollFlags)> {
        if self.has_pending() {
            return Some((destination.sink_fd(), PollFlags::POLLOUT));
        }
        self.source.as_ref().map(|source| (source.as_fd(), PollFlags::POLLIN))
    }

    /// Does what [`OutputPump::interest`] waited for. Returns what came from the command, at most so many bytes.
    pub(super) fn work(&mut self, destination: &mut OutputDestination, most: usize) -> Option<&[u8]> {
        if self.has_pending() {
            self.pass_on(destination);
            return None;
        }
        let count = self.take(destination, most)?;
        if destination.is_passed_on() {
            self.pending = 0..count;
            self.pass_on(destination);
        } else {
            destination.keep(&self.buffer[..count]);
        }
        if destination.broken().is_some() {
            self.close();
        }
        Some(&self.buffer[..count])
    }

    /// Reads at most so many bytes into the buffer.
    fn take(&mut self, destination: &mut OutputDestination, most: usize) -> Option<usize> {
        let source = self.source.as_ref()?;
        let read = if self.buffer.capacity() == 0 {
            let mut first = [MaybeUninit::uninit(); FIRST];
            rustix::io::read(source, &mut first[..most.min(FIRST)]).map(|(first, _)| {
                self.buffer.extend_from_slice(first);
                first.len()
            })
        } else {
            self.buffer.clear();
            self.buffer.reserve_exact(most.min(CHUNK));
            rustix::io::read(source, spare_capacity(&mut self.buffer))
        };
        let count = match read.map_err(to_nix) {
            Ok(count) => count,
            Err(Errno::EAGAIN | Errno::EINTR) => return None,
            Err(Errno::EIO) if self.is_terminal => 0,
            // Not to be taken for the end: what is missing must not be missed.
            Err(errno) => {
                destination.fail_to_read(errno);
                self.close();
                return None;
            }
        };
        if count == 0 {
            self.source = None;
            return None;
        }
        self.bulk.on_read(count, source);
        Some(count)
    }

    fn pass_on(&mut self, destination: &mut OutputDestination) {
        self.pending.start += destination.write(&self.buffer[self.pending.clone()]);
        if destination.broken().is_some() {
            self.close();
        }
    }
}
