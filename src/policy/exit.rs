//! The table of exit statuses, as one match.

use crate::policy::outcome::End;
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
    /// `--exhausted-exit`: may tell a scheduler to try again later.
    pub exhausted: Option<u8>,
    /// `--flaky-exit`
    pub flaky: Option<u8>,
    /// `--success-exit CODE=0`: successes whose status is 0.
    pub zero: CodeSet,
}

/// Returns the exit of a run that ended with `stop` after an attempt that ended with `end`: the status that an option
/// sets for this case, otherwise the attempt's own, unless that would mislead.
pub fn status(until: Until, stop: Stop, end: &End, overrides: Overrides) -> Exit {
    let chosen = match stop {
        Stop::Succeeded { flaky: true } => overrides.flaky,
        Stop::GaveUp(
            GiveUp::Attempts
            | GiveUp::Deadline
            | GiveUp::StopAfter
            | GiveUp::Delay
            | GiveUp::RetryAfterTooLong
            | GiveUp::Budget(_)
            | GiveUp::StoreDown,
        ) => overrides.exhausted,
        // The status of `--exhausted-exit` could make a scheduler run backoff again. The new run would fail, repeat an
        // effect, or add to the retries of an outer run.
        Stop::GaveUp(
            GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::Stdin,
        ) => None,
        Stop::Succeeded { flaky: false } | Stop::FailureCame | Stop::Ended(_) => None,
    };
    if let Some(code) = chosen {
        return Exit::Code(code);
    }
    match (stop, end) {
        (Stop::FailureCame, _) => Exit::Code(0),
        // No failure came: always 1, as the last success may have a code of its own. A failed start, and a permanent
        // failure, which ends the run whatever its goal, keep their status.
        (Stop::GaveUp(why), end)
            if until == Until::Failure
                && why != GiveUp::Permanent
                && !matches!(end, End::NotStarted(_)) =>
        {
            Exit::Code(1)
        }
        (Stop::Succeeded { .. } | Stop::Ended(_), _) => as_it_ended(end, overrides.zero),
        // The run failed, or had too few successes in a row; 0 would hide that.
        (Stop::GaveUp(_), End::Exited(0)) => Exit::Code(1),
        _ => as_it_ended(end, CodeSet::default()),
    }
}

/// Returns the exit if the deadline passed before the first attempt could start.
pub fn no_attempt_in_time(overrides: Overrides) -> Exit {
    Exit::Code(overrides.exhausted.unwrap_or(124))
}

/// Returns the command's own end, unchanged, or 0 for one of the successes `zero`.
pub fn as_it_ended(end: &End, zero: CodeSet) -> Exit {
    match end {
        _ if zero.contains_end(end) => Exit::Code(0),
        End::Signaled(signal) => Exit::Signal(*signal),
        End::Exited(_) | End::TimedOut(_) | End::NotStarted(_) | End::Unended => {
            Exit::Code(end.shell_status())
        }
    }
}

#[cfg(test)]
mod tests;
