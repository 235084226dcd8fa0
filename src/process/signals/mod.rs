//! Signals: receiving and sending. The module says which signals came, and from whom; `event_loop/on_signal.rs` decides
//! what to do about them.
//!
//! All signals are blocked except while backoff polls. A handler writes each signal as one record to a pipe, which the
//! event loop polls. So no signal interrupts another system call, signals are handled in order of arrival, and CONT
//! revokes a pending stop.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::libc::{
    self, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, c_int, c_void, sigaction, siginfo_t,
};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::unistd::{read, write};
use signal_hook_registry::register_sigaction;

use crate::policy::signal::Signal;
use crate::process::sys::fd::{pipe, set_nonblocking};
use crate::process::sys::origin::Origin;
use crate::process::sys::system::is_from_kernel;
use crate::process::sys::tty::origin_of;
use crate::run::uninterrupted;

/// The receiver of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(libc::pid_t),
    Group(libc::pid_t),
    OwnProcess,
    OwnGroup,
}

/// Sends a signal. Returns ESRCH if the receiver is gone, and EPERM if this user may not signal it.
pub(crate) fn send(target: Target, signal: Signal) -> nix::Result<()> {
    kill(target, signal.number())
}

/// Returns true if this user may not signal the process (a set-user-ID program, a command of `sudo`). Sends nothing.
pub(crate) fn is_protected(pid: libc::pid_t) -> bool {
    kill(Target::Process(pid), 0) == Err(Errno::EPERM)
}

/// Returns true if the process group has a member, which may be a zombie.
pub(crate) fn has_members(group: libc::pid_t) -> bool {
    kill(Target::Group(group), 0) != Err(Errno::ESRCH)
}

/// Calls `kill(2)`, which takes a negative number for a group and 0 for the caller's own group. Signal 0 only checks
/// whether the receiver exists and may be signalled.
fn kill(target: Target, signal: c_int) -> nix::Result<()> {
    let number = match target {
        Target::Process(pid) => pid,
        Target::Group(group) => -group,
        Target::OwnProcess => std::process::id().cast_signed(),
        Target::OwnGroup => 0,
    };
    // SAFETY: kill takes two numbers. `nix` cannot name all real-time signals.
    Errno::result(unsafe { libc::kill(number, signal) }).map(drop)
}

/// A signal that came, with what decides the response to it.
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
    /// Classifies a signal by its number and sender. The kernel sends ALRM only for a timer.
    pub(crate) fn new(signal: Signal, origin: Origin) -> Received {
        let class = match signal {
            Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => SignalClass::End,
            Signal::ALRM if origin == Origin::Kernel => SignalClass::End,
            Signal::CONT => SignalClass::Continue,
            Signal::CHLD => SignalClass::Child,
            signal if signal.stops_a_job() => SignalClass::StopJob,
            _ => SignalClass::Inform,
        };
        Received {
            signal,
            class,
            by_terminal: origin == Origin::Terminal,
        }
    }
}

/// Signals that are received through the registry of signal-hook, a handler tested by many programs: those that decide
/// when a run ends. The list is short, as each registration copies the earlier ones; other signals get
/// [`plain_handler`], which records them likewise.
const REGISTERED: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// The writing end of the pipe of records, for the handlers, which can reach nothing but statics.
static RECORDS: OnceLock<OwnedFd> = OnceLock::new();
/// Set if a record could not be written because the pipe was full.
static HAS_LOST_RECORD: AtomicBool = AtomicBool::new(false);

/// Returns true if a record was lost since the flag was reset.
fn has_lost_record() -> bool {
    HAS_LOST_RECORD.load(Ordering::Relaxed)
}

/// Lowest number of a real-time signal, on all systems.
const FIRST_REAL_TIME: c_int = 32;

/// Records that are read by one call.
const RECORDS_AT_ONCE: usize = 16;

/// Signal number, 1 if the kernel sent the signal by itself, and sender.
type Record = [[u8; size_of::<i32>()]; 3];

/// The signals of this process, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The pipe, readable once a signal has come.
    pub(crate) records: OwnedFd,
    /// The caller's signal mask, which the command gets.
    caller_mask: SigSet,
    /// Signals that backoff handles and that had their default action when it started, without real-time signals.
    reset_in_child: Vec<Signal>,
    /// The caller ignores CHLD, so the command has to ignore it, too.
    ignores_chld: bool,
    /// Received signals in order of arrival.
    pub(crate) queue: VecDeque<Received>,
}

impl Signals {
    /// Blocks all signals, then sets handlers that write to a new pipe, and remembers what the command has to get back:
    /// the caller's mask and dispositions. Called once, before any child is made. From then on signals are received only
    /// by [`Signals::unblocked`].
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let (records, write) = pipe()?;
        set_nonblocking(&records)?;
        set_nonblocking(&write)?;
        RECORDS.get_or_init(|| write);
        // Before CHLD gets a handler.
        let ignores_chld = is_ignored(Signal::CHLD);
        let mut reset_in_child = set_handlers()?;
        // exec resets real-time signals: see `restore_in_child`.
        reset_in_child.retain(|signal| signal.number() < FIRST_REAL_TIME);
        Ok(Signals {
            records,
            caller_mask,
            reset_in_child,
            ignores_chld,
            queue: VecDeque::new(),
        })
    }

    /// Unblocks all signals, so that their handlers run and end the sleep in `poll`, and blocks them again. Returns false
    /// if `poll` does, or if a record was lost: the pipe does not show every signal then, so the caller must not rely on
    /// it. `poll` is not called, and cannot sleep, if a record is already lost.
    pub(crate) fn unblocked(&self, poll: impl FnOnce() -> bool) -> bool {
        // Handlers of pending signals run here.
        let _ = SigSet::empty().thread_set_mask();
        let has_polled = !has_lost_record() && poll();
        let _ = SigSet::all().thread_set_mask();
        has_polled && !has_lost_record()
    }

    /// Runs the handlers of pending signals.
    fn handle_pending(&self) {
        self.unblocked(|| true);
    }

    /// Moves all pending signals to the queue, without blocking.
    pub(crate) fn receive(&mut self) {
        self.handle_pending();
        self.read_records();
    }

    /// Moves the signals to the queue whose handlers have run, without blocking. If a record was lost or cannot be read, a
    /// CHLD is queued in its place: without a look at the children, backoff could wait for ever for one that has ended.
    pub(crate) fn read_records(&mut self) {
        let mut records = [Record::default(); RECORDS_AT_ONCE];
        let has_read_all = loop {
            match read(&self.records, records.as_flattened_mut().as_flattened_mut()) {
                Ok(size) => {
                    let count = size / size_of::<Record>();
                    self.queue
                        .extend(records[..count].iter().copied().filter_map(decode));
                    // Less than asked for: the pipe is empty.
                    if count < RECORDS_AT_ONCE {
                        break true;
                    }
                }
                // EAGAIN reports an empty pipe.
                Err(errno) => break errno == Errno::EAGAIN,
            }
        };
        if has_lost_record() || !has_read_all {
            HAS_LOST_RECORD.store(false, Ordering::Relaxed);
            self.queue
                .push_back(Received::new(Signal::CHLD, Origin::Kernel));
        }
    }

    /// Receives signals that came before a child was made. None of them has reached the child, so those of the terminal
    /// count as sent to backoff alone, which makes the event loop forward them. Called right after the fork.
    pub(crate) fn receive_before_child(&mut self) {
        self.receive();
        for received in &mut self.queue {
            received.by_terminal = false;
        }
    }

    /// Lets a pending signal stop backoff by its default action, as a handler could not, and sets the handler again once
    /// backoff is continued. Does nothing if the caller ignores the signal.
    pub(crate) fn deliver(&self, signal: Signal) {
        if is_ignored(signal) {
            return;
        }
        let handler = set_default(signal);
        // backoff stops here, until CONT.
        self.handle_pending();
        let _ = handler.and_then(|handler| change_action(signal, Some(&handler)));
    }

    /// Receives pending signals. Returns true if this signal is among those that are not handled yet.
    pub(crate) fn is_queued(&mut self, signal: Signal) -> bool {
        self.receive();
        self.queue.iter().any(|received| received.signal == signal)
    }

    /// Called in a new child: gives it the caller's dispositions and mask, so that until exec it acts on signals as the
    /// bare command would. exec resets handlers anyway: those of real-time signals, half of all, stay until then to save
    /// the calls, and record such a signal in backoff's pipe, so that backoff forwards it. `also_default` (the signal of
    /// a limit) gets its default action even if the caller ignores it. Async-signal-safe.
    pub(crate) fn restore_in_child(&self, also_default: Option<Signal>) {
        for signal in self.reset_in_child.iter().copied().chain(also_default) {
            let _ = set_default(signal);
        }
        if self.ignores_chld {
            let _ = change_action(Signal::CHLD, Some(&new_action(libc::SIG_IGN)));
        }
        let _ = self.caller_mask.thread_set_mask();
    }
}

/// Sets a handler for each signal, except faults, which would repeat forever after a handler returned. A signal that
/// the caller ignores stays ignored, as under `nohup`, except CHLD: the kernel would discard the attempt's exit status.
/// Returns the signals that have a handler now.
fn set_handlers() -> io::Result<Vec<Signal>> {
    const FAULTS: [c_int; 6] = [SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP, SIGSYS];
    let mut handled = Vec::with_capacity(64);
    for signal in Signal::all().filter(|signal| !FAULTS.contains(&signal.number())) {
        let is_set = if !REGISTERED.contains(&signal) {
            set_plain_handler(signal)?
        } else if is_ignored(signal) {
            false
        } else {
            register_handler(signal)?;
            true
        };
        if is_set {
            handled.push(signal);
        }
    }
    Ok(handled)
}

/// Sets [`plain_handler`] and returns true. Returns false, and leaves the signal as it was, if the caller ignores it
/// (except CHLD) or if no handler can be set.
fn set_plain_handler(signal: Signal) -> nix::Result<bool> {
    let handler = new_action(plain_handler as *const () as usize);
    match change_action(signal, Some(&handler)) {
        // Undone afterwards, as checking first would cost a call for each signal.
        Ok(before) if before.sa_sigaction == libc::SIG_IGN && signal != Signal::CHLD => {
            change_action(signal, Some(&before))?;
            Ok(false)
        }
        Ok(_) => Ok(true),
        // KILL, STOP and signals of the C library.
        Err(Errno::EINVAL) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Sets [`record`] as the handler, through the registry of signal-hook.
fn register_handler(signal: Signal) -> io::Result<()> {
    // SAFETY: `record` is async-signal-safe.
    unsafe { register_sigaction(signal.number(), record) }?;
    // The registry leaves the mask empty: handlers of several pending signals would interrupt each other and write
    // their records in reverse order.
    let registered = change_action(signal, None)?;
    change_action(signal, Some(&new_action(registered.sa_sigaction)))?;
    Ok(())
}

/// Returns an action that blocks all signals while its handler runs.
fn new_action(handler: libc::sighandler_t) -> sigaction {
    // SAFETY: sigaction is plain data, for which zeroes are valid; its set is filled.
    unsafe {
        let mut action: sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        action
    }
}

/// Returns the action that a signal had, and replaces it if `new` is given. Calls `sigaction(2)` itself, as `nix` cannot
/// name all real-time signals. Async-signal-safe.
fn change_action(signal: Signal, new: Option<&sigaction>) -> nix::Result<sigaction> {
    // SAFETY: sigaction is plain data, for which zeroes are valid. The new action is the default, SIG_IGN, a
    // SA_SIGINFO handler, or an earlier action.
    unsafe {
        let mut old: sigaction = std::mem::zeroed();
        let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
        Errno::result(libc::sigaction(signal.number(), new, &raw mut old))?;
        Ok(old)
    }
}

pub(crate) fn is_ignored(signal: Signal) -> bool {
    change_action(signal, None).is_ok_and(|action| action.sa_sigaction == libc::SIG_IGN)
}

/// Sets the default action. Returns the previous action. Async-signal-safe.
pub(crate) fn set_default(signal: Signal) -> nix::Result<sigaction> {
    change_action(signal, Some(&new_action(libc::SIG_DFL)))
}

/// Handles signals that are not in [`REGISTERED`]: records them, and leaves errno as the interrupted code knows it.
extern "C" fn plain_handler(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel passes a SA_SIGINFO handler a valid siginfo_t.
    record(unsafe { &*info });
    Errno::set_raw(errno);
}

/// Writes a record of a signal to the pipe, from which [`Signals::read_records`] reads it: number, origin and sender. If
/// the pipe is full, only notes that a record was lost. Async-signal-safe, but may change errno.
fn record(info: &siginfo_t) {
    let Some(records) = RECORDS.get() else {
        return;
    };
    // SAFETY: the union is plain data. The sender is a process, or 0 for the terminal and timers. Other signals may
    // have another field there, which has no effect.
    let sender = unsafe { info.si_pid() };
    let from_kernel = is_from_kernel(info, sender);
    let record = [info.si_signo, from_kernel.into(), sender].map(i32::to_ne_bytes);
    if uninterrupted(|| write(records, record.as_flattened())).is_err() {
        HAS_LOST_RECORD.store(true, Ordering::Relaxed);
    }
}

/// Converts a record of [`record`]. Returns None for a PIPE or XFSZ by which a write of backoff's own failed, as the
/// writer handles that error, and for an unknown number.
fn decode(record: Record) -> Option<Received> {
    let [number, from_kernel, sender] = record.map(i32::from_ne_bytes);
    let signal = Signal::from_number(number)?;
    let from_kernel = from_kernel == 1;
    if is_caused_by_own_write(signal, from_kernel, sender) {
        return None;
    }
    Some(Received::new(
        signal,
        origin_of(signal, from_kernel, sender),
    ))
}

/// Returns true if a write of backoff to a pipe without a reader (PIPE) or beyond the file size limit (XFSZ) caused the
/// signal: then the kernel names this process as the sender, or, on some systems, none.
fn is_caused_by_own_write(signal: Signal, from_kernel: bool, sender: libc::pid_t) -> bool {
    if !matches!(signal, Signal::PIPE | Signal::XFSZ) {
        return false;
    }
    from_kernel || sender == 0 || sender == std::process::id().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_is_of_one_class() {
        let by_process = |signal| Received::new(signal, Origin::Process);
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
            assert_eq!(by_process(signal).class, SignalClass::End);
        }
        for signal in [Signal::TSTP, Signal::TTIN, Signal::TTOU] {
            assert_eq!(by_process(signal).class, SignalClass::StopJob);
        }
        assert_eq!(by_process(Signal::CONT).class, SignalClass::Continue);
        assert_eq!(by_process(Signal::CHLD).class, SignalClass::Child);
        for signal in [Signal::WINCH, Signal::PIPE, Signal::ALRM] {
            assert_eq!(by_process(signal).class, SignalClass::Inform);
        }
        let of_timer = Received::new(Signal::ALRM, Origin::Kernel);
        assert_eq!(of_timer.class, SignalClass::End);
    }

    #[test]
    fn a_signal_of_a_failed_write_is_left_to_the_writer() {
        let own = std::process::id().cast_signed();
        for signal in [Signal::PIPE, Signal::XFSZ] {
            assert!(is_caused_by_own_write(signal, false, own));
            assert!(is_caused_by_own_write(signal, true, 0));
            // A record that is about a child, too.
            assert!(is_caused_by_own_write(signal, true, own + 1));
            assert!(!is_caused_by_own_write(signal, false, own + 1));
        }
        assert!(!is_caused_by_own_write(Signal::TERM, true, own));
    }
}
