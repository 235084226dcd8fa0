//! Handlers of signals, and the pipe that they write to.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc::{self, c_int, c_void, sigaction, siginfo_t};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::unistd::{read, write};
use signal_hook_registry::register_sigaction;

use super::received::Received;
use crate::policy::signal::Signal;
use crate::process::sys::fd::{pipe, set_nonblocking, uninterrupted};
use crate::process::sys::native;

/// Signals that people send, and CHLD. Few, as each registration copies those before it; the rest gets [`on_signal`].
const REGISTERED: [Signal; 9] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::CHLD,
    Signal::CONT,
    Signal::TSTP,
    Signal::WINCH,
];

/// Signals of faults: a handler that returns would be called again for ever.
const FAULTS: [c_int; 6] = [
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
/// The number of backoff's own process.
static OWN: AtomicU32 = AtomicU32::new(0);
/// Signals that came to a child that shares this memory, by bit.
static CHILD_RECEIVED: AtomicU64 = AtomicU64::new(0);

/// The number of a signal, 1 if the kernel sent it by itself, and its sender.
type Record = [[u8; size_of::<i32>()]; 3];
/// Records read at once.
const BATCH: usize = 64;

/// The signals of this process, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    records: OwnedFd,
    caller_mask: SigSet,
    children_ignored: bool,
    queue: VecDeque<Received>,
}

impl Signals {
    /// Blocks all signals and sets handlers.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let (records, write) = pipe()?;
        set_nonblocking(&records)?;
        set_nonblocking(&write)?;
        RECORDS
            .set(write)
            .map_err(|_| io::Error::other("they are received already"))?;
        OWN.store(std::process::id(), Ordering::Relaxed);
        let children_ignored = is_ignored(Signal::CHLD);
        set_handlers()?;
        Ok(Signals {
            records,
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
        let _ = SigSet::empty().thread_set_mask();
        let has_polled = !is_lost() && poll();
        let _ = SigSet::all().thread_set_mask();
        has_polled && !is_lost()
    }

    /// The mask that the command is to start with.
    pub(crate) fn caller_mask(&self) -> &SigSet {
        &self.caller_mask
    }

    /// Returns true if the command is to start with SIGCHLD ignored.
    pub(crate) fn children_ignored(&self) -> bool {
        self.children_ignored
    }

    /// Takes in all signals that have come, without blocking. A lost record may be about the end of the command.
    pub(crate) fn receive(&mut self) {
        self.let_in(|| true);
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
                Err(_) => return self.queue.push_back(Received::new(Signal::CHLD, true)),
            }
        }
    }

    /// Drops all signals that have come.
    pub(crate) fn discard(&mut self) {
        self.receive();
        self.queue.clear();
    }

    /// Returns true if a signal was taken in that [`Signals::take`] has not returned.
    pub(crate) fn has_taken_in(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Returns the next signal that was taken in.
    pub(crate) fn take(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Lets a signal that waits for this process have its default effect, unless it is ignored: the process stops.
    pub(crate) fn deliver(&self, signal: Signal) {
        if is_ignored(signal) {
            return;
        }
        let handler = set_default(signal);
        self.let_in(|| true);
        let _ = handler.and_then(|handler| exchange(signal, Some(&handler)));
    }

    /// Returns true if a signal has come and was not taken.
    pub(crate) fn has(&mut self, signal: Signal) -> bool {
        self.receive();
        self.queue.iter().any(|received| received.signal == signal)
    }
}

/// Sets a handler for each signal. One that the caller ignores stays ignored, except CHLD: the kernel would discard the status
/// of the attempt.
fn set_handlers() -> io::Result<()> {
    let mut registered = Vec::with_capacity(REGISTERED.len());
    for signal in Signal::all().filter(|signal| !FAULTS.contains(&signal.number())) {
        if !REGISTERED.contains(&signal) {
            // KILL, STOP and the C library's own cannot have one.
            if let Ok(before) = exchange(signal, Some(&action(on_signal as *const () as usize)))
                && before.sa_sigaction == libc::SIG_IGN
            {
                exchange(signal, Some(&before))?;
            }
        } else if signal == Signal::CHLD || !is_ignored(signal) {
            // SAFETY: the function may be called at any time.
            unsafe { register_sigaction(signal.number(), record) }?;
            registered.push(signal);
        }
    }
    // The registry leaves the mask empty: handlers of several pending signals would interrupt each other, and write their
    // records in reverse order.
    let filled = action(exchange(Signal::CHLD, None)?.sa_sigaction);
    for signal in registered {
        exchange(signal, Some(&filled))?;
    }
    Ok(())
}

/// Returns an action with all signals blocked while a handler runs.
fn action(handler: libc::sighandler_t) -> sigaction {
    // SAFETY: sigaction is plain data, for which zeroes are valid; its set is filled.
    unsafe {
        let mut action: sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        action
    }
}

/// Returns the action of a signal, and sets another one if it is given. Not by `nix`, which cannot name all real-time signals.
/// Async-signal-safe.
fn exchange(signal: Signal, new: Option<&sigaction>) -> nix::Result<sigaction> {
    // SAFETY: as above. What is set is the default, SIG_IGN, a handler of this kind, or what was set before.
    unsafe {
        let mut old: sigaction = std::mem::zeroed();
        let new = new.map_or(ptr::null(), ptr::from_ref);
        Errno::result(libc::sigaction(signal.number(), new, &raw mut old)).map(|_| old)
    }
}

fn is_ignored(signal: Signal) -> bool {
    exchange(signal, None).is_ok_and(|action| action.sa_sigaction == libc::SIG_IGN)
}

/// Sets the default action, and returns the one before. Async-signal-safe.
pub(crate) fn set_default(signal: Signal) -> nix::Result<sigaction> {
    exchange(signal, Some(&action(libc::SIG_DFL)))
}

/// Prepares a child for letting signals in before it executes the command, which resets handlers. If the child shares this
/// process's memory, handlers keep what comes for [`received_by_child`], so that no stop holds up the parent, and no core of both is
/// dumped. TERM has its default effect at once: the parent may have been killed. Async-signal-safe.
pub(crate) fn prepare_child(ignore_children: bool) {
    let reset = |signal: &Signal| !native::CHILD_SHARES_MEMORY || *signal == Signal::TERM;
    for signal in Signal::all().filter(reset).filter(|signal| !is_ignored(*signal)) {
        let _ = set_default(signal);
    }
    if ignore_children {
        let _ = exchange(Signal::CHLD, Some(&action(libc::SIG_IGN)));
    }
}

/// Returns the signals that came to the child which shared this process's memory. They are to be sent to it once more.
pub(crate) fn received_by_child() -> impl Iterator<Item = Signal> {
    let received = CHILD_RECEIVED.swap(0, Ordering::Relaxed);
    Signal::all().filter(move |signal| received & bit(signal.number()) != 0)
}

fn bit(number: c_int) -> u64 {
    1_u64.rotate_left(number.cast_unsigned())
}

/// The handler of signals that are not registered.
extern "C" fn on_signal(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel gives a handler of this kind a record of the signal.
    record(unsafe { &*info });
    Errno::set_raw(errno);
}

/// Writes down a signal. Async-signal-safe.
fn record(info: &siginfo_t) {
    if std::process::id() != OWN.load(Ordering::Relaxed) {
        CHILD_RECEIVED.fetch_or(bit(info.si_signo), Ordering::Relaxed);
        return;
    }
    // SAFETY: a number, which every signal of a process has there; of other signals it is not used.
    let sender = unsafe { info.si_pid() };
    let from_kernel = native::is_from_kernel(info.si_code, sender);
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
