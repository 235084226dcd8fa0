//! Signals from `signal-hook`'s pipe, where there is no `signalfd(2)`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::libc;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use super::disposition::{is_ignored, stop_ignoring_children};
use super::mask::Mask;
use super::received::{Queue, Received, is_of_own_write};
use crate::policy::signal::Signal;

/// The signals of this process, caught, from [`Signals::take_over`] on.
pub(crate) struct Signals {
    delivery: SignalDelivery<UnixStream, WithOrigin>,
    caller_mask: Mask,
    children_ignored: bool,
    queue: Queue,
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signals")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

impl Signals {
    /// Catches every signal that may be caught and starts receiving them.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let children_ignored = stop_ignoring_children();
        // A fault of this process is no message to it, and what was ignored stays ignored.
        let faults = [
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGTRAP,
            libc::SIGABRT,
            libc::SIGSYS,
        ];
        let caught = (1..32).filter(|signal| {
            ![libc::SIGKILL, libc::SIGSTOP].contains(signal) && !faults.contains(signal) && !is_ignored(*signal)
        });
        let (read, write) = UnixStream::pair()?;
        let delivery = SignalDelivery::with_pipe(read, write, WithOrigin::default(), caught)?;
        let caller_mask = Mask::none().set()?;
        Ok(Signals {
            delivery,
            caller_mask,
            children_ignored,
            queue: Queue::new(),
        })
    }

    /// Readable while a signal is waiting.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// The mask that the command is to start with.
    pub(crate) fn caller_mask(&self) -> &Mask {
        &self.caller_mask
    }

    /// Whether the command is to start with SIGCHLD ignored.
    pub(crate) fn children_ignored(&self) -> bool {
        self.children_ignored
    }

    /// Takes in what is waiting, without blocking.
    pub(crate) fn receive(&mut self) {
        for origin in self.delivery.pending() {
            let Some(signal) = Signal::from_number(origin.signal) else {
                continue;
            };
            if origin
                .process
                .is_some_and(|process| is_of_own_write(signal, process.pid))
            {
                continue;
            }
            let from_kernel = matches!(origin.cause, Cause::Kernel);
            self.queue.push_back(Received::new(signal, from_kernel));
        }
    }

    /// The next signal that was taken in.
    pub(crate) fn take(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Lets a signal have its default effect on this process: it stops, or dies.
    pub(crate) fn raise(&mut self, signal: Signal) {
        let _ = signal_hook::low_level::emulate_default_handler(signal.number());
    }

    /// Lets a signal that has come and was not taken have its default effect on this process; nothing if there
    /// is none, or if a CONT has come after it.
    pub(crate) fn deliver_pending(&mut self, signal: Signal) {
        self.receive();
        let Some(at) = self.queue.iter().rposition(|received| received.signal == signal) else {
            return;
        };
        let is_revoked = self
            .queue
            .iter()
            .skip(at)
            .any(|received| received.signal == Signal::CONT);
        self.queue.remove(at);
        if !is_revoked {
            self.raise(signal);
        }
    }

    /// Whether a signal has come and was not taken.
    pub(crate) fn is_waiting(&self, signal: Signal) -> bool {
        self.queue.iter().any(|received| received.signal == signal)
    }
}
