use super::*;
use crate::policy::budget::Counts;
use crate::policy::outcome::TimeLimit;

fn status(stop: Stop, end: &End, overrides: Overrides) -> Exit {
    super::status(Until::Success, stop, end, overrides)
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
    GiveUp::Budget(Counts {
        attempts: 10,
        retries: 9,
    }),
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
        let stop = Stop::GaveUp(GiveUp::Attempts);
        assert_eq!(
            status(stop, &End::Signaled(signal), Overrides::default()),
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
    let until = |stop, end: &End| super::status(Until::Failure, stop, end, Overrides::default());
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
