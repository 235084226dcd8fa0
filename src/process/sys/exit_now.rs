//! The end of a process at once: of a forked child, in which nothing that belongs to backoff may be tidied up, or after
//! a panic.

use nix::libc;

/// Ends the process at once, without exit handlers and destructors. Async-signal-safe.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: _exit never returns and touches no memory.
    unsafe { libc::_exit(status) }
}
