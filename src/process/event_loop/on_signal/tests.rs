use SignalAction::*;

use super::*;
use crate::process::sys::origin::{Evidence, Origin, Place, Senders, origin};

/// Returns a signal sent by a process.
fn sent(signal: Signal) -> Received {
    Received::new(signal, Origin::Process)
}

/// Returns a signal sent by the kernel: the terminal or a timer.
fn by_kernel(signal: Signal) -> Received {
    let evidence = Evidence {
        signal,
        from_kernel: true,
        by_leader: false,
        is_of_status_key: false,
    };
    let origin = origin(Senders::Marked, evidence, || Place::Foreground);
    Received::new(signal, origin)
}

fn running(isolation: Isolation) -> RunningCommand {
    RunningCommand {
        isolation,
        is_helper: false,
        is_stopped: false,
        was_continued: false,
        leads_session: false,
    }
}

const END: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
const STOP: [Signal; 3] = [Signal::TSTP, Signal::TTIN, Signal::TTOU];

fn rest() -> Vec<Signal> {
    let known = ["WINCH", "USR2", "PIPE", "URG", "IO", "35"];
    known
        .into_iter()
        .filter_map(|name| name.parse().ok())
        .collect()
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
            assert_eq!(
                on_signal(phase, receive(signal)),
                action,
                "{phase:?} {signal}"
            );
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
        let phase = Phase::Running(RunningCommand {
            is_helper: true,
            ..running(isolation)
        });
        let row = [
            ForwardAndNoFurtherAttempt,
            Forward,
            Forward,
            EndWait,
            Ignore,
        ];
        expect_row(phase, sent, row);
    }
}

#[test]
fn while_the_program_is_being_started() {
    for isolation in [Isolation::Group, Isolation::Shared, Isolation::Session] {
        let starting = Phase::Starting(running(isolation));
        let started = Phase::Running(running(isolation));
        for signal in Signal::all() {
            let by_process = on_signal(starting, sent(signal));
            assert_eq!(by_process, on_signal(started, sent(signal)), "{signal}");
            let by_terminal = on_signal(starting, by_kernel(signal));
            let expected = if STOP.contains(&signal) && isolation == Isolation::Shared {
                StopBackoff
            } else {
                on_signal(started, by_kernel(signal))
            };
            assert_eq!(by_terminal, expected, "{isolation:?} {signal}");
        }
    }
}

#[test]
fn in_a_group_of_its_own() {
    let phase = Phase::Running(running(Isolation::Group));
    for receive in [sent, by_kernel] {
        let row = [
            ForwardAndNoFurtherAttempt,
            Forward,
            Forward,
            Forward,
            Forward,
        ];
        expect_row(phase, receive, row);
    }
}

#[test]
fn in_the_shared_group_from_a_process() {
    let phase = Phase::Running(running(Isolation::Shared));
    let row = [
        ForwardAndNoFurtherAttempt,
        Forward,
        Forward,
        Forward,
        Forward,
    ];
    expect_row(phase, sent, row);
}

#[test]
fn in_the_shared_group_from_the_terminal() {
    let phase = Phase::Running(running(Isolation::Shared));
    for signal in [Signal::INT, Signal::QUIT, Signal::HUP] {
        assert_eq!(
            on_signal(phase, by_kernel(signal)),
            NoFurtherAttempt,
            "{signal}"
        );
    }
    for signal in STOP.into_iter().chain([Signal::WINCH]) {
        assert_eq!(on_signal(phase, by_kernel(signal)), Ignore, "{signal}");
    }
    assert_eq!(on_signal(phase, by_kernel(Signal::CONT)), Forward);
}

#[test]
fn a_hang_up_is_passed_on_by_the_leader_of_the_session() {
    let command = RunningCommand {
        leads_session: true,
        ..running(Isolation::Shared)
    };
    let phase = Phase::Running(command);
    assert_eq!(
        on_signal(phase, by_kernel(Signal::HUP)),
        ForwardAndNoFurtherAttempt
    );
    assert_eq!(on_signal(phase, by_kernel(Signal::INT)), NoFurtherAttempt);
}

#[test]
fn in_the_shared_group_once_the_command_was_continued() {
    let command = RunningCommand {
        was_continued: true,
        ..running(Isolation::Shared)
    };
    let row = [ForwardAndNoFurtherAttempt, Ignore, Ignore, Forward, Forward];
    expect_row(Phase::Running(command), sent, row);
}

#[test]
fn in_the_shared_group_while_the_command_is_stopped() {
    let command = RunningCommand {
        is_stopped: true,
        ..running(Isolation::Shared)
    };
    let row = [
        ForwardAndNoFurtherAttempt,
        Ignore,
        Forward,
        Forward,
        Forward,
    ];
    expect_row(Phase::Running(command), sent, row);
}

#[test]
fn in_a_session_of_its_own() {
    let row = [
        ForwardAndNoFurtherAttempt,
        StopCommand,
        Forward,
        Forward,
        Forward,
    ];
    expect_row(Phase::Running(running(Isolation::Session)), sent, row);
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
    for phase in [
        Phase::BetweenAttempts,
        Phase::Running(running(Isolation::Shared)),
    ] {
        assert_eq!(on_signal(phase, by_kernel(Signal::CHLD)), LookAtChildren);
    }
}

#[test]
fn an_alarm_that_was_set_before_asks_to_end_in_every_phase() {
    let command = running(Isolation::Shared);
    for (phase, action) in [
        (Phase::BetweenAttempts, EndRun),
        (Phase::Running(command), ForwardAndNoFurtherAttempt),
        (Phase::AfterExit, NoFurtherAttempt),
    ] {
        assert_eq!(
            on_signal(phase, by_kernel(Signal::ALRM)),
            action,
            "{phase:?}"
        );
    }
    let from_a_process = sent(Signal::ALRM);
    assert_eq!(on_signal(Phase::AfterExit, from_a_process), Ignore);
    assert_eq!(on_signal(Phase::BetweenAttempts, from_a_process), Ignore);
    assert_eq!(on_signal(Phase::Running(command), from_a_process), Forward);
}

#[test]
fn the_command_has_stopped() {
    use StopAction::{ContinueCommand, Ignore, StopBackoff};
    let jobs = [Job::NoTerminal, Job::Uncontrolled, Job::Controlled];
    let (tstp, ttin, stop) = (Signal::TSTP, Signal::TTIN, Signal::STOP);
    for (requested, is_asked_to_end, by, row) in [
        (Some(tstp), false, tstp, [StopBackoff(tstp); 3]),
        (Some(tstp), false, stop, [StopBackoff(tstp); 3]),
        (Some(tstp), true, tstp, [StopBackoff(tstp); 3]),
        (None, true, ttin, [ContinueCommand; 3]),
        (None, true, stop, [ContinueCommand; 3]),
        (
            None,
            false,
            ttin,
            [ContinueCommand, StopBackoff(ttin), StopBackoff(ttin)],
        ),
        (None, false, stop, [Ignore, Ignore, StopBackoff(stop)]),
    ] {
        let actions = jobs.map(|job| on_stopped(by, requested, is_asked_to_end, job));
        assert_eq!(actions, row, "{requested:?} {is_asked_to_end} {by}");
    }
}
