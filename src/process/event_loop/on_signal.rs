//! Decides what to do about a signal (the table under "Signals" in docs/DESIGN.md), so that the command and the shell see
//! what they would see without backoff: each signal reaches the command once, and the whole job stops or ends. Pure
//! functions; `attempt` and `waits` act on the answers.

use crate::policy::signal::Signal;
use crate::process::signals::{Received, SignalClass};
use crate::process::spawn::Isolation;

/// The state of backoff when a signal comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting, writing or otherwise between two attempts.
    BetweenAttempts,
    Running(RunningCommand),
    /// The command has ended; backoff waits for the rest of its tree or of its output.
    AfterExit,
}

/// Details of a running command that affect the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunningCommand {
    pub(crate) isolation: Isolation,
    /// The command is a hook or a predicate.
    pub(crate) is_helper: bool,
    /// It is stopped, or backoff has forwarded a stop that it may not have followed yet.
    pub(crate) is_stopped: bool,
    /// backoff leads the session: once the terminal is gone, the kernel sends HUP to the leader only.
    pub(crate) leads_session: bool,
}

/// The response to a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// Do nothing now. After a stop that the command got, too, backoff stops once the command has.
    Ignore,
    /// Check children: the command or, as process 1, an orphan has changed state.
    LookAtChildren,
    /// End the run at once, by the received signal.
    EndRun,
    /// End the wait, or the next one if none has begun: the next attempt starts now.
    EndWait,
    /// Stop backoff by the received signal.
    StopBackoff,
    /// Send the command the signal. After a stop, backoff stops once the command has.
    Forward,
    /// Make this attempt the last.
    NoFurtherAttempt,
    ForwardAndNoFurtherAttempt,
}

/// Decides about a received signal, by what backoff is doing (`phase`). Returns the one thing to do; the caller does
/// it.
pub(crate) fn on_signal(phase: Phase, received: Received) -> SignalAction {
    match (phase, received.class) {
        (Phase::Running(command), class) if class != SignalClass::Child => {
            while_running(command, received)
        }
        (Phase::BetweenAttempts | Phase::Running(_), SignalClass::Child) => {
            SignalAction::LookAtChildren
        }
        (Phase::BetweenAttempts, SignalClass::End) => SignalAction::EndRun,
        (Phase::AfterExit, SignalClass::End) => SignalAction::NoFurtherAttempt,
        // The shell waits until the whole job has stopped.
        (_, SignalClass::StopJob) => SignalAction::StopBackoff,
        (Phase::BetweenAttempts, SignalClass::Inform) if received.signal == Signal::USR1 => {
            SignalAction::EndWait
        }
        // No command runs that could get the signal. CHLD after its end: a wait for the tree looks at it anyway, and
        // draining needs no look.
        _ => SignalAction::Ignore,
    }
}

/// Decides about a signal while a program runs. A signal that the program got itself, as a member of backoff's group,
/// is not forwarded: it would arrive twice.
fn while_running(command: RunningCommand, received: Received) -> SignalAction {
    let is_for_helper = matches!(received.class, SignalClass::Inform | SignalClass::StopJob);
    if command.is_helper && is_for_helper {
        // Meant for backoff or the command, not for the hook; and a stop need not wait for a hook.
        return on_signal(Phase::BetweenAttempts, received);
    }
    match (received.class, command_got_it_too(command, received)) {
        // Servers reload by it.
        (SignalClass::End, false) if received.signal == Signal::HUP && command.may_reload() => {
            SignalAction::Forward
        }
        (SignalClass::End, true) => SignalAction::NoFurtherAttempt,
        (SignalClass::End, false) => SignalAction::ForwardAndNoFurtherAttempt,
        (_, true) => SignalAction::Ignore,
        (_, false) => SignalAction::Forward,
    }
}

impl RunningCommand {
    /// Returns true if HUP may mean something else to the command than its end: there is no terminal to hang up.
    pub(crate) fn may_reload(self) -> bool {
        self.isolation == Isolation::Group && !self.is_helper
    }
}

/// Returns true if the command got the signal, too, without backoff's doing: it is in backoff's process group, and
/// terminals and shells send signals to whole groups.
fn command_got_it_too(command: RunningCommand, received: Received) -> bool {
    let was_sent_to_group = match received.class {
        SignalClass::Continue => !command.is_stopped,
        // A process that sends one sends it to the job, too.
        SignalClass::StopJob => true,
        // The kernel sends HUP for a lost terminal to the leader of the session only.
        _ => received.by_terminal && !(received.signal == Signal::HUP && command.leads_session),
    };
    was_sent_to_group && command.isolation == Isolation::Shared
}

#[cfg(test)]
mod tests;
