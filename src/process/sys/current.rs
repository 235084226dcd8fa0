//! This process: ending it, and the signals that it sends.

use nix::libc;

use crate::policy::signal::Signal;

/// Who gets a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(libc::pid_t),
    Group(libc::pid_t),
    /// backoff's own process.
    Own,
    /// backoff's own process group.
    OwnGroup,
}

/// Sends a signal; whether there was anybody to get it.
pub(crate) fn send(target: Target, signal: Signal) -> bool {
    let number = match target {
        Target::Process(pid) => pid,
        Target::Group(group) => -group,
        Target::Own => std::process::id() as libc::pid_t,
        Target::OwnGroup => 0,
    };
    // SAFETY: kill takes two numbers. Not `nix` or `rustix`, which cannot name all real-time signals.
    unsafe { libc::kill(number, signal.number()) == 0 }
}

/// Ends the process now: nothing that runs at exit, no destructors. Async-signal-safe.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: _exit never returns and touches no memory.
    unsafe { libc::_exit(status) }
}
