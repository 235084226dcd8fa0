//! A received signal, and the class by which `event_loop/on_signal.rs` decides how to respond.

use nix::libc::siginfo_t;

use crate::policy::signal::Signal;
use crate::process::sys::system::is_from_kernel;

/// A signal that arrived, with what decides the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) signal: Signal,
    pub(crate) class: SignalClass,
    /// The terminal sent the signal to all of backoff's group, so a program in the group also received it. This is a
    /// guess if the system does not mark the sender (macOS). A signal from a process to a backoff in the foreground
    /// then also counts.
    pub(crate) by_terminal: bool,
}

/// The purpose of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalClass {
    /// Asks a program to terminate (SIGTERM, SIGINT, SIGHUP, SIGQUIT). Also SIGALRM from a timer that the caller set
    /// before it executed backoff, which would have killed the command.
    End,
    /// Stops a job (SIGTSTP, SIGTTIN, SIGTTOU).
    StopJob,
    /// Continues a job (SIGCONT).
    Continue,
    /// Reports that a child has changed state (SIGCHLD).
    Child,
    /// Informs the command (any other signal).
    Inform,
}

impl Received {
    /// Classifies a signal by its number and sender. The kernel sends SIGALRM only for a timer. From a process it may
    /// mean anything to the command. Returns None for a SIGPIPE or SIGXFSZ from a failed write of backoff's own, as the
    /// writer handles that error.
    pub(super) fn new(info: &siginfo_t) -> Option<Received> {
        let signal = Signal::from_number(info.si_signo)?;
        // SAFETY: a field of a union of plain integers, so any content is a valid pid_t. Only processes fill it.
        let sender = unsafe { info.si_pid() };
        if matches!(signal, Signal::PIPE | Signal::XFSZ)
            && sender == std::process::id().cast_signed()
        {
            return None;
        }
        Some(Received::of(signal, is_from_kernel(info)))
    }

    pub(crate) fn of(signal: Signal, from_kernel: bool) -> Received {
        let class = match signal {
            Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => SignalClass::End,
            Signal::ALRM if from_kernel => SignalClass::End,
            Signal::CONT => SignalClass::Continue,
            Signal::CHLD => SignalClass::Child,
            signal if signal.stops_a_job() => SignalClass::StopJob,
            _ => SignalClass::Inform,
        };
        Received {
            signal,
            class,
            by_terminal: from_kernel && signal != Signal::ALRM,
        }
    }
}
