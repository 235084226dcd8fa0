//! Decides what to do about a signal (the table under "Signals" in docs/DESIGN.md) and about a stop of the command, so
//! that the command and the shell see what they would see without backoff: each signal reaches the command once, and
//! the whole job stops or ends. One that a process sends to the whole group may reach the command twice, as the system
//! does not tell backoff that the command got it, too. One that a process sends to backoff alone may not reach it on a
//! system that does not mark the sender (macOS). Pure functions; `attempt` and `waits` act on the answers.

use crate::policy::signal::Signal;
use crate::process::signals::{Received, SignalClass};
use crate::process::spawn::Isolation;

/// The state of backoff when a signal comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting, writing or otherwise between two attempts.
    BetweenAttempts,
    /// The system has not started the program yet: it may hang in exec. Told from `Running` for stops only.
    Starting(RunningCommand),
    Running(RunningCommand),
    /// The command has ended; backoff waits for the rest of its tree or of its output.
    AfterExit,
}

/// Details of a running command that affect the decision. Details that the class of the signal makes irrelevant are not
/// asked for, and false: `is_stopped` and `was_continued` except for stops and CONT, `leads_session` except for HUP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunningCommand {
    pub(crate) isolation: Isolation,
    /// The command is a hook or a predicate.
    pub(crate) is_helper: bool,
    pub(crate) is_stopped: bool,
    /// The kernel has reported that the command was continued, since backoff handled the last CONT.
    pub(crate) was_continued: bool,
    /// backoff leads the session: once the terminal is gone, the kernel sends HUP to the leader only.
    pub(crate) leads_session: bool,
}

/// The response to a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// Do nothing now. After a TSTP, TTIN or TTOU that the command got, too, backoff stops once the command has.
    Ignore,
    /// Check children: the command or, as process 1, an orphan has changed state.
    LookAtChildren,
    /// End the run at once, by the received signal.
    EndRun,
    /// End the wait, or the next one if none has begun: the next attempt starts now.
    EndWait,
    /// Stop backoff by the received signal.
    StopBackoff,
    /// Stop the command, which has its own session, by STOP; then backoff by the received signal.
    StopCommand,
    /// Send the command the signal. After a TSTP, TTIN or TTOU, backoff stops once the command has.
    Forward,
    /// Make this attempt the last.
    NoFurtherAttempt,
    ForwardAndNoFurtherAttempt,
}

/// Decides about a received signal, by what backoff is doing (`phase`). Returns the one thing to do; the caller does
/// it.
pub(crate) fn on_signal(phase: Phase, received: Received) -> SignalAction {
    match (phase, received.class) {
        (Phase::BetweenAttempts | Phase::Starting(_) | Phase::Running(_), SignalClass::Child) => {
            SignalAction::LookAtChildren
        }
        // Otherwise backoff stops after the command. But a program that hangs in exec cannot stop yet, so the shell
        // would wait for the job for ever. The program got the signal, too, and has nothing to tidy up before a stop.
        (Phase::Starting(command), SignalClass::StopJob)
            if received.by_terminal && command.isolation == Isolation::Shared =>
        {
            SignalAction::StopBackoff
        }
        (Phase::Starting(command) | Phase::Running(command), _) => while_running(command, received),
        (Phase::BetweenAttempts, SignalClass::End) => SignalAction::EndRun,
        (Phase::AfterExit, SignalClass::End) => SignalAction::NoFurtherAttempt,
        // The shell waits until the whole job has stopped.
        (Phase::BetweenAttempts | Phase::AfterExit, SignalClass::StopJob) => {
            SignalAction::StopBackoff
        }
        (Phase::BetweenAttempts, SignalClass::Inform) if received.signal == Signal::USR1 => {
            SignalAction::EndWait
        }
        // No command runs that could get the signal. CHLD after its end: a wait for the tree looks at it anyway, and
        // draining needs no look.
        (Phase::BetweenAttempts | Phase::AfterExit, _) => SignalAction::Ignore,
    }
}

/// Decides about a signal while a program runs. A signal that the program got itself, as a member of backoff's group,
/// is not forwarded: it would arrive twice.
fn while_running(command: RunningCommand, received: Received) -> SignalAction {
    match (received.class, command_got_it_too(command, received)) {
        // USR1, WINCH and the like are meant for backoff or the command, not for the hook: USR1 ends the next wait, and
        // others are dropped.
        (SignalClass::Inform, _) if command.is_helper => {
            on_signal(Phase::BetweenAttempts, received)
        }
        // In a session of its own the command may be in an orphaned group, where the kernel ignores a forwarded TSTP.
        (SignalClass::StopJob, _) if command.isolation == Isolation::Session => {
            SignalAction::StopCommand
        }
        (SignalClass::End, true) => SignalAction::NoFurtherAttempt,
        (SignalClass::End, false) => SignalAction::ForwardAndNoFurtherAttempt,
        (_, true) => SignalAction::Ignore,
        (_, false) => SignalAction::Forward,
    }
}

/// Returns true if the command got the signal, too, without backoff's doing: it is in backoff's process group, and
/// terminals and shells send signals to whole groups. For CONT the command's own state shows it, for stops that or the
/// sender, for other signals the sender. False for a command outside that group, which only backoff signals.
fn command_got_it_too(command: RunningCommand, received: Received) -> bool {
    let was_sent_to_group = match received.class {
        // The kernel reports it only of a command that was stopped. A running one gets a CONT to the whole group twice:
        // if it were not forwarded, a CONT to backoff alone would not reach the command.
        SignalClass::Continue => command.was_continued,
        // A command that is stopped got it. So did one that was continued since, and must not be stopped again.
        SignalClass::StopJob => received.by_terminal || command.is_stopped || command.was_continued,
        // The kernel sends HUP for a lost terminal to the leader of the session only.
        _ => received.by_terminal && !(received.signal == Signal::HUP && command.leads_session),
    };
    was_sent_to_group && command.isolation == Isolation::Shared
}

/// The job that backoff belongs to: decides who can continue a stopped backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// No terminal: no shell would continue a stopped backoff.
    NoTerminal,
    /// On a terminal, but the command is in another job, or backoff's parent does not control jobs.
    Uncontrolled,
    /// A job of backoff and the command, controlled by a shell.
    Controlled,
}

/// The response to a stop of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopAction {
    Ignore,
    StopBackoff(Signal),
    ContinueCommand,
}

/// Decides about a stop of the command by the signal `stopped_by`. backoff stops, too, if that was requested or if a
/// shell will continue both. Otherwise the attempt's limits go on, and the command stays stopped or is continued at
/// once. `requested` is the signal that asked backoff and the command to stop, if this stop is the response.
/// `is_asked_to_end`: a limit or a forwarded signal has asked the command to end.
pub(crate) fn on_stopped(
    stopped_by: Signal,
    requested: Option<Signal>,
    is_asked_to_end: bool,
    job: Job,
) -> StopAction {
    match (requested, job) {
        // The request was for backoff, too, which only waited until the command had stopped.
        (Some(signal), _) => StopAction::StopBackoff(signal),
        // A stopped command could not end.
        (None, _) if is_asked_to_end => StopAction::ContinueCommand,
        (None, Job::Controlled) => StopAction::StopBackoff(stopped_by),
        // The parent does not control jobs, but a shell above it does: TSTP, TTIN and TTOU stop whole jobs. They do not
        // stop a command in another job, whose group is orphaned.
        (None, Job::Uncontrolled) if stopped_by.stops_a_job() => {
            StopAction::StopBackoff(stopped_by)
        }
        // Undoes the stop. Run without backoff, the command would be in an orphaned group, where the kernel ignores
        // these signals.
        (None, Job::NoTerminal) if stopped_by.stops_a_job() => StopAction::ContinueCommand,
        // STOP was sent to the command alone, so CONT will be, too.
        (None, Job::NoTerminal | Job::Uncontrolled) => StopAction::Ignore,
    }
}

#[cfg(test)]
mod tests;
