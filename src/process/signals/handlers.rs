//! The handlers of signals, and the records that they write to a pipe. Handlers run between any two instructions, so
//! they do nothing but write. Also reads and sets the actions of signals.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::libc::{
    self, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, c_int, c_void, sigaction, siginfo_t,
};
use nix::unistd::write;
use signal_hook_registry::register_sigaction;

use super::received::Received;
use crate::policy::signal::Signal;
use crate::process::sys::system::is_from_kernel;
use crate::process::sys::tty::origin_of;
use crate::run::uninterrupted;

/// Signals that are received through the registry of signal-hook, whose handler many programs test: those that decide
/// when a run ends. The list is short, as each registration copies the earlier ones; other signals get
/// [`plain_handler`], which records them likewise.
const REGISTERED: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// The writing end of the pipe of records, for the handlers, which can reach nothing but statics.
pub(super) static RECORDS: OnceLock<OwnedFd> = OnceLock::new();
/// Set once a record was written, until the pipe is read: it saves reads of an empty pipe. Not for CHLD, which the next
/// `poll` shows: it comes with each attempt, and a page that is written costs a page fault while a child shares it.
pub(super) static HAS_RECORD: AtomicBool = AtomicBool::new(false);
/// Set if a record could not be written because the pipe was full.
pub(super) static HAS_LOST_RECORD: AtomicBool = AtomicBool::new(false);

/// Returns true if a record was lost since the flag was reset: the pipe does not show every signal then.
pub(super) fn has_lost_record() -> bool {
    HAS_LOST_RECORD.load(Ordering::Relaxed)
}

/// The record of a signal, as a handler writes it: its number, 1 if the kernel sent it by itself or else 0, and the
/// sender's process number.
pub(super) type Record = [[u8; size_of::<i32>()]; 3];

/// Sets a handler for each signal, except faults, which would repeat forever after a handler returned. A signal that
/// the caller ignores stays ignored, as under `nohup`, except CHLD: the kernel would discard the attempt's exit status.
/// Returns the signals that have a handler now. A child gets their default action back, except that of real-time
/// signals, which exec resets; CHLD is ignored again there if the caller ignores it (`restore_in_child`).
pub(super) fn set_handlers() -> io::Result<Vec<Signal>> {
    const FAULTS: [c_int; 6] = [SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP, SIGSYS];
    let mut handled = Vec::with_capacity(64);
    for signal in Signal::all().filter(|signal| !FAULTS.contains(&signal.number())) {
        let has_handler = if !REGISTERED.contains(&signal) {
            set_plain_handler(signal)?
        } else if is_ignored(signal) {
            false
        } else {
            register_handler(signal)?;
            true
        };
        if has_handler {
            handled.push(signal);
        }
    }
    Ok(handled)
}

/// Sets [`plain_handler`] and returns true. Returns false, and leaves the signal as it was, if the caller ignores it
/// (except CHLD) or if it can have no handler (KILL). Another failure is an error.
fn set_plain_handler(signal: Signal) -> nix::Result<bool> {
    let handler = new_action(plain_handler as *const () as usize);
    match change_action(signal, Some(&handler)) {
        // Set first and undone if ignored, as checking first would cost a call for each signal.
        Ok(before) if before.sa_sigaction == libc::SIG_IGN && signal != Signal::CHLD => {
            change_action(signal, Some(&before))?;
            Ok(false)
        }
        Ok(_) => Ok(true),
        // KILL, STOP and signals that the C library keeps for itself.
        Err(Errno::EINVAL) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Sets [`record`] as the handler, through the registry of signal-hook, and makes it block all signals while it runs.
fn register_handler(signal: Signal) -> io::Result<()> {
    // SAFETY: `record` is async-signal-safe.
    unsafe { register_sigaction(signal.number(), record) }?;
    // The registry leaves the mask empty: handlers of several pending signals would interrupt each other and write
    // their records in reverse order. So the registry's function is set again, with the mask of `new_action`.
    let registered = change_action(signal, None)?;
    change_action(signal, Some(&new_action(registered.sa_sigaction)))?;
    Ok(())
}

/// Returns an action for `sigaction(2)`; `handler` is a function, SIG_DFL or SIG_IGN. A function learns the sender, and
/// all signals are blocked while it runs, so that records keep the order of the signals.
pub(super) fn new_action(handler: libc::sighandler_t) -> sigaction {
    // SAFETY: sigaction is plain data, for which zeroes are valid; its set is filled.
    unsafe {
        let mut action: sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        action
    }
}

/// Returns the action that a signal has had until now, and replaces it by `new`; None leaves it. Calls `sigaction(2)`
/// itself, as `nix` cannot name all real-time signals. EINVAL if the signal can have no other action (KILL).
/// Async-signal-safe. Inline, as each new child sets many actions: code elsewhere would have to be mapped for it.
#[inline]
pub(super) fn change_action(signal: Signal, new: Option<&sigaction>) -> nix::Result<sigaction> {
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
#[inline]
pub(crate) fn set_default(signal: Signal) -> nix::Result<sigaction> {
    change_action(signal, Some(&new_action(libc::SIG_DFL)))
}

/// Handles a signal that is not in [`REGISTERED`]: records it. Restores errno, which the interrupted code may be about
/// to read.
extern "C" fn plain_handler(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel passes a SA_SIGINFO handler a valid siginfo_t.
    record(unsafe { &*info });
    Errno::set_raw(errno);
}

/// Called in a handler: writes a [`Record`] of the signal to the pipe, from which `Signals::read_records` reads it
/// later. If the pipe is full, only notes that a record was lost. Async-signal-safe, but may change errno.
fn record(info: &siginfo_t) {
    // Set before the handlers are.
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
    } else if info.si_signo != libc::SIGCHLD {
        HAS_RECORD.store(true, Ordering::Relaxed);
    }
}

/// Converts what [`record`] has written, and finds out who sent the signal, for which it may look at the terminal.
/// Returns None, so that the signal is dropped, for a PIPE or XFSZ by which a write of backoff's own failed, as the
/// writer handles that error, and for an unknown number.
pub(super) fn decode(record: Record) -> Option<Received> {
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
/// signal: then the kernel names this process as the sender or, on some systems, itself (`from_kernel`). From any other
/// sender it is meant for the command; on Linux also from sender 0, a process outside this PID namespace.
fn is_caused_by_own_write(signal: Signal, from_kernel: bool, sender: libc::pid_t) -> bool {
    if !matches!(signal, Signal::PIPE | Signal::XFSZ) {
        return false;
    }
    from_kernel || sender == std::process::id().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_of_a_failed_write_is_left_to_the_writer() {
        let own = std::process::id().cast_signed();
        for signal in [Signal::PIPE, Signal::XFSZ] {
            assert!(is_caused_by_own_write(signal, false, own));
            assert!(is_caused_by_own_write(signal, true, 0));
            // A record that is about a child, too.
            assert!(is_caused_by_own_write(signal, true, own + 1));
            assert!(!is_caused_by_own_write(signal, false, own + 1));
            assert!(!is_caused_by_own_write(signal, false, 0));
        }
        assert!(!is_caused_by_own_write(Signal::TERM, true, own));
    }
}
