use super::*;
use SignalAction::{
    EndRun, EndWait, Forward, ForwardAndNoFurtherAttempt, Ignore, LookAtChildren, NoFurtherAttempt,
    StopBackoff,
};

const END: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::QUIT];
const STOP: [Signal; 3] = [Signal::TSTP, Signal::TTIN, Signal::TTOU];

fn sent(signal: Signal) -> Received {
    Received::of(signal, false)
}

fn by_terminal(signal: Signal) -> Received {
    Received::of(signal, true)
}

fn running(isolation: Isolation) -> RunningCommand {
    RunningCommand {
        isolation,
        is_helper: false,
        is_stopped: false,
        leads_session: false,
    }
}

/// Checks one row of the table. Its columns are SIGTERM, SIGINT and SIGQUIT, then SIGHUP, stops, SIGCONT, SIGWINCH,
/// SIGUSR1.
#[track_caller]
fn expect_row(phase: Phase, received: impl Fn(Signal) -> Received, row: [SignalAction; 6]) {
    for signal in END {
        assert_eq!(on_signal(phase, received(signal)), row[0], "{signal}");
    }
    assert_eq!(on_signal(phase, received(Signal::HUP)), row[1], "HUP");
    for signal in STOP {
        assert_eq!(on_signal(phase, received(signal)), row[2], "{signal}");
    }
    assert_eq!(on_signal(phase, received(Signal::CONT)), row[3], "CONT");
    assert_eq!(on_signal(phase, received(Signal::WINCH)), row[4], "WINCH");
    assert_eq!(on_signal(phase, sent(Signal::USR1)), row[5], "USR1");
}

#[test]
fn between_attempts() {
    let row = [EndRun, EndRun, StopBackoff, Ignore, Ignore, EndWait];
    expect_row(Phase::NoAttempt, sent, row);
    expect_row(Phase::NoAttempt, by_terminal, row);
}

#[test]
fn after_the_command_has_ended() {
    let row = [
        NoFurtherAttempt,
        NoFurtherAttempt,
        StopBackoff,
        Ignore,
        Ignore,
        Ignore,
    ];
    expect_row(Phase::AfterExit, sent, row);
    expect_row(Phase::AfterExit, by_terminal, row);
}

#[test]
fn in_a_group_of_its_own() {
    let phase = Phase::Running(running(Isolation::Group));
    let row = [
        ForwardAndNoFurtherAttempt,
        Forward,
        Forward,
        Forward,
        Forward,
        Forward,
    ];
    expect_row(phase, sent, row);
}

#[test]
fn in_the_group_of_backoff() {
    let phase = Phase::Running(running(Isolation::Shared));
    let by_process = [
        ForwardAndNoFurtherAttempt,
        ForwardAndNoFurtherAttempt,
        Ignore,
        Ignore,
        Forward,
        Forward,
    ];
    expect_row(phase, sent, by_process);
    let by_keys = [
        NoFurtherAttempt,
        NoFurtherAttempt,
        Ignore,
        Ignore,
        Ignore,
        Forward,
    ];
    expect_row(phase, by_terminal, by_keys);
}

#[test]
fn a_stopped_command_is_continued_with_backoff_alone() {
    let stopped = RunningCommand {
        is_stopped: true,
        ..running(Isolation::Shared)
    };
    let action = on_signal(Phase::Running(stopped), sent(Signal::CONT));
    assert_eq!(action, Forward);
}

#[test]
fn only_the_leader_of_the_session_is_told_of_a_lost_terminal() {
    let leader = RunningCommand {
        leads_session: true,
        ..running(Isolation::Shared)
    };
    let action = on_signal(Phase::Running(leader), by_terminal(Signal::HUP));
    assert_eq!(action, ForwardAndNoFurtherAttempt);
}

#[test]
fn a_hook_gets_no_signal_but_those_that_end() {
    for isolation in [Isolation::Shared, Isolation::Group, Isolation::Session] {
        let hook = RunningCommand {
            is_helper: true,
            ..running(isolation)
        };
        let phase = Phase::Running(hook);
        let cont = on_signal(phase, sent(Signal::CONT));
        let row = [
            ForwardAndNoFurtherAttempt,
            ForwardAndNoFurtherAttempt,
            StopBackoff,
            cont,
            Ignore,
            EndWait,
        ];
        expect_row(phase, sent, row);
    }
}

#[test]
fn a_child_that_changes_is_looked_at() {
    for phase in [Phase::NoAttempt, Phase::Running(running(Isolation::Group))] {
        assert_eq!(on_signal(phase, sent(Signal::CHLD)), LookAtChildren);
    }
    assert_eq!(on_signal(Phase::AfterExit, sent(Signal::CHLD)), Ignore);
}
