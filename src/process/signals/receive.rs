//! Handlers of signals, and the pipe that they write to.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::libc::{self, siginfo_t};
use nix::unistd::{read, write};
use signal_hook_registry::register_sigaction;

use super::disposition::{exchange, fill_mask, handle, is_ignored, set_default};
use super::mask::{Mask, is_pending};
use super::received::Received;
use crate::policy::signal::Signal;
use crate::process::sys::current::{Target, send};
use crate::process::sys::fd::{pipe, set_nonblocking, uninterrupted};

/// Signals that people send or backoff acts on. Each registration copies those before it. Without PIPE and XFSZ a failed write
/// of backoff's own would kill it.
const REGISTERED: [i32; 16] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGABRT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGWINCH,
    libc::SIGXFSZ,
];

/// Signals of faults: a handler that returns would be called again for ever.
const FAULTS: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGBUS,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// The writing end of the pipe.
static RECORDS: OnceLock<OwnedFd> = OnceLock::new();

/// Set if a record could not be written: the pipe was full.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// The number of a signal, 1 if the kernel sent it by itself, and its sender.
type Record = [[u8; size_of::<i32>()]; 3];
/// Records read at once.
const BATCH: usize = 64;

/// `si_code` of what Linux sends by itself. The sender does not tell: 0 is also a process outside of this PID namespace.
const SI_KERNEL: i32 = 0x80;

/// The signals of this process, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    records: OwnedFd,
    handled: Vec<Signal>,
    caller_mask: Mask,
    children_ignored: bool,
    queue: VecDeque<Received>,
}

impl Signals {
    /// Blocks all signals and sets handlers. A signal that the caller ignores stays ignored, except CHLD: the kernel would not
    /// keep the attempt's status.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = Mask::all().set()?;
        let (records, write) = pipe()?;
        set_nonblocking(&records)?;
        set_nonblocking(&write)?;
        RECORDS
            .set(write)
            .map_err(|_| io::Error::other("they are received already"))?;
        let children_ignored = is_ignored(Signal::CHLD);
        let mut handled = Vec::new();
        for signal in Signal::all().filter(|signal| *signal == Signal::CHLD || !is_ignored(*signal)) {
            if REGISTERED.contains(&signal.number()) {
                // SAFETY: the function may be called at any time.
                unsafe { register_sigaction(signal.number(), record) }?;
                fill_mask(signal)?;
                handled.push(signal);
            } else if !FAULTS.contains(&signal.number()) && handle(signal, on_signal).is_ok() {
                handled.push(signal);
            }
        }
        Ok(Signals {
            records,
            handled,
            caller_mask,
            children_ignored,
            queue: VecDeque::new(),
        })
    }

    /// The pipe, readable once a signal was let in.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.records.as_fd()
    }

    /// Lets signals in while this polls. Returns false if `poll` does, or if polling does not show all that came.
    pub(crate) fn let_in(&self, poll: impl FnOnce() -> bool) -> bool {
        let is_lost = || IS_LOST.load(Ordering::Relaxed);
        let blocked = Mask::none().set();
        let has_polled = !is_lost() && poll();
        let _ = blocked.and_then(|blocked| blocked.set());
        has_polled && !is_lost()
    }

    /// The mask that the command is to start with.
    pub(crate) fn caller_mask(&self) -> &Mask {
        &self.caller_mask
    }

    /// Returns true if the command is to start with SIGCHLD ignored.
    pub(crate) fn children_ignored(&self) -> bool {
        self.children_ignored
    }

    /// The signals that have a handler.
    pub(crate) fn handled(&self) -> &[Signal] {
        &self.handled
    }

    /// Takes in all that has come, without blocking.
    pub(crate) fn receive(&mut self) {
        self.let_in(|| true);
        self.take_in();
    }

    /// Reads the records in the pipe. A lost one may be about the end of the command.
    fn take_in(&mut self) {
        if IS_LOST.swap(false, Ordering::Relaxed) {
            self.queue.push_back(Received::new(Signal::CHLD, true));
        }
        loop {
            let mut records = [Record::default(); BATCH];
            match read(&self.records, records.as_flattened_mut().as_flattened_mut()) {
                Ok(bytes) => {
                    let count = bytes / size_of::<Record>();
                    self.queue.extend(records[..count].iter().filter_map(of_record));
                }
                Err(Errno::EAGAIN) => return,
                // The end of the command may be what cannot be read.
                Err(_) => return self.queue.push_back(Received::new(Signal::CHLD, true)),
            }
        }
    }

    /// Returns the next signal that was taken in.
    pub(crate) fn take(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Lets a signal have its default effect on this process: it stops, or dies.
    pub(crate) fn raise(&mut self, signal: Signal) {
        send(Target::Own, signal);
        self.deliver_pending(signal);
    }

    /// Lets a blocked signal that waits for this process have its default effect.
    pub(crate) fn deliver_pending(&mut self, signal: Signal) {
        let handler = exchange(signal, None);
        if self.handled.contains(&signal) {
            set_default(signal);
        }
        let mask = Mask::only(signal);
        let _ = mask.unblock();
        let _ = mask.block();
        let _ = handler.and_then(|handler| exchange(signal, Some(&handler)));
    }

    /// Returns true if a signal has come and was not taken.
    pub(crate) fn is_waiting(&mut self, signal: Signal) -> bool {
        self.take_in();
        self.queue.iter().any(|received| received.signal == signal) || is_pending(signal)
    }
}

/// The handler of signals that are not registered.
extern "C" fn on_signal(_: i32, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel gives a handler of this kind a record of the signal.
    record(unsafe { &*info });
    Errno::set_raw(errno);
}

/// Writes down a signal. Async-signal-safe.
fn record(info: &siginfo_t) {
    // SAFETY: a number, which every signal of a process has there; of other signals it is not used.
    let sender = unsafe { info.si_pid() };
    let from_kernel = if cfg!(portable) {
        sender == 0
    } else {
        info.si_code == SI_KERNEL
    };
    let record = [info.si_signo, from_kernel.into(), sender].map(i32::to_ne_bytes);
    if let Some(records) = RECORDS.get() {
        let written = uninterrupted(|| write(records, record.as_flattened()));
        IS_LOST.fetch_or(written.is_err(), Ordering::Relaxed);
    }
}

fn of_record(record: &Record) -> Option<Received> {
    let [number, from_kernel, sender] = record.map(i32::from_ne_bytes);
    let signal = Signal::from_number(number)?;
    // A failed write of backoff's own, which the writer deals with, means nothing for the command. Some systems name no sender.
    let is_own = sender == 0 || sender == std::process::id().cast_signed();
    (!is_own || !matches!(signal, Signal::PIPE | Signal::XFSZ)).then(|| Received::new(signal, from_kernel == 1))
}
