//! Hearing signals without handlers.
//!
//! On Linux every signal is blocked and read from a `signalfd(2)`: dispositions stay the caller's,
//! so the command inherits them without anything having to be restored, and a signal that arrives
//! at any instant waits in the kernel until it is read. Elsewhere `signal-hook` writes to a pipe.

use std::collections::VecDeque;

use nix::libc;

use crate::policy::signal::Signal;

#[cfg(all(target_os = "linux", not(backoff_portable)))]
#[path = "linux.rs"]
mod imp;
#[cfg(any(not(target_os = "linux"), backoff_portable))]
#[path = "portable.rs"]
mod imp;

pub use imp::Signals;

/// A signal that was sent to backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Which one.
    pub signal: Signal,
    /// The kernel sent it by itself (the terminal, a timer), not a process.
    pub from_kernel: bool,
}

impl Received {
    /// Whether it asks a program to end: TERM, INT, HUP and QUIT, and the alarm that a caller set before
    /// it executed backoff, which would have ended the bare command.
    pub fn asks_to_end(self) -> bool {
        self.signal.asks_to_end() || (self.from_kernel && self.signal == Signal::ALRM)
    }

    /// Whether the terminal sent it, to every process of its foreground group.
    pub fn by_terminal(self) -> bool {
        let s = self.signal;
        self.from_kernel
            && (matches!(
                s,
                Signal::INT | Signal::QUIT | Signal::HUP | Signal::WINCH | Signal::CONT
            ) || s.stops_a_job())
    }
}

type Queue = VecDeque<Received>;

/// The disposition of a signal.
fn disposition(signal: i32) -> libc::sighandler_t {
    // SAFETY: sigaction is plain data; without a new action the call only asks.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction
    }
}

/// Sets the signal mask of this thread. Async-signal-safe.
pub fn set_mask(mask: &libc::sigset_t) {
    #[cfg(target_os = "linux")]
    // SAFETY: the mask is valid and at least as long as the kernel's, which includes the two signals that
    // the C library keeps for itself and would leave out.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            std::ptr::from_ref(mask),
            0,
            KERNEL_MASK,
        );
    }
    #[cfg(not(target_os = "linux"))]
    // SAFETY: the mask is valid.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
    }
}

/// The size of the kernel's signal set.
#[cfg(target_os = "linux")]
const KERNEL_MASK: usize = 8;

/// Whether a signal is ignored: it was so when backoff started, and stays so.
fn is_ignored(signal: i32) -> bool {
    disposition(signal) == libc::SIG_IGN
}

/// If the caller ignored SIGCHLD, the kernel would not keep the attempt's status. Sets the default
/// and tells whether the command has to get the ignoring back.
fn watch_children() -> bool {
    let ignored = is_ignored(libc::SIGCHLD);
    if ignored {
        // SAFETY: sets a default disposition.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        }
    }
    ignored
}
