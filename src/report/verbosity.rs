//! Which events have a line, at which verbosity (`-q` is -1, `-v` is 1), and how grave they are. With a log file `-q`
//! is 0, as it is about standard error.

use super::text::Sentences;
use crate::policy::classifier::Verdict;
use crate::policy::exit::Exit;
use crate::policy::outcome::Outcome;
use crate::policy::session::{Stop, Until};
use crate::policy::signal::Signal;
use crate::run::event::{Event, Interruption, Moment};

/// Verbosities from which on an event is shown. Even `-qqq` shows what is [`ALWAYS`] shown.
const ALWAYS: i16 = i16::MIN;
const QUIET: i16 = -1;
const NORMAL: i16 = 0;
const VERBOSE: i16 = 1;

/// How grave an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Plain,
    Success,
    Warning,
    Error,
}

/// Returns how grave an event is, which decides the color and the kind of annotation. A retry after a success is what
/// the user asked for (`--until`), and no warning. A signal is what somebody wanted, and plain.
pub(super) fn level(event: &Event<'_>) -> Level {
    match event {
        Event::Retrying { attempt, .. } if attempt.verdict == Verdict::Success => Level::Plain,
        Event::Retrying { .. } | Event::Warning(_) | Event::Nested(_) => Level::Warning,
        Event::Stopped { stop, .. } if stop.gave_up().is_none() => Level::Success,
        Event::Stopped { .. } | Event::NoTimeToStart(_) | Event::Failed(_) => Level::Error,
        _ => Level::Plain,
    }
}

impl Sentences<'_> {
    /// Returns the least verbosity that shows an event: -1 with `-q`, 0 by default, 1 with `-v`. By default a run that
    /// succeeds at once prints nothing, and no line only repeats what the exit status tells. The JSON log follows it,
    /// but for signals.
    pub(super) fn least_verbosity(&self, moment: &Moment, event: &Event<'_>) -> i16 {
        match event {
            Event::Warning(_) | Event::Failed(_) => ALWAYS,
            // Only the JSON log has a line for this event.
            Event::Ended { outcome, .. } if outcome.could_not_start() => ALWAYS,
            Event::Stopped { attempt, .. } if self.never_started(moment, &attempt.outcome) => {
                ALWAYS
            }
            // SIGPIPE, as the reader of the output is gone (`| head`): shells are silent about it, too.
            Event::Ended {
                outcome,
                verdict: Some(verdict),
            } if verdict.is_silent_end(outcome) => VERBOSE,
            Event::Stopped { attempt, .. } if attempt.verdict.is_silent_end(&attempt.outcome) => {
                VERBOSE
            }
            Event::Stopped { stop, .. } => match stop {
                Stop::Succeeded { flaky: false } => VERBOSE,
                Stop::GaveUp(_) => QUIET,
                Stop::Succeeded { flaky: true } | Stop::FailureCame | Stop::EndedOnSuccess(_) => {
                    NORMAL
                }
            },
            Event::NoTimeToStart(_) => QUIET,
            Event::Started | Event::ReadAhead | Event::Confirming { .. } | Event::WaitSkipped => {
                VERBOSE
            }
            // The status alone does not tell that backoff took the command's end for a wish of the user.
            Event::Interrupted {
                by: Interruption::OfCommand,
                ..
            } => NORMAL,
            Event::Interrupted {
                signal,
                outcome,
                exit,
                ..
            } if self.is_obvious_interruption(*signal, *outcome, *exit) => VERBOSE,
            _ => NORMAL,
        }
    }

    /// Returns true if the command could not start, and the user knows of no earlier attempt: there was none, or `-q`
    /// hid it. The line then speaks of the command, as that of a shell does, and not of attempts.
    pub(super) fn never_started(&self, moment: &Moment, outcome: &Outcome) -> bool {
        outcome.could_not_start() && (moment.total == 1 || self.plan.output.verbosity < 0)
    }

    /// Returns true if the exit status of backoff alone (`exit`) tells why no attempt follows a signal. Without an
    /// interrupted attempt (no `outcome`), backoff itself dies by the signal, unless a fault follows. Else the status
    /// is 0, as the attempt has succeeded all the same, or that of the signal, by which the command died or after which
    /// it exited with 128 + its number. False if processes still run, whatever the status.
    fn is_obvious_interruption(
        &self,
        signal: Signal,
        outcome: Option<&Outcome>,
        exit: Exit,
    ) -> bool {
        let Some(outcome) = outcome else {
            return exit == Exit::Signal(signal);
        };
        // A line has to name these processes.
        if !outcome.survivors.is_empty() {
            return false;
        }
        match exit {
            Exit::Signal(cause) => cause == signal,
            // With another goal, 0 does not tell why the run ended.
            Exit::Code(0) => self.plan.limits.until == Until::Success,
            Exit::Code(code) => code == signal.shell_status(),
        }
    }
}
