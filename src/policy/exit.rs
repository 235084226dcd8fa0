//! The table of exit statuses: one row for each way in which a run ends. No other code decides a status, so that a
//! script can rely on the few rules here: the command's own status, unless that would hide a failure or the user chose
//! another.

use crate::policy::outcome::{End, TimeLimit};
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

/// Exit without a run, after a text that was asked for (`--plan`, `--help`).
pub const DONE: Exit = Exit::Code(0);

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

/// A way in which a run ends. Each has a row in [`status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// The run reached its goal or gave up, after a last attempt that ended with `end`.
    Stopped {
        stop: Stop,
        end: &'a End,
        until: Until,
    },
    /// A signal asked backoff to end during the attempt, or INT or QUIT ended the command. `end` is that of the
    /// attempt, or [`BY_DEADLINE`] if its kept output was cut off.
    AttemptInterrupted { end: &'a End, until: Until },
    /// A limit on time passed before the first attempt could start.
    NoAttemptInTime,
    /// A signal came while no command ran (in a wait, hook or predicate, or while output was awaited), or PIPE as the
    /// output has lost its reader.
    Interrupted(Signal),
    /// backoff itself failed.
    Fault,
}

/// End of an attempt whose output the deadline cut off, whatever end it had: the caller has only a part.
pub const BY_DEADLINE: End = End::TimedOut(TimeLimit::Deadline);

/// Returns the exit of a run: the table of all ways in which a run ends. `overrides` hold what the user chose in place
/// of the command's own status.
pub fn status(ending: Ending<'_>, overrides: Overrides) -> Exit {
    match ending {
        Ending::Stopped { stop, end, until } => match stop {
            Stop::Succeeded { flaky: true } => match overrides.flaky {
                Some(code) => Exit::Code(code),
                None => as_it_ended(end, overrides.zero),
            },
            Stop::Succeeded { flaky: false } | Stop::EndedOnSuccess(_) => {
                as_it_ended(end, overrides.zero)
            }
            // The run has found what it looked for, whatever the failure's own status.
            Stop::FailureCame => Exit::Code(0),
            Stop::GaveUp(why) => match overrides.for_giving_up(why) {
                Some(code) => Exit::Code(code),
                None => after_giving_up(why, end, until),
            },
        },
        Ending::AttemptInterrupted { end, until } => match as_it_ended(end, overrides.zero) {
            // With `--until failure`, 0 says that a failure came.
            Exit::Code(0) if until == Until::Failure => Exit::Code(1),
            exit => exit,
        },
        Ending::NoAttemptInTime => Exit::Code(overrides.exhausted.unwrap_or(124)),
        Ending::Interrupted(signal) => Exit::Signal(signal),
        Ending::Fault => FAULT,
    }
}

impl Overrides {
    /// Returns the status that the user has chosen for a run that gives up for this reason (`--exhausted-exit`); None
    /// if none is chosen, or the choice does not cover the reason.
    fn for_giving_up(self, why: GiveUp) -> Option<u8> {
        match why {
            GiveUp::Attempts
            | GiveUp::Deadline
            | GiveUp::StopAfter
            | GiveUp::Delay
            | GiveUp::RetryAfterTooLong
            | GiveUp::Budget { .. }
            | GiveUp::StoreDown => self.exhausted,
            // The status of `--exhausted-exit` could make a scheduler run backoff again. The new run would fail, repeat
            // an effect, or add to the retries of an outer run.
            GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::Stdin => None,
        }
    }
}

/// Returns the exit of a run that gave up, if no option of the user sets it: the last attempt's own, but 1 in place of
/// a 0, which would say that the goal was reached. With `--until failure`, 1 unless a failed start or a permanent
/// failure ended the run.
fn after_giving_up(why: GiveUp, end: &End, until: Until) -> Exit {
    // A failed start, and a permanent failure, which ends the run whatever its goal, keep their own status.
    let keeps_status = why == GiveUp::Permanent || matches!(end, End::NotStarted(_));
    if until == Until::Failure && !keeps_status {
        // No failure came: always 1, as the last success may have a code of its own.
        return Exit::Code(1);
    }
    match end {
        // The run failed, or had too few successes in a row; 0 would hide that.
        End::Exited(0) => Exit::Code(1),
        // Not even `--success-exit CODE=0` may turn the status into 0 then.
        _ => as_it_ended(end, CodeSet::default()),
    }
}

/// Returns the command's own end: its code, or death by its signal; without either, 124 or the code of a failed start.
/// An end in `zero` (`--success-exit CODE=0`, which never has `timeout`) is a 0. A failed start is no success, whatever
/// its code, also after a signal, when no verdict has said so before.
fn as_it_ended(end: &End, zero: CodeSet) -> Exit {
    let has_started = !matches!(end, End::NotStarted(_));
    if has_started && zero.contains_end(end) {
        return Exit::Code(0);
    }
    match end {
        End::Signaled(signal) => Exit::Signal(*signal),
        End::Exited(_) | End::TimedOut(_) | End::NotStarted(_) | End::Unended => {
            Exit::Code(end.shell_status())
        }
    }
}

#[cfg(test)]
mod tests;
