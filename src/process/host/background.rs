//! Work that may block for longer than a signal may wait (a file system or a server that does not answer):
//! done by a thread of its own, for as long as it is of use.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use nix::poll::PollFlags;

use crate::process::sys::clock::now;
use crate::process::sys::fd::ready;

/// Enough for TLS.
const STACK: usize = 1 << 20;

/// Work under way. Dropping it leaves the thread to its fate: it ends when its work does, or with the process.
#[derive(Debug)]
pub(crate) struct Background<T> {
    began: Instant,
    result: Receiver<T>,
    done: PipeReader,
}

impl<T: Send + 'static> Background<T> {
    /// Begins. The thread blocks all signals, as this one does.
    pub(crate) fn begin(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Background<T>> {
        let (done, mark) = io::pipe()?;
        let (sender, result) = sync_channel(1);
        let thread = std::thread::Builder::new().name("store".into()).stack_size(STACK);
        thread.spawn(move || {
            let _ = sender.send(work());
            // After the result, so that whoever sees the pipe closed finds it.
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

    /// Readable once it is over.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.done.as_fd()
    }

    /// Whether it is over.
    pub(crate) fn is_over(&self) -> bool {
        ready(self.fd(), PollFlags::POLLIN).is_ok_and(|state| !state.is_empty())
    }

    /// The result; None if there is none.
    pub(crate) fn result(&self) -> Option<T> {
        self.result.try_recv().ok()
    }
}
