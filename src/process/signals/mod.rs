//! Signals: receiving and sending.
//!
//! All signals are blocked except while backoff polls. A handler writes each signal as one record to a pipe, which the
//! event loop polls. So no signal interrupts another system call, signals are handled in order of arrival, and CONT
//! revokes a pending stop.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc::{self, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, c_int, c_void, sigaction, siginfo_t};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::unistd::{read, write};
use signal_hook_registry::register_sigaction;

use crate::policy::signal::Signal;
use crate::process::sys::fd::{pipe, set_nonblocking};
use crate::run::uninterrupted;

/// The receiver of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(libc::pid_t),
    Group(libc::pid_t),
    OwnProcess,
    OwnGroup,
}

/// Sends a signal. Ignores errors: the receiver may be gone.
pub(crate) fn send(target: Target, signal: Signal) {
    let number = match target {
        Target::Process(pid) => pid,
        Target::Group(group) => -group,
        Target::OwnProcess => std::process::id().cast_signed(),
        Target::OwnGroup => 0,
    };
    // SAFETY: kill takes two numbers. `nix` cannot name all real-time signals.
    unsafe { libc::kill(number, signal.number()) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) signal: Signal,
    pub(crate) class: SignalClass,
    /// The terminal sent the signal to every process of its foreground group.
    pub(crate) by_terminal: bool,
}

/// The purpose of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalClass {
    /// Asks a program to end: TERM, INT, HUP, QUIT, and ALRM of a timer that the caller set before it executed backoff,
    /// which would have ended the command.
    End,
    /// Stops a job: TSTP, TTIN and TTOU.
    StopJob,
    /// Continues a job: CONT.
    Continue,
    /// Reports that a child has changed state: CHLD.
    Child,
    /// Informs the command: any other signal.
    Inform,
}

impl Received {
    /// Classifies a signal. `from_kernel`: the kernel sent it by itself (the terminal, a timer), not a process.
    pub(crate) fn new(signal: Signal, from_kernel: bool) -> Received {
        let class = match signal {
            Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => SignalClass::End,
            Signal::ALRM if from_kernel => SignalClass::End,
            Signal::CONT => SignalClass::Continue,
            Signal::CHLD => SignalClass::Child,
            signal if signal.stops_a_job() => SignalClass::StopJob,
            _ => SignalClass::Inform,
        };
        let of_terminal = [Signal::INT, Signal::QUIT, Signal::HUP, Signal::CONT, Signal::WINCH];
        Received {
            signal,
            class,
            by_terminal: from_kernel && (signal.stops_a_job() || of_terminal.contains(&signal)),
        }
    }
}

/// Signals that are received through the registry of signal-hook: those that decide when a run ends. The list is short,
/// as each registration copies the earlier ones; other signals get [`on_signal`].
const REGISTERED: [Signal; 5] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::CHLD];

/// The writing end of the pipe, and backoff's process number.
static RECORDS: OnceLock<(OwnedFd, u32)> = OnceLock::new();
/// Set if a record could not be written because the pipe was full.
static IS_LOST: AtomicBool = AtomicBool::new(false);
/// Signals received by a child that shares this memory, as bits.
static CHILD_RECEIVED: AtomicU64 = AtomicU64::new(0);

/// Signal number, 1 if the kernel sent the signal by itself, and sender.
type Record = [[u8; size_of::<i32>()]; 3];

/// The signals of this process, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The pipe, readable once a signal has come.
    pub(crate) records: OwnedFd,
    /// The signal mask that the command starts with.
    pub(crate) caller_mask: SigSet,
    /// The command starts with SIGCHLD ignored.
    pub(crate) children_ignored: bool,
    /// Received signals in order of arrival.
    pub(crate) queue: VecDeque<Received>,
}

impl Signals {
    /// Blocks all signals and sets handlers.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let (records, write) = pipe()?;
        set_nonblocking(&records)?;
        set_nonblocking(&write)?;
        RECORDS.get_or_init(|| (write, std::process::id()));
        let children_ignored = is_ignored(Signal::CHLD);
        set_handlers()?;
        Ok(Signals {
            records,
            caller_mask,
            children_ignored,
            queue: VecDeque::new(),
        })
    }

    /// Unblocks signals during `poll`. Returns false if `poll` does, or if a record was lost, so that polling does not
    /// show every signal.
    pub(crate) fn unblocked(&self, poll: impl FnOnce() -> bool) -> bool {
        let is_lost = || IS_LOST.load(Ordering::Relaxed);
        let _ = SigSet::empty().thread_set_mask();
        let has_polled = !is_lost() && poll();
        let _ = SigSet::all().thread_set_mask();
        has_polled && !is_lost()
    }

    /// Runs the handlers of pending signals.
    fn handle_pending(&self) {
        self.unblocked(|| true);
    }

    /// Receives all pending signals without blocking. A lost record counts as CHLD, as it may have been about the end
    /// of the command.
    pub(crate) fn receive(&mut self) {
        self.handle_pending();
        let mut record = Record::default();
        let end = loop {
            match read(&self.records, record.as_flattened_mut()) {
                Ok(_) => self.queue.extend(received(record)),
                Err(errno) => break errno,
            }
        };
        if IS_LOST.swap(false, Ordering::Relaxed) || end != Errno::EAGAIN {
            let from_kernel = true;
            self.queue.push_back(Received::new(Signal::CHLD, from_kernel));
        }
    }

    /// Gives a pending signal its default action (stopping the process), unless the signal is ignored.
    pub(crate) fn deliver(&self, signal: Signal) {
        if is_ignored(signal) {
            return;
        }
        let handler = set_default(signal);
        self.handle_pending();
        let _ = handler.and_then(|handler| replace_action(signal, Some(&handler)));
    }

    /// Receives pending signals. Returns true if this signal is among those that are not handled yet.
    pub(crate) fn is_queued(&mut self, signal: Signal) -> bool {
        self.receive();
        self.queue.iter().any(|received| received.signal == signal)
    }
}

/// Sets a handler for each signal, except faults, which would repeat forever after a handler returned. A signal that the
/// caller ignores stays ignored, except CHLD: the kernel would discard the attempt's exit status.
fn set_handlers() -> io::Result<()> {
    const FAULTS: [c_int; 6] = [SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP, SIGSYS];
    let plain = action(on_signal as *const () as usize);
    for signal in Signal::all().filter(|signal| !FAULTS.contains(&signal.number())) {
        if !REGISTERED.contains(&signal) {
            match replace_action(signal, Some(&plain)) {
                Ok(before) if before.sa_sigaction == libc::SIG_IGN => replace_action(signal, Some(&before))?,
                // KILL, STOP and signals of the C library cannot have a handler.
                Err(Errno::EINVAL) => continue,
                replaced => replaced?,
            };
        } else if signal == Signal::CHLD || !is_ignored(signal) {
            // SAFETY: `record` is async-signal-safe.
            unsafe { register_sigaction(signal.number(), record) }?;
            // The registry leaves the mask empty: handlers of several pending signals would interrupt each other and
            // write their records in reverse order.
            let registered = replace_action(signal, None)?;
            replace_action(signal, Some(&action(registered.sa_sigaction)))?;
        }
    }
    Ok(())
}

/// Returns an action that blocks all signals while its handler runs.
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

/// Returns the action of a signal, after replacing it if `new` is given. `nix` cannot name all real-time signals.
/// Async-signal-safe.
fn replace_action(signal: Signal, new: Option<&sigaction>) -> nix::Result<sigaction> {
    // SAFETY: sigaction is plain data, for which zeroes are valid. The new action is the default, SIG_IGN, a handler of
    // this type, or an earlier action.
    unsafe {
        let mut old: sigaction = std::mem::zeroed();
        let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
        Errno::result(libc::sigaction(signal.number(), new, &raw mut old)).map(|_| old)
    }
}

fn is_ignored(signal: Signal) -> bool {
    replace_action(signal, None).is_ok_and(|action| action.sa_sigaction == libc::SIG_IGN)
}

/// Sets the default action. Returns the previous action. Async-signal-safe.
pub(crate) fn set_default(signal: Signal) -> nix::Result<sigaction> {
    replace_action(signal, Some(&action(libc::SIG_DFL)))
}

/// Prepares a child for unblocking signals before exec, which resets handlers. If the child shares this process's
/// memory, handlers record signals for [`received_by_child`], so that a stop cannot suspend the parent, and no core of
/// both is dumped. TERM gets its default action at once: the parent may have been killed. Async-signal-safe.
pub(crate) fn prepare_child(ignore_children: bool) {
    let reset = |signal: &Signal| cfg!(portable) || *signal == Signal::TERM;
    for signal in Signal::all().filter(reset).filter(|signal| !is_ignored(*signal)) {
        let _ = set_default(signal);
    }
    if ignore_children {
        let _ = replace_action(Signal::CHLD, Some(&action(libc::SIG_IGN)));
    }
}

/// Returns signals received by the child that shared this process's memory; they are to be sent to the child again.
pub(crate) fn received_by_child() -> impl Iterator<Item = Signal> {
    let received = CHILD_RECEIVED.swap(0, Ordering::Relaxed);
    Signal::all().filter(move |signal| received & 1_u64.rotate_left(signal.number().cast_unsigned()) != 0)
}

/// Handles signals that are not in [`REGISTERED`].
extern "C" fn on_signal(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel passes a SA_SIGINFO handler a valid siginfo_t.
    record(unsafe { &*info });
    Errno::set_raw(errno);
}

/// Records a signal. Async-signal-safe.
fn record(info: &siginfo_t) {
    let Some((records, own)) = RECORDS.get() else { return };
    if std::process::id() != *own {
        CHILD_RECEIVED.fetch_or(1_u64.rotate_left(info.si_signo.cast_unsigned()), Ordering::Relaxed);
        return;
    }
    // SAFETY: the union is plain data. A signal of a process has its sender there; for other signals the number is not
    // used.
    let sender = unsafe { info.si_pid() };
    // On Linux the sender does not tell: 0 may be a process outside this PID namespace.
    const SI_KERNEL: i32 = 0x80;
    let from_kernel = info.si_code == SI_KERNEL || cfg!(portable) && sender == 0;
    let record = [info.si_signo, from_kernel.into(), sender].map(i32::to_ne_bytes);
    let written = uninterrupted(|| write(records, record.as_flattened()));
    IS_LOST.fetch_or(written.is_err(), Ordering::Relaxed);
}

/// Reads a record. Returns None if the signal does not concern the command.
fn received(record: Record) -> Option<Received> {
    let [number, from_kernel, sender] = record.map(i32::from_ne_bytes);
    let signal = Signal::from_number(number)?;
    // PIPE and XFSZ of backoff's own failed write are handled by the writer and mean nothing to the command. Some
    // systems name no sender.
    let is_own = sender == 0 || sender == std::process::id().cast_signed();
    (!is_own || !matches!(signal, Signal::PIPE | Signal::XFSZ)).then(|| Received::new(signal, from_kernel == 1))
}

#[cfg(test)]
mod tests;
