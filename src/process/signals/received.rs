//! A received signal and its class.

use crate::policy::signal::Signal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) signal: Signal,
    pub(crate) class: SignalClass,
    /// The terminal sent the signal to every process of its foreground group.
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
    /// Classifies a signal. `from_kernel`: the kernel sent it by itself (the terminal, a timer), not a process.
    pub(crate) fn new(signal: Signal, from_kernel: bool) -> Received {
        let class = match signal {
            Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => SignalClass::End,
            Signal::ALRM if from_kernel => SignalClass::End,
            Signal::CONT => SignalClass::Continue,
            Signal::CHLD => SignalClass::Child,
            signal if signal.stops_a_job() => SignalClass::StopJob,
            _ => SignalClass::Inform,
        };
        let is_terminals = match class {
            SignalClass::End => signal != Signal::TERM && signal != Signal::ALRM,
            SignalClass::StopJob | SignalClass::Continue => true,
            SignalClass::Child | SignalClass::Inform => signal == Signal::WINCH,
        };
        Received {
            signal,
            class,
            by_terminal: from_kernel && is_terminals,
        }
    }
}

#[cfg(test)]
mod tests;
