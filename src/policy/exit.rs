//! The table of exit statuses, as one match.

use crate::policy::outcome::{Bound, End};
use crate::policy::session::{GiveUp, Stop, Until};
use crate::policy::sets::CodeSet;
use crate::policy::signal::Signal;

/// End of backoff itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(u8),
    /// Death by this signal, so that the caller sees the same as from the bare command.
    Signal(Signal),
}

impl Exit {
    /// Returns the number that a shell shows in `$?`.
    pub fn shell_status(self) -> u8 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => signal.shell_status(),
        }
    }
}

/// Exit after a failure of backoff itself: usage error, failed fork, failed write.
pub const FAULT: Exit = Exit::Code(125);

/// Statuses chosen by the user in place of the command's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--exhausted-exit`
    pub exhausted: Option<u8>,
    /// `--flaky-exit`
    pub flaky: Option<u8>,
    /// `--skipped-exit`
    pub skipped: u8,
    /// `--success-exit CODE=0`: successes whose status is 0.
    pub zero: CodeSet,
}

/// Returns the exit of a run that ended with `stop` after an attempt that ended with `end`.
pub fn status(until: Until, stop: Stop, end: &End, overrides: Overrides) -> Exit {
    let own = match stop {
        Stop::Succeeded { flaky: true } => overrides.flaky.map(Exit::Code),
        Stop::FailureCame => Some(Exit::Code(0)),
        Stop::GaveUp(
            GiveUp::Attempts
            | GiveUp::Deadline
            | GiveUp::StopAfter
            | GiveUp::Delay
            | GiveUp::RetryAfterTooLong
            | GiveUp::Budget(_)
            | GiveUp::StoreDown,
        ) => overrides.exhausted.map(Exit::Code),
        Stop::Succeeded { flaky: false } | Stop::Ended(_) => None,
        // An outer scheduler must not try later, or an outer run goes on.
        Stop::GaveUp(GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::Stdin) => None,
    };
    own.unwrap_or_else(|| match (stop, end) {
        // No failure came. 0 would say that one did, whatever code a success has.
        (Stop::GaveUp(why), End::Exited(_) | End::Signaled(_) | End::TimedOut(Bound::Deadline))
            if until == Until::Failure && why != GiveUp::Permanent =>
        {
            Exit::Code(1)
        }
        (Stop::Succeeded { .. } | Stop::Ended(_), end) if overrides.zero.contains_end(end) => Exit::Code(0),
        // The attempt was judged a failure; 0 would hide that.
        (Stop::GaveUp(_), End::Exited(0)) => Exit::Code(1),
        _ => as_it_ended(end),
    })
}

/// Returns the exit if the deadline passed before the first attempt could start.
pub fn no_attempt_in_time(overrides: Overrides) -> Exit {
    Exit::Code(overrides.exhausted.unwrap_or(124))
}

/// Returns the exit of a run that a cool-off skipped (`--cool-off=skip`).
pub fn skipped(overrides: Overrides) -> Exit {
    Exit::Code(overrides.skipped)
}

/// Returns the command's own end, unchanged.
pub fn as_it_ended(end: &End) -> Exit {
    match end {
        End::Signaled(signal) => Exit::Signal(*signal),
        End::Exited(_) | End::TimedOut(_) | End::NotStarted(_) => Exit::Code(end.shell_status()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::budget::Counts;

    fn status(stop: Stop, end: &End, overrides: Overrides) -> Exit {
        super::status(Until::Success, stop, end, overrides)
    }

    fn overrides() -> Overrides {
        Overrides {
            exhausted: Some(75),
            flaky: Some(64),
            skipped: 75,
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
            assert_eq!(status(succeeded, &end, Overrides::default()), Exit::Code(code));
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
            assert_eq!(i32::from(Exit::Signal(signal).shell_status()), 128 + signal.number());
            let stop = Stop::GaveUp(GiveUp::Attempts);
            assert_eq!(
                status(stop, &End::Signaled(signal), Overrides::default()),
                Exit::Signal(signal)
            );
        }
    }

    #[test]
    fn a_time_out_is_124() {
        for bound in [Bound::Timeout, Bound::Idle, Bound::Deadline] {
            let stop = Stop::GaveUp(GiveUp::Permanent);
            assert_eq!(status(stop, &End::TimedOut(bound), overrides()), Exit::Code(124));
        }
    }

    #[test]
    fn overrides_hold_where_they_speak_and_nowhere_else() {
        let end = End::Exited(7);
        for why in EXHAUSTED {
            assert_eq!(status(Stop::GaveUp(why), &end, overrides()), Exit::Code(75));
        }
        for why in [GiveUp::Permanent, GiveUp::Nested, GiveUp::Stdin] {
            assert_eq!(status(Stop::GaveUp(why), &end, overrides()), Exit::Code(7));
        }
        assert_eq!(
            status(Stop::Succeeded { flaky: true }, &End::Exited(0), overrides()),
            Exit::Code(64)
        );
        for (code, shown) in [(0, 0), (24, 0), (23, 23)] {
            let succeeded = Stop::Succeeded { flaky: false };
            assert_eq!(status(succeeded, &End::Exited(code), overrides()), Exit::Code(shown));
        }
    }

    #[test]
    fn until_a_failure_only_a_failure_is_0() {
        let until = |stop, end: &End| super::status(Until::Failure, stop, end, Overrides::default());
        for end in [End::Exited(7), End::Signaled(Signal::TERM), End::TimedOut(Bound::Idle)] {
            assert_eq!(until(Stop::FailureCame, &end), Exit::Code(0));
        }
        for why in EXHAUSTED.into_iter().chain([GiveUp::Nested, GiveUp::Stdin]) {
            for end in [End::Exited(0), End::Exited(3), End::TimedOut(Bound::Deadline)] {
                assert_eq!(until(Stop::GaveUp(why), &end), Exit::Code(1), "{why:?} {end}");
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
}
