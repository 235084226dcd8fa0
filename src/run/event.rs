//! Events of a run, for the reporter.

use std::time::Duration;

use super::plan::Nesting;
use crate::policy::classifier::Verdict;
use crate::policy::exit::Exit;
use crate::policy::limits::GiveUp;
use crate::policy::outcome::Outcome;
use crate::policy::session::Stop;
use crate::policy::signal::Signal;

/// Warning before the first line after lost lines.
pub(crate) const LINES_LOST: &str =
    "earlier lines were lost because standard error was not read in time";

/// Returns the lines about an event with newlines, or the text of a countdown. None if it prints nothing. Does not
/// affect the run.
pub(crate) type DescribeEvent<'a> = dyn FnMut(&Moment, &Event<'_>) -> Option<String> + 'a;

#[derive(Debug)]
pub(crate) struct JudgedAttempt {
    pub(crate) outcome: Outcome,
    pub(crate) verdict: Verdict,
}

#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// A setting or command that may be a mistake. With `-vv`, also each setting.
    Remark(&'a str),
    Started,
    /// A pipe on standard input cannot be duplicated, so backoff reads ahead of the command (`-v`).
    ReadAhead,
    Ended {
        outcome: &'a Outcome,
        /// None if a signal or a fault of backoff ended the run before the attempt was judged.
        verdict: Option<&'a Verdict>,
    },
    /// An attempt succeeded, and the next one must also succeed (`--consecutive`).
    Confirming {
        outcome: &'a Outcome,
        delay: Duration,
    },
    /// Another attempt follows a failure or, with `--until`, a success.
    Retrying {
        attempt: &'a JudgedAttempt,
        delay: Duration,
        /// The output asked for a wait, which made the delay longer than the one drawn.
        is_asked: bool,
    },
    /// A wait is in progress. The reporter returns the text for the terminal.
    Countdown {
        wait: Wait<'a>,
        left: Duration,
        columns: usize,
    },
    /// SIGUSR1 ended a wait (`-v`).
    WaitSkipped,
    /// Retries under another backoff, with `--nested warn`.
    Nested(&'a Nesting),
    /// The run ended after its last attempt.
    Stopped {
        stop: Stop,
        attempt: &'a JudgedAttempt,
    },
    /// A time limit passed before the first attempt could start.
    NoTimeToStart(GiveUp),
    /// A failure that does not end the run.
    Warning(&'a str),
    /// A signal ended the run.
    Interrupted {
        signal: Signal,
        by: Interruption,
        /// The outcome of the attempt that the signal interrupted, if any.
        outcome: Option<&'a Outcome>,
        /// How backoff ends after that.
        exit: Exit,
    },
    /// backoff itself failed. Standard error always gets a line as well.
    Failed(&'a str),
}

/// How a signal ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// backoff received the signal.
    OfBackoff,
    /// backoff received the signal after the command exited by itself, while waiting for output of other processes.
    AfterCommand,
    /// SIGINT or SIGQUIT killed only the command, which may have a terminal of its own.
    OfCommand,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait<'a> {
    /// `--initial-delay` and `--splay`.
    Start,
    /// To confirm a success.
    Confirm,
    /// An attempt did not reach the goal of the run.
    Retry(&'a JudgedAttempt),
}

/// Time and attempt of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Attempt of the event, 1 for the first. For a countdown, the attempt that follows.
    pub(crate) attempt: u64,
    /// Attempts begun so far, including those before a reset (`--reset-after`).
    pub(crate) total: u64,
    /// Time since the run began.
    pub(crate) elapsed: Duration,
    /// Time since the UNIX epoch.
    pub(crate) time_of_day: Duration,
}
