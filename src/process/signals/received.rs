//! A received signal, and the class by which `event_loop/on_signal.rs` decides what to do about it.

use nix::libc::siginfo_t;

use crate::policy::signal::Signal;
use crate::process::sys::system::is_from_kernel;

/// A signal that came, with what decides the response to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) signal: Signal,
    pub(crate) class: SignalClass,
    /// The terminal sent the signal to all of backoff's group, so that a program in the group has got it, too. A guess
    /// where the system does not mark the sender (macOS): a process's signal to a backoff in the foreground then counts,
    /// too.
    pub(crate) by_terminal: bool,
}

/// The purpose of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalClass {
    /// Asks a program to end: TERM, INT, HUP, QUIT, and ALRM of a timer that the caller set before it executed backoff,
    /// which would have ended the command.
    End,
    /// Stops a job: TSTP, TTIN and TTOU.
    StopJob,
    /// Continues a job: CONT.
    Continue,
    /// Reports that a child has changed state: CHLD.
    Child,
    /// Informs the command: any other signal.
    Inform,
}

impl Received {
    /// Classifies a signal by its number and sender. The kernel sends ALRM only for a timer; one of a process may mean
    /// anything to the command. Returns None for a PIPE or XFSZ by which a write of backoff's own failed, as the writer
    /// handles that error.
    pub(super) fn new(info: &siginfo_t) -> Option<Received> {
        let signal = Signal::from_number(info.si_signo)?;
        // SAFETY: the field is filled for signals of processes, which these are.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_is_of_one_class() {
        let by_process = |signal| Received::of(signal, false).class;
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
            assert_eq!(by_process(signal), SignalClass::End);
        }
        for signal in [Signal::TSTP, Signal::TTIN, Signal::TTOU] {
            assert_eq!(by_process(signal), SignalClass::StopJob);
        }
        assert_eq!(by_process(Signal::CONT), SignalClass::Continue);
        assert_eq!(by_process(Signal::CHLD), SignalClass::Child);
        for signal in [Signal::WINCH, Signal::PIPE, Signal::ALRM] {
            assert_eq!(by_process(signal), SignalClass::Inform);
        }
        assert_eq!(Received::of(Signal::ALRM, true).class, SignalClass::End);
    }
}
