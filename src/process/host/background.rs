//! Runs work that may block for too long (a file system or a server that does not answer) on its own thread, so that
//! signals are handled meanwhile.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use nix::poll::PollFlags;

use crate::process::sys::clock::now;
use crate::process::sys::fd::ready;

/// Enough for TLS.
const STACK: usize = 1 << 20;

/// Work in progress. After a drop, the thread runs on until its work or the process ends.
#[derive(Debug)]
pub(crate) struct Background<T> {
    began: Instant,
    result: Receiver<T>,
    done: PipeReader,
}

impl<T: Send + 'static> Background<T> {
    /// Starts the thread, which blocks all signals, as the main thread does.
    pub(crate) fn begin(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Background<T>> {
        let (done, mark) = io::pipe()?;
        let (sender, result) = sync_channel(1);
        let thread = std::thread::Builder::new().name("store".into()).stack_size(STACK);
        thread.spawn(move || {
            let _ = sender.send(work());
            // Dropped after the result was sent, so that a closed pipe means that the result is available.
            drop(mark);
        })?;
        Ok(Background {
            began: now(),
            result,
            done,
        })
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Returns a descriptor that is readable once the work is over.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.done.as_fd()
    }

    /// Returns true if the work is over.
    pub(crate) fn is_over(&self) -> bool {
        ready(self.fd(), PollFlags::POLLIN).is_ok_and(|state| !state.is_empty())
    }

    /// Returns the result; None if there is none.
    pub(crate) fn result(&self) -> Option<T> {
        self.result.try_recv().ok()
    }
}
