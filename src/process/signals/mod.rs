//! Signals: receiving and sending.
//!
//! All signals are blocked, and let in only while backoff polls. A handler writes each as one record to one pipe, which the
//! event loop polls. So no signal interrupts any other call, signals are taken in the order in which they came, and a CONT
//! revokes a stop that was not handled yet.

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

/// Sends a signal. The receiver may be gone.
pub(crate) fn send(target: Target, signal: Signal) {
    let number = match target {
        Target::Process(pid) => pid,
        Target::Group(group) => -group,
        Target::OwnProcess => std::process::id().cast_signed(),
        Target::OwnGroup => 0,
    };
    // SAFETY: kill takes two numbers. Not `nix`, which cannot name all real-time signals.
    unsafe { libc::kill(number, signal.number()) };
}
