use super::*;
use crate::policy::outcome::StartFailure;

fn status(stop: Stop, end: &End, overrides: Overrides) -> Exit {
    status_until(Until::Success, stop, end, overrides)
}

fn status_until(until: Until, stop: Stop, end: &End, overrides: Overrides) -> Exit {
    super::status(Ending::Stopped { stop, end, until }, overrides)
}

fn overrides() -> Overrides {
    Overrides {
        exhausted: Some(75),
        flaky: Some(64),
        zero: CodeSet::of(24),
    }
}
const EXHAUSTED: [GiveUp; 7] = [
    GiveUp::Attempts,
    GiveUp::Deadline,
    GiveUp::StopAfter,
    GiveUp::Delay,
    GiveUp::RetryAfterTooLong,
    GiveUp::Budget {
        retries_per_mille: 98,
    },
    GiveUp::StoreDown,
];

#[test]
fn every_code_passes_through() {
    for code in 0..=255 {
        assert_eq!(Exit::Code(code).shell_status(), code);
        let end = End::Exited(code);
        let succeeded = Stop::Succeeded { flaky: false };
        assert_eq!(
            status(succeeded, &end, Overrides::default()),
            Exit::Code(code)
        );
        for why in [
            GiveUp::Permanent,
            GiveUp::NotIdempotent,
            GiveUp::Attempts,
            GiveUp::Deadline,
            GiveUp::Delay,
            GiveUp::Nested,
        ] {
            assert_eq!(
                status(Stop::GaveUp(why), &end, Overrides::default()),
                Exit::Code(code.max(1)),
                "{why:?}"
            );
        }
    }
}

#[test]
fn every_signal_passes_through() {
    for signal in (1..=31).filter_map(Signal::from_number) {
        assert_eq!(
            i32::from(Exit::Signal(signal).shell_status()),
            128 + signal.number()
        );
        let end = End::Signaled(signal);
        assert_eq!(end.signal(), Some(signal));
        let stop = Stop::GaveUp(GiveUp::Attempts);
        assert_eq!(
            status(stop, &end, Overrides::default()),
            Exit::Signal(signal)
        );
    }
}

#[test]
fn a_time_out_is_124() {
    for limit in [TimeLimit::Timeout, TimeLimit::Idle, TimeLimit::Deadline] {
        let stop = Stop::GaveUp(GiveUp::Permanent);
        assert_eq!(
            status(stop, &End::TimedOut(limit), overrides()),
            Exit::Code(124)
        );
    }
}

#[test]
fn overrides_replace_only_the_statuses_that_they_name() {
    let end = End::Exited(7);
    for why in EXHAUSTED {
        assert_eq!(status(Stop::GaveUp(why), &end, overrides()), Exit::Code(75));
    }
    for why in [GiveUp::Permanent, GiveUp::Nested, GiveUp::Stdin] {
        assert_eq!(status(Stop::GaveUp(why), &end, overrides()), Exit::Code(7));
    }
    assert_eq!(
        status(
            Stop::Succeeded { flaky: true },
            &End::Exited(0),
            overrides()
        ),
        Exit::Code(64)
    );
    for (code, shown) in [(0, 0), (24, 0), (23, 23)] {
        let succeeded = Stop::Succeeded { flaky: false };
        assert_eq!(
            status(succeeded, &End::Exited(code), overrides()),
            Exit::Code(shown)
        );
    }
}

#[test]
fn until_a_failure_only_a_failure_is_0() {
    let until = |stop, end: &End| status_until(Until::Failure, stop, end, Overrides::default());
    for end in [
        End::Exited(7),
        End::Signaled(Signal::TERM),
        End::TimedOut(TimeLimit::Idle),
    ] {
        assert_eq!(until(Stop::FailureCame, &end), Exit::Code(0));
    }
    for why in EXHAUSTED.into_iter().chain([GiveUp::Nested, GiveUp::Stdin]) {
        for end in [
            End::Exited(0),
            End::Exited(3),
            End::TimedOut(TimeLimit::Deadline),
        ] {
            assert_eq!(
                until(Stop::GaveUp(why), &end),
                Exit::Code(1),
                "{why:?} {end}"
            );
        }
    }
    // The reader of the output is gone.
    let permanent = Stop::GaveUp(GiveUp::Permanent);
    assert_eq!(until(permanent, &End::Exited(3)), Exit::Code(3));
    assert_eq!(
        until(permanent, &End::Signaled(Signal::PIPE)),
        Exit::Signal(Signal::PIPE)
    );
}

#[test]
fn output_that_was_cut_off_is_124_or_the_status_of_an_exhausted_run() {
    let cut_off = |why| {
        let ending = Ending::Stopped {
            stop: Stop::GaveUp(why),
            end: &BY_DEADLINE,
            until: Until::Success,
        };
        super::status(ending, overrides())
    };
    assert_eq!(cut_off(GiveUp::Deadline), Exit::Code(75));
    assert_eq!(cut_off(GiveUp::NotIdempotent), Exit::Code(124));
}

#[test]
fn an_interrupted_run_ends_as_its_attempt_and_finds_no_failure() {
    let interrupted = |until, end: &End| {
        let ending = Ending::AttemptInterrupted { end, until };
        let zero = [24, 126, 127]
            .map(CodeSet::of)
            .into_iter()
            .fold(CodeSet::default(), CodeSet::union);
        super::status(
            ending,
            Overrides {
                zero,
                ..overrides()
            },
        )
    };
    let killed = End::Signaled(Signal::INT);
    let not_started = |not_found| {
        End::NotStarted(StartFailure {
            not_found,
            message: String::new(),
        })
    };
    for (until, end, exit) in [
        (Until::Success, &killed, Exit::Signal(Signal::INT)),
        (Until::Success, &End::Exited(24), Exit::Code(0)),
        (Until::Success, &BY_DEADLINE, Exit::Code(124)),
        (Until::Failure, &End::Exited(0), Exit::Code(1)),
        (Until::Failure, &End::Exited(7), Exit::Code(7)),
        (Until::Success, &End::Exited(127), Exit::Code(0)),
        (Until::Success, &not_started(true), Exit::Code(127)),
        (Until::Success, &not_started(false), Exit::Code(126)),
        (Until::Failure, &not_started(true), Exit::Code(127)),
    ] {
        assert_eq!(interrupted(until, end), exit, "{until:?} {end}");
    }
}

#[test]
fn a_run_without_an_attempt_has_its_own_rows() {
    for (ending, exit) in [
        (Ending::NoAttemptInTime, Exit::Code(75)),
        (Ending::Interrupted(Signal::HUP), Exit::Signal(Signal::HUP)),
        (Ending::Fault, FAULT),
    ] {
        assert_eq!(super::status(ending, overrides()), exit, "{ending:?}");
    }
    let in_time = super::status(Ending::NoAttemptInTime, Overrides::default());
    assert_eq!(in_time, Exit::Code(124));
}
