//! The table of exit statuses, with one row for each way in which a run ends. No other code decides a status, so
//! scripts can rely on the few rules here. The status is the command's own, unless that would hide a failure or the
//! user chose another.

use crate::policy::limits::{GiveUp, Until};
use crate::policy::outcome::{End, TimeLimit};
use crate::policy::session::Stop;
use crate::policy::sets::CodeSet;
use crate::policy::signal::Signal;

/// How backoff itself ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(u8),
    /// Killed by this signal, so that the caller sees the same as from the bare command.
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

/// Exit after printing a text (`--plan`, `--help`), without a run.
pub const DONE: Exit = Exit::Code(0);

/// Exit after a failure of backoff itself: usage error, failed fork, failed write.
pub const FAULT: Exit = Exit::Code(125);

/// Statuses that the user chose in place of the command's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--exhausted-exit`, which may tell a scheduler to try again later.
    pub exhausted: Option<u8>,
    /// `--flaky-exit`
    pub flaky: Option<u8>,
    /// `--success-exit CODE=0`: codes of the command for which backoff exits with 0.
    pub zero: CodeSet,
}

/// How a run ended. Each has a row in [`status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// The run reached its goal or gave up. `end` is that of the last attempt.
    Stopped {
        stop: Stop,
        end: &'a End,
        until: Until,
    },
    /// A signal told backoff to exit during the attempt, or SIGINT or SIGQUIT killed the command. `end` is that of the
    /// attempt, or [`BY_DEADLINE`] if its kept output was cut off.
    AttemptInterrupted { end: &'a End, until: Until },
    /// A time limit passed before the first attempt could start.
    NoAttemptInTime,
    /// A signal came while no command ran (in a wait, hook or predicate, or while waiting for output). SIGPIPE means
    /// that the output lost its reader.
    Interrupted(Signal),
    /// backoff itself failed.
    Fault,
}

/// End of an attempt whose output the deadline cut off, however it ended itself. The caller has only part of it.
pub const BY_DEADLINE: End = End::TimedOut(TimeLimit::Deadline);

/// Returns the exit of a run. `overrides` are the user's choices.
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
            // The run found what it looked for, whatever the failure's own status.
            Stop::FailureCame => Exit::Code(0),
            Stop::GaveUp(why) => match overrides.for_giving_up(why) {
                Some(code) => Exit::Code(code),
                None => after_giving_up(why, end, until),
            },
        },
        Ending::AttemptInterrupted { end, until } => match as_it_ended(end, overrides.zero) {
            // With `--until failure`, 0 means that the command failed.
            Exit::Code(0) if until == Until::Failure => Exit::Code(1),
            exit => exit,
        },
        Ending::NoAttemptInTime => Exit::Code(overrides.exhausted.unwrap_or(124)),
        Ending::Interrupted(signal) => Exit::Signal(signal),
        Ending::Fault => FAULT,
    }
}

impl Overrides {
    /// Returns the status that the user chose for giving up for this reason (`--exhausted-exit`). None if there is
    /// none, or if it does not cover the reason.
    fn for_giving_up(self, why: GiveUp) -> Option<u8> {
        match why {
            GiveUp::Attempts
            | GiveUp::Deadline
            | GiveUp::StopAfter
            | GiveUp::Delay
            | GiveUp::RetryAfterTooLong
            | GiveUp::Budget { .. }
            | GiveUp::StoreDown => self.exhausted,
            // `--exhausted-exit` could make a scheduler run backoff again. The new run would fail, repeat an effect, or
            // add to the retries of an outer run.
            GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::Stdin => None,
        }
    }
}

/// Returns the exit of a run that gave up, unless an option sets it. It is the last attempt's own, but 1 for 0, which
/// would say that the goal was reached. With `--until failure` it is 1, unless a failed start or a permanent failure
/// ended the run.
fn after_giving_up(why: GiveUp, end: &End, until: Until) -> Exit {
    // A failed start keeps its own status. So does a permanent failure, which ends the run whatever its goal.
    let keeps_status = why == GiveUp::Permanent || matches!(end, End::NotStarted(_));
    if until == Until::Failure && !keeps_status {
        // The command did not fail. Always 1, because the last success may have a code of its own.
        return Exit::Code(1);
    }
    match end {
        // The run failed, or had too few successes in a row. 0 would hide that.
        End::Exited(0) => Exit::Code(1),
        // Here not even `--success-exit CODE=0` may turn the status into 0.
        _ => as_it_ended(end, CodeSet::default()),
    }
}

/// Returns the command's own end: its code or signal, else 124 or the code of a failed start. An end in `zero`
/// (`--success-exit CODE=0`, which never has `timeout`) becomes 0. A failed start is never a success, whatever its
/// code. After a signal, no verdict has ruled that out before.
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
#[path = "tests/exit.rs"]
mod tests;
