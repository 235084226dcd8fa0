//! Signals: receiving and sending.
//!
//! All signals are blocked except while backoff polls. A handler writes each signal as one record to a pipe, which the
//! event loop polls. So no signal interrupts another system call, signals are handled in order of arrival, and CONT
//! revokes a pending stop.

use nix::libc;

use crate::policy::signal::Signal;

pub(crate) mod receive;
pub(crate) mod received;

/// The receiver of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(libc::pid_t),
    Group(libc::pid_t),
    OwnProcess,
    OwnGroup,
}

/// Sends a signal; ignores a receiver that is gone.
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
