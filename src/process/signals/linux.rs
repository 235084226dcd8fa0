//! Signals from a `signalfd(2)`.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::libc::{self, signalfd_siginfo};

use super::disposition::{is_ignored, stop_ignoring_children};
use super::mask::Mask;
use super::received::{Queue, Received, is_of_own_write, take_in};
use crate::policy::signal::Signal;
use crate::process::sys::current::{Target, send};
use crate::process::sys::fd::above_standard;

/// The signals of this process, all blocked, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    fd: OwnedFd,
    caller_mask: Mask,
    children_ignored: bool,
    queue: Queue,
}

const RECORD: usize = size_of::<signalfd_siginfo>();
/// Records read at once.
const BATCH: usize = 8;

impl Signals {
    /// Blocks every signal and starts receiving them.
    pub(crate) fn take_over() -> io::Result<Signals> {
        // What is not blocked is not received: the end of the command would be waited for in vain.
        let caller_mask = Mask::ALL.set()?;
        let fd = above_standard(signalfd(&Mask::ALL)?)?;
        Ok(Signals {
            fd,
            caller_mask,
            children_ignored: stop_ignoring_children(),
            queue: Queue::new(),
        })
    }

    /// Readable while a signal is waiting.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Signals need not be let in while this polls: they are read.
    #[allow(clippy::unused_self, reason = "elsewhere they have to be")]
    pub(crate) fn while_heard(&self, poll: impl FnOnce() -> bool) -> bool {
        poll()
    }

    /// The mask that the command is to start with.
    pub(crate) fn caller_mask(&self) -> &Mask {
        &self.caller_mask
    }

    /// Whether the command is to start with SIGCHLD ignored.
    pub(crate) fn children_ignored(&self) -> bool {
        self.children_ignored
    }

    /// Takes in what is waiting, without blocking; some of it if it is much.
    pub(crate) fn receive(&mut self) {
        take_in::<RECORD, BATCH>(&mut self.queue, &self.fd, of_record);
    }

    /// The next signal that was taken in.
    pub(crate) fn take(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Lets a signal have its default effect on this process: it stops, or dies.
    pub(crate) fn raise(&mut self, signal: Signal) {
        send(Target::Own, signal);
        self.deliver_pending(signal);
    }

    /// Lets a signal that the kernel holds for this process have its default effect; nothing if there is none.
    #[allow(
        clippy::unused_self,
        reason = "without signals taken over there would be none to deliver"
    )]
    pub(crate) fn deliver_pending(&mut self, signal: Signal) {
        let mask = Mask::only(signal);
        let _ = mask.unblock();
        let _ = mask.block();
    }

    /// Whether a signal has come and was not taken.
    pub(crate) fn is_waiting(&self, signal: Signal) -> bool {
        self.queue.iter().any(|received| received.signal == signal) || Mask::pending().contains(signal)
    }
}

fn signalfd(mask: &Mask) -> io::Result<OwnedFd> {
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: a set of the size that is told; what comes back is a new descriptor or an error. The C library's own
    // call takes its own set.
    unsafe {
        let fd = libc::syscall(
            libc::SYS_signalfd4,
            -1,
            std::ptr::from_ref(mask),
            size_of::<Mask>(),
            flags,
        ) as i32;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

fn of_record(record: &[u8; RECORD]) -> Option<Received> {
    let field = |at: usize| record[at..at + 4].try_into().map(i32::from_ne_bytes);
    let signal = Signal::from_number(field(offset_of!(signalfd_siginfo, ssi_signo)).ok()?)?;
    let sender = field(offset_of!(signalfd_siginfo, ssi_pid)).ok()?;
    let code = field(offset_of!(signalfd_siginfo, ssi_code)).ok()?;
    // A blocked signal is queued even if it is ignored.
    if is_of_own_write(signal, sender) || is_ignored(signal.number()) {
        return None;
    }
    Some(Received::new(signal, code == libc::SI_KERNEL))
}
