//! Decides what to do about a signal (the table under "Signals" in docs/DESIGN.md) and about a stop of the command.

use crate::policy::signal::Signal;
use crate::process::signals::received::{Received, SignalClass};
use crate::process::spawn::Isolation;

/// The state of backoff when a signal comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting, writing or otherwise between two attempts.
    BetweenAttempts,
    Running(Facts),
    /// The command has ended; backoff waits for the rest of its tree or of its output.
    AfterExit,
}

/// Details of a running command that affect the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) isolation: Isolation,
    /// The command is a hook or a predicate.
    pub(crate) is_hook: bool,
    pub(crate) is_stopped: bool,
    /// The kernel has reported that the command was continued.
    pub(crate) was_continued: bool,
    /// backoff leads the session: once the terminal is gone, the kernel sends HUP to the leader only.
    pub(crate) leads_session: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    Ignore,
    /// Check children: the command or, as process 1, an orphan has changed state.
    LookAtChildren,
    /// End the run at once, by the received signal.
    EndRun,
    /// End the wait, or the next one if none has begun: the next attempt starts now.
    EndWait,
    /// Stop backoff by the received signal.
    StopBackoff,
    /// Stop the command by STOP, then backoff by the received signal. The command has its own session, where its group
    /// may be orphaned, so that the kernel would ignore TSTP.
    StopCommand,
    Forward,
    /// Make this attempt the last.
    NoFurtherAttempt,
    ForwardAndNoFurtherAttempt,
}

pub(crate) fn on_signal(phase: Phase, received: Received) -> SignalAction {
    match (phase, received.class) {
        (Phase::BetweenAttempts | Phase::Running(_), SignalClass::Child) => SignalAction::LookAtChildren,
        (Phase::Running(facts), _) => while_running(facts, received),
        (Phase::BetweenAttempts, SignalClass::End) => SignalAction::EndRun,
        (Phase::AfterExit, SignalClass::End) => SignalAction::NoFurtherAttempt,
        // The shell waits until the whole job has stopped.
        (Phase::BetweenAttempts | Phase::AfterExit, SignalClass::StopJob) => SignalAction::StopBackoff,
        (Phase::BetweenAttempts, SignalClass::Inform) if received.signal == Signal::USR1 => SignalAction::EndWait,
        (Phase::BetweenAttempts | Phase::AfterExit, _) => SignalAction::Ignore,
    }
}

fn while_running(facts: Facts, received: Received) -> SignalAction {
    match (received.class, command_received_it(facts, received)) {
        // The signal is meant for backoff or the command, not for the hook.
        (SignalClass::Inform, _) if facts.is_hook => on_signal(Phase::BetweenAttempts, received),
        (SignalClass::StopJob, _) if matches!(facts.isolation, Isolation::Terminal | Isolation::Session) => {
            SignalAction::StopCommand
        }
        (SignalClass::End, true) => SignalAction::NoFurtherAttempt,
        (SignalClass::End, false) => SignalAction::ForwardAndNoFurtherAttempt,
        (_, true) => SignalAction::Ignore,
        (_, false) => SignalAction::Forward,
    }
}

/// Returns true if the sender of the signal reached the command, too.
fn command_received_it(facts: Facts, received: Received) -> bool {
    let reached_group = match received.class {
        // Job control continues the whole job.
        SignalClass::Continue => facts.was_continued,
        // Job control stops the whole job, and must not stop the command again after CONT.
        SignalClass::StopJob => received.by_terminal || facts.is_stopped || facts.was_continued,
        _ => received.by_terminal && !(received.signal == Signal::HUP && facts.leads_session),
    };
    reached_group && facts.isolation == Isolation::Shared
}

/// The last request to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Nothing,
    /// To stop by this signal.
    Stop(Signal),
    /// To end, by a forwarded signal or a limit.
    End,
}

/// The job that backoff belongs to: decides who can continue a stopped backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// No terminal: backoff would stay stopped.
    None,
    /// A job on a terminal without the command, or without a shell that controls it.
    Apart,
    /// A job of backoff and the command, controlled by a shell.
    Controlled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopAction {
    Ignore,
    StopBackoff(Signal),
    ContinueCommand,
}

/// Decides about a stop of the command by a signal. If a shell controls the job, backoff stops with the command.
/// Elsewhere an unrequested stop must not suspend backoff's limits.
pub(crate) fn on_stopped(by: Signal, asked: Asked, job: Job) -> StopAction {
    match (asked, job) {
        (Asked::End, _) => StopAction::ContinueCommand,
        (Asked::Stop(signal), _) => StopAction::StopBackoff(signal),
        // Run directly, the command's group would be orphaned, and the kernel would ignore TSTP, TTIN and TTOU there.
        (Asked::Nothing, Job::None) if by.stops_a_job() => StopAction::ContinueCommand,
        (Asked::Nothing, Job::Apart) if by.stops_a_job() => StopAction::StopBackoff(by),
        (Asked::Nothing, Job::Controlled) => StopAction::StopBackoff(by),
        // STOP was sent to the command alone, so CONT will be, too.
        (Asked::Nothing, Job::None | Job::Apart) => StopAction::Ignore,
    }
}

#[cfg(test)]
mod tests {
    use SignalAction::*;

    use super::*;

    /// Returns a signal sent by a process.
    fn sent(signal: Signal) -> Received {
        Received::new(signal, false)
    }

    /// Returns a signal sent by the kernel: the terminal or a timer.
    fn by_kernel(signal: Signal) -> Received {
        Received::new(signal, true)
    }

    fn running(isolation: Isolation) -> Facts {
        Facts {
            isolation,
            is_hook: false,
            is_stopped: false,
            was_continued: false,
            leads_session: false,
        }
    }

    const END: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
    const STOP: [Signal; 3] = [Signal::TSTP, Signal::TTIN, Signal::TTOU];

    fn rest() -> Vec<Signal> {
        let known = ["WINCH", "USR2", "PIPE", "URG", "IO", "RTMIN+1"];
        known.into_iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// Checks a row of the table: end, stop, CONT, USR1, other signals.
    #[track_caller]
    fn expect_row(phase: Phase, receive: fn(Signal) -> Received, row: [SignalAction; 5]) {
        let columns = [
            END.to_vec(),
            STOP.to_vec(),
            vec![Signal::CONT],
            vec![Signal::USR1],
            rest(),
        ];
        for (signals, action) in columns.into_iter().zip(row) {
            for signal in signals {
                assert_eq!(on_signal(phase, receive(signal)), action, "{phase:?} {signal}");
            }
        }
    }

    #[test]
    fn between_two_attempts() {
        for receive in [sent, by_kernel] {
            let row = [EndRun, StopBackoff, Ignore, EndWait, Ignore];
            expect_row(Phase::BetweenAttempts, receive, row);
        }
    }

    #[test]
    fn while_a_hook_runs() {
        for isolation in [Isolation::Group, Isolation::Shared] {
            let phase = Phase::Running(Facts {
                is_hook: true,
                ..running(isolation)
            });
            let row = [ForwardAndNoFurtherAttempt, Forward, Forward, EndWait, Ignore];
            expect_row(phase, sent, row);
        }
    }

    #[test]
    fn in_a_group_of_its_own() {
        let phase = Phase::Running(running(Isolation::Group));
        for receive in [sent, by_kernel] {
            let row = [ForwardAndNoFurtherAttempt, Forward, Forward, Forward, Forward];
            expect_row(phase, receive, row);
        }
    }

    #[test]
    fn in_the_shared_group_from_a_process() {
        let phase = Phase::Running(running(Isolation::Shared));
        let row = [ForwardAndNoFurtherAttempt, Forward, Forward, Forward, Forward];
        expect_row(phase, sent, row);
    }

    #[test]
    fn in_the_shared_group_from_the_terminal() {
        let phase = Phase::Running(running(Isolation::Shared));
        for signal in [Signal::INT, Signal::QUIT, Signal::HUP] {
            assert_eq!(on_signal(phase, by_kernel(signal)), NoFurtherAttempt, "{signal}");
        }
        for signal in STOP.into_iter().chain([Signal::WINCH]) {
            assert_eq!(on_signal(phase, by_kernel(signal)), Ignore, "{signal}");
        }
        assert_eq!(on_signal(phase, by_kernel(Signal::CONT)), Forward);
    }

    #[test]
    fn a_hang_up_is_passed_on_by_the_leader_of_the_session() {
        let facts = Facts {
            leads_session: true,
            ..running(Isolation::Shared)
        };
        let phase = Phase::Running(facts);
        assert_eq!(on_signal(phase, by_kernel(Signal::HUP)), ForwardAndNoFurtherAttempt);
        assert_eq!(on_signal(phase, by_kernel(Signal::INT)), NoFurtherAttempt);
    }

    #[test]
    fn in_the_shared_group_once_the_command_was_continued() {
        let facts = Facts {
            was_continued: true,
            ..running(Isolation::Shared)
        };
        let row = [ForwardAndNoFurtherAttempt, Ignore, Ignore, Forward, Forward];
        expect_row(Phase::Running(facts), sent, row);
    }

    #[test]
    fn in_the_shared_group_while_the_command_is_stopped() {
        let facts = Facts {
            is_stopped: true,
            ..running(Isolation::Shared)
        };
        let row = [ForwardAndNoFurtherAttempt, Ignore, Forward, Forward, Forward];
        expect_row(Phase::Running(facts), sent, row);
    }

    #[test]
    fn in_a_session_of_its_own() {
        for isolation in [Isolation::Session, Isolation::Terminal] {
            let row = [ForwardAndNoFurtherAttempt, StopCommand, Forward, Forward, Forward];
            expect_row(Phase::Running(running(isolation)), sent, row);
        }
    }

    #[test]
    fn after_the_command_has_ended() {
        for receive in [sent, by_kernel] {
            let row = [NoFurtherAttempt, StopBackoff, Ignore, Ignore, Ignore];
            expect_row(Phase::AfterExit, receive, row);
        }
        assert_eq!(on_signal(Phase::AfterExit, sent(Signal::CHLD)), Ignore);
    }

    #[test]
    fn children_are_looked_at() {
        for phase in [Phase::BetweenAttempts, Phase::Running(running(Isolation::Shared))] {
            assert_eq!(on_signal(phase, by_kernel(Signal::CHLD)), LookAtChildren);
        }
    }

    #[test]
    fn an_alarm_that_was_set_before_asks_to_end_in_every_phase() {
        let facts = running(Isolation::Shared);
        for (phase, action) in [
            (Phase::BetweenAttempts, EndRun),
            (Phase::Running(facts), ForwardAndNoFurtherAttempt),
            (Phase::AfterExit, NoFurtherAttempt),
        ] {
            assert_eq!(on_signal(phase, by_kernel(Signal::ALRM)), action, "{phase:?}");
        }
        let from_a_process = sent(Signal::ALRM);
        assert_eq!(on_signal(Phase::AfterExit, from_a_process), Ignore);
        assert_eq!(on_signal(Phase::BetweenAttempts, from_a_process), Ignore);
        assert_eq!(on_signal(Phase::Running(facts), from_a_process), Forward);
    }

    #[test]
    fn the_command_has_stopped() {
        use StopAction::{ContinueCommand, Ignore, StopBackoff};
        let jobs = [Job::None, Job::Apart, Job::Controlled];
        let (tstp, ttin, stop) = (Signal::TSTP, Signal::TTIN, Signal::STOP);
        for (asked, by, row) in [
            (Asked::Stop(tstp), tstp, [StopBackoff(tstp); 3]),
            (Asked::Stop(tstp), stop, [StopBackoff(tstp); 3]),
            (Asked::End, tstp, [ContinueCommand; 3]),
            (Asked::End, stop, [ContinueCommand; 3]),
            (
                Asked::Nothing,
                ttin,
                [ContinueCommand, StopBackoff(ttin), StopBackoff(ttin)],
            ),
            (Asked::Nothing, stop, [Ignore, Ignore, StopBackoff(stop)]),
        ] {
            let actions = jobs.map(|job| on_stopped(by, asked, job));
            assert_eq!(actions, row, "{asked:?} {by}");
        }
    }
}
