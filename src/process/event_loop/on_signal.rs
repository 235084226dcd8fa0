//! Decides how to respond to a signal (the table under "Signals" in docs/DESIGN.md). The command and the shell must see
//! what they would see without backoff. The command receives each signal once, and the job stops or exits as a whole.
//! These are pure functions. `attempt` and `waits` act on the answers.

use crate::policy::signal::Signal;
use crate::process::signals::{Received, SignalClass};
use crate::process::spawn::Isolation;

/// What backoff is doing when a signal arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting, writing or otherwise between two attempts.
    NoAttempt,
    Running(RunningCommand),
    /// The command has exited. backoff waits for the rest of its process tree or output.
    AfterExit,
}

/// Details of a running command that affect the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunningCommand {
    pub(crate) isolation: Isolation,
    /// The command is a hook or a predicate.
    pub(crate) is_helper: bool,
    /// The command is stopped, or backoff has forwarded a stop that may not have taken effect yet.
    pub(crate) is_stopped: bool,
    /// backoff leads the session.
    pub(crate) leads_session: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// Do nothing now. If the command received the same stop signal, backoff stops once the command has.
    Ignore,
    /// Check the children. The command or, if backoff is process 1, an orphan has changed state.
    LookAtChildren,
    /// End the run at once with the received signal.
    EndRun,
    /// End the current wait, or the next one if none is running. The next attempt starts at once.
    EndWait,
    /// Stop backoff with the received signal.
    StopBackoff,
    /// Send the signal to the command. If it is a stop signal, backoff stops once the command has.
    Forward,
    NoFurtherAttempt,
    ForwardAndNoFurtherAttempt,
}

/// Returns what the caller must do about a signal that was received in this phase.
pub(crate) fn on_signal(phase: Phase, received: Received) -> SignalAction {
    match (phase, received.class) {
        (Phase::Running(command), class) if class != SignalClass::Child => {
            while_running(command, received)
        }
        (Phase::NoAttempt | Phase::Running(_), SignalClass::Child) => SignalAction::LookAtChildren,
        (Phase::NoAttempt, SignalClass::End) => SignalAction::EndRun,
        (Phase::AfterExit, SignalClass::End) => SignalAction::NoFurtherAttempt,
        // The shell waits until the whole job has stopped.
        (_, SignalClass::StopJob) => SignalAction::StopBackoff,
        (Phase::NoAttempt, SignalClass::Inform) if received.signal == Signal::USR1 => {
            SignalAction::EndWait
        }
        // There is no command to receive it. SIGCHLD after the exit needs no action, as a wait for the tree checks
        // anyway and draining does not care.
        _ => SignalAction::Ignore,
    }
}

/// Decides about a signal while a program runs. A signal that the program received itself, as a member of backoff's
/// group, is not forwarded, or it would arrive twice.
fn while_running(command: RunningCommand, received: Received) -> SignalAction {
    let is_for_helper = matches!(received.class, SignalClass::Inform | SignalClass::StopJob);
    if command.is_helper && is_for_helper {
        // The signal is meant for backoff or the command, not for the hook. A stop need not wait for a hook.
        return on_signal(Phase::NoAttempt, received);
    }
    // Without a terminal to hang up, SIGHUP tells a server to reload.
    let may_mean_reload = received.signal == Signal::HUP
        && command.isolation == Isolation::Group
        && !command.is_helper;
    match (received.class, command_got_it_too(command, received)) {
        (SignalClass::End, false) if may_mean_reload => SignalAction::Forward,
        (SignalClass::End, true) => SignalAction::NoFurtherAttempt,
        (SignalClass::End, false) => SignalAction::ForwardAndNoFurtherAttempt,
        (_, true) => SignalAction::Ignore,
        (_, false) => SignalAction::Forward,
    }
}

/// Returns true if the command also received the signal directly. It is in backoff's process group, and terminals and
/// shells signal whole groups.
fn command_got_it_too(command: RunningCommand, received: Received) -> bool {
    let was_sent_to_group = match received.class {
        SignalClass::Continue => !command.is_stopped,
        // Whoever sends one sends it to the whole job.
        SignalClass::StopJob => true,
        // When the terminal is lost, the kernel sends SIGHUP to the session leader only.
        _ => received.by_terminal && !(received.signal == Signal::HUP && command.leads_session),
    };
    was_sent_to_group && command.isolation == Isolation::Shared
}

#[cfg(test)]
#[path = "on_signal_tests.rs"]
mod tests;
