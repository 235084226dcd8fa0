//! Signal actions that `nix` cannot query, or cannot for a signal without a name.

use nix::errno::Errno;
use nix::libc::{self, sigaction};

use crate::policy::signal::Signal;

/// Returns SIG_DFL or SIG_IGN as an action for `sigaction(2)`.
fn new_action(action: libc::sighandler_t) -> sigaction {
    // SAFETY: sigaction is plain data, for which zeroes are valid.
    let mut new: sigaction = unsafe { std::mem::zeroed() };
    new.sa_sigaction = action;
    new
}

/// Replaces the action of a signal with `new`, or keeps it if `new` is None. Returns the previous action, or EINVAL if
/// it cannot be changed (SIGKILL). Async-signal-safe.
pub(super) fn change_action(signal: Signal, new: Option<&sigaction>) -> nix::Result<sigaction> {
    // SAFETY: sigaction is plain data, for which zeroes are valid. The new action is SIG_DFL, SIG_IGN or an earlier
    // action.
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

/// Sets the default action, and returns the previous one. Async-signal-safe.
pub(crate) fn set_default(signal: Signal) -> nix::Result<sigaction> {
    change_action(signal, Some(&new_action(libc::SIG_DFL)))
}

/// Async-signal-safe.
pub(super) fn ignore(signal: Signal) {
    let _ = change_action(signal, Some(&new_action(libc::SIG_IGN)));
}
