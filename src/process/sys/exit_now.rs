//! Exits at once, in a forked child where nothing of backoff may be cleaned up, or after a panic.

use nix::libc;

/// Exits without exit handlers and destructors. Async-signal-safe.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: _exit never returns and touches no memory.
    unsafe { libc::_exit(status) }
}
