//! What a signal does to this process. Everything here is async-signal-safe.

use std::ptr;

use nix::errno::Errno;
use nix::libc::{self, c_void, sigaction, siginfo_t};

use crate::policy::signal::Signal;

/// A function that may be called at any time.
pub(crate) type Handler = extern "C" fn(i32, *mut siginfo_t, *mut c_void);

/// Returns true if a signal is ignored. Signals that were ignored when backoff started stay so, except CHLD.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    exchange(signal, None).is_ok_and(|action| action.sa_sigaction == libc::SIG_IGN)
}

pub(crate) fn set_default(signal: Signal) {
    let _ = set(signal, libc::SIG_DFL);
}

pub(crate) fn ignore(signal: Signal) {
    let _ = set(signal, libc::SIG_IGN);
}

/// Calls `handler` from now on, with all signals blocked.
pub(crate) fn handle(signal: Signal, handler: Handler) -> nix::Result<()> {
    set(signal, handler as *const () as libc::sighandler_t).map(drop)
}

/// Has all signals blocked while the handler of this one runs. Otherwise handlers of several pending signals interrupt each
/// other, and write their records in reverse order.
pub(super) fn fill_mask(signal: Signal) -> nix::Result<()> {
    let mut action = exchange(signal, None)?;
    // SAFETY: the set is initialized, and stays so.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    exchange(signal, Some(&action)).map(drop)
}

fn set(signal: Signal, handler: libc::sighandler_t) -> nix::Result<sigaction> {
    // SAFETY: sigaction is plain data, for which zeroes are valid; its set is filled.
    let action = unsafe {
        let mut action: sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        action
    };
    exchange(signal, Some(&action))
}

/// Returns what a signal did; and sets what it does, if that is given. Not by `nix`, which cannot name all real-time signals.
pub(super) fn exchange(signal: Signal, new: Option<&sigaction>) -> nix::Result<sigaction> {
    // SAFETY: as above. What is set is the default, SIG_IGN, a `Handler`, or what was set before.
    unsafe {
        let mut old: sigaction = std::mem::zeroed();
        let new = new.map_or(ptr::null(), ptr::from_ref);
        Errno::result(libc::sigaction(signal.number(), new, &raw mut old)).map(|_| old)
    }
}
