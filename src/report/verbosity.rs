//! Which events have a line at which verbosity (`-q` is -1, `-v` is 1), and how severe they are. `-q` is about standard
//! error, so with a log file it is 0.

use super::text::Sentences;
use crate::policy::classifier::Verdict;
use crate::policy::exit::Exit;
use crate::policy::limits::Until;
use crate::policy::outcome::Outcome;
use crate::policy::session::Stop;
use crate::policy::signal::Signal;
use crate::run::event::{Event, Interruption, Moment};

/// Verbosities from which an event is shown. Even `-qqq` shows [`ALWAYS`].
const ALWAYS: i16 = i16::MIN;
const QUIET: i16 = -1;
const NORMAL: i16 = 0;
const VERBOSE: i16 = 1;

/// How severe an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Plain,
    Success,
    Warning,
    Error,
}

/// Returns the severity of an event, which decides its color and kind of annotation. A retry after a success is plain,
/// because the user asked for it (`--until`). So is a signal, because somebody wanted it.
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
    /// Returns the lowest verbosity that shows an event: -1 with `-q`, 0 by default, 1 with `-v`. By default a run that
    /// succeeds at once prints nothing, and no line merely repeats the exit status. This also holds for the JSON log,
    /// except for signals.
    pub(super) fn least_verbosity(&self, moment: &Moment, event: &Event<'_>) -> i16 {
        match event {
            Event::Warning(_) | Event::Failed(_) => ALWAYS,
            // Only the JSON log has a line for this event.
            Event::Ended { outcome, .. } if outcome.could_not_start() => ALWAYS,
            Event::Stopped { attempt, .. } if self.never_started(moment, &attempt.outcome) => {
                ALWAYS
            }
            // SIGPIPE because the reader of the output is gone (`| head`). Shells are also silent about it.
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
            // The status alone does not tell that backoff took the command's end for the user's wish.
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

    /// Returns true if the command could not start and the user knows of no earlier attempt, because there was none or
    /// `-q` hid it. The line is then about the command, like that of a shell, and not about attempts.
    pub(super) fn never_started(&self, moment: &Moment, outcome: &Outcome) -> bool {
        outcome.could_not_start() && (moment.total == 1 || self.plan.output.verbosity < 0)
    }

    /// Returns true if the exit status of backoff alone (`exit`) tells why no attempt follows a signal. Without an
    /// interrupted attempt (no `outcome`), the signal kills backoff itself, unless a fault follows. Otherwise the
    /// status is 0, because the attempt succeeded anyway, or that of the signal, which killed the command or made it
    /// exit with 128+N. False if processes are still running, whatever the status.
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
