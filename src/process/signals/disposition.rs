//! What a signal does to this process. Everything here is async-signal-safe.

use nix::libc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    Default,
    Ignored,
    Handled,
}

pub fn disposition(signal: i32) -> Disposition {
    // SAFETY: sigaction is plain data, for which zeroes are valid; without a new action the call only asks.
    let handler = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction
    };
    match handler {
        libc::SIG_DFL => Disposition::Default,
        libc::SIG_IGN => Disposition::Ignored,
        _ => Disposition::Handled,
    }
}

/// Whether a signal is ignored: it was so when backoff started, and stays so.
pub fn is_ignored(signal: i32) -> bool {
    disposition(signal) == Disposition::Ignored
}

pub fn set_default(signal: i32) {
    set(signal, libc::SIG_DFL);
}

pub fn ignore(signal: i32) {
    set(signal, libc::SIG_IGN);
}

/// Calls `handler` from now on, which may do atomic operations and no more.
#[cfg(all(target_os = "linux", not(backoff_portable)))]
pub fn handle(signal: i32, handler: extern "C" fn(i32)) {
    set(signal, handler as *const () as libc::sighandler_t);
}

fn set(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: SIG_DFL, SIG_IGN or a function; the callers above have nothing else.
    unsafe { libc::signal(signal, handler) };
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
