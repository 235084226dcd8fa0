//! What a signal does to this process. Everything here is async-signal-safe.

use nix::libc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disposition {
    Default,
    Ignored,
    Handled,
}

pub(crate) fn disposition(signal: i32) -> Disposition {
    match imp::handler(signal) {
        libc::SIG_DFL => Disposition::Default,
        libc::SIG_IGN => Disposition::Ignored,
        _ => Disposition::Handled,
    }
}

/// Whether a signal is ignored: it was so when backoff started, and stays so.
pub(crate) fn is_ignored(signal: i32) -> bool {
    disposition(signal) == Disposition::Ignored
}

pub(crate) fn set_default(signal: i32) {
    imp::set(signal, libc::SIG_DFL);
}

pub(crate) fn ignore(signal: i32) {
    imp::set(signal, libc::SIG_IGN);
}

/// Calls `handler` from now on, which may do atomic operations and no more.
#[cfg(not(portable))]
pub(crate) fn handle(signal: i32, handler: extern "C" fn(i32)) {
    // SAFETY: a function that may be called at any time.
    unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
}

/// Calls `handler` from now on, with all signals blocked.
#[cfg(portable)]
pub(crate) fn catch(
    signal: i32,
    handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut std::ffi::c_void),
) -> nix::Result<()> {
    // SAFETY: sigaction is plain data, for which zeroes are valid, and its set is filled. The function may be called at any
    // time.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        nix::errno::Errno::result(libc::sigaction(signal, &raw const action, std::ptr::null_mut())).map(drop)
    }
}

/// If the caller ignored SIGCHLD, the kernel would not keep the attempt's status. Sets the default
/// and tells whether the command has to get the ignoring back.
pub(super) fn stop_ignoring_children() -> bool {
    let ignored = is_ignored(libc::SIGCHLD);
    if ignored {
        set_default(libc::SIGCHLD);
    }
    ignored
}

#[cfg(not(portable))]
pub(super) use imp::{restore, set};

/// Past the C library, which denies that the signals it keeps for itself exist.
#[cfg(not(portable))]
mod imp {
    use std::ptr;

    use nix::libc::{self, sighandler_t};

    use crate::process::signals::mask::Mask;

    /// The kernel's record of what a signal does. It begins with the handler; what follows differs from one
    /// architecture to the next, and there is room for the largest. All zeroes but for the handler stand for the
    /// default, or for ignoring.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub(crate) struct Kept([sighandler_t; 8]);

    pub(super) fn handler(signal: i32) -> sighandler_t {
        exchange(signal, None).0[0]
    }

    /// What it does from now on; what it did.
    pub(crate) fn set(signal: i32, handler: sighandler_t) -> Kept {
        let mut new = Kept([0; 8]);
        new.0[0] = handler;
        exchange(signal, Some(new))
    }

    /// It does again what it did.
    pub(crate) fn restore(signal: i32, kept: Kept) {
        exchange(signal, Some(kept));
    }

    /// What a signal did; and if it is to do something else, it does so from now on.
    fn exchange(signal: i32, new: Option<Kept>) -> Kept {
        let mut old = Kept([0; 8]);
        let new = new.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: two records as large as the kernel's, of which the first may be missing. It comes from the kernel, or
        // it has no function in it.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, new, &raw mut old, size_of::<Mask>()) };
        old
    }
}

#[cfg(portable)]
mod imp {
    use nix::libc;

    pub(super) fn handler(signal: i32) -> libc::sighandler_t {
        // SAFETY: sigaction is plain data, for which zeroes are valid; without a new action the call only asks.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            action.sa_sigaction
        }
    }

    pub(super) fn set(signal: i32, handler: libc::sighandler_t) {
        // SAFETY: SIG_DFL or SIG_IGN.
        unsafe { libc::signal(signal, handler) };
    }
}
