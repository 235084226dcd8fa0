//! Events of a run, for the reporter.

use std::time::Duration;

use super::before_retry_env::RefusedLines;
use super::nesting::Nesting;
use super::plan::Effective;
use crate::policy::classifier::Verdict;
use crate::policy::outcome::Outcome;
use crate::policy::session::GiveUp;
use crate::policy::signal::Signal;

/// Returns what to write of an event, line feeds included, or the text of a countdown. It changes nothing about the run.
pub(crate) type Reporter<'a> = dyn FnMut(&Moment, &Event<'_>) -> Option<String> + 'a;

/// An attempt that is over, and what it means.
#[derive(Debug)]
pub(crate) struct JudgedAttempt {
    pub(crate) outcome: Outcome,
    pub(crate) verdict: Verdict,
}

#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// All settings (`-vv`).
    Settings(&'a [Effective]),
    /// A setting or the command may not be as it was meant.
    Remark(&'a str),
    Started,
    /// A pipe on standard input is read ahead of the command, as it cannot be duplicated (`-v`).
    ReadAhead,
    Ended {
        outcome: &'a Outcome,
        /// None if a signal ended the run meanwhile.
        verdict: Option<&'a Verdict>,
    },
    /// An attempt succeeded, and must again (`--consecutive`).
    Confirming {
        outcome: &'a Outcome,
        delay: Duration,
    },
    /// The command will be run again, because the attempt failed or, with `--until`, succeeded.
    Retrying {
        attempt: &'a JudgedAttempt,
        delay: Duration,
        /// The output asked for it.
        is_asked: bool,
    },
    /// A wait goes on; the reporter returns the text for the terminal.
    Countdown {
        wait: Wait<'a>,
        left: Duration,
        columns: usize,
    },
    /// SIGUSR1 ended a wait (`-v`).
    WaitEnded,
    /// Retrying under another backoff, and `--nested warn`.
    Nested(&'a Nesting),
    Succeeded {
        flaky: bool,
        /// The limit that ended the run (`--until never`).
        ended_by: Option<(GiveUp, &'a JudgedAttempt)>,
    },
    /// `--until failure`, and an attempt failed.
    FailureCame(&'a JudgedAttempt),
    GaveUp {
        why: GiveUp,
        attempt: &'a JudgedAttempt,
    },
    /// A run of the same budget gave up not long ago: the first attempt waits (`--cool-off`).
    CoolingOff(Duration),
    /// The run ends before its first attempt, as the cool-off lasts this much longer (`--cool-off=skip`).
    Skipped(Duration),
    /// A limit on time passes before a first attempt can start.
    NoTime {
        why: GiveUp,
        /// The wait that an earlier run of the same budget left.
        cool_off: Option<Duration>,
    },
    /// Something failed, and the run goes on.
    Warning(Warning<'a>),
    /// A signal ended the run.
    Interrupted {
        signal: Signal,
        /// Facts about the attempt that ran then.
        outcome: Option<&'a Outcome>,
    },
    /// backoff itself failed. A line on standard error says so in any case.
    Failed(&'a str),
}

#[derive(Debug)]
pub(crate) enum Warning<'a> {
    /// From the plan, or from the store of the budget.
    Text(&'a str),
    /// Lines before this one could not be written.
    LinesLost,
    /// Kept output was not read by the deadline.
    OutputCutOff,
    /// The option of a hook, and how the hook ended.
    HookFailed(&'static str, &'a str),
    /// The file of `$BACKOFF_ENV` cannot be used.
    BeforeRetry(&'a str),
    /// Some lines of that file cannot be used.
    EnvLine(&'a RefusedLines),
}

/// A reason to wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait<'a> {
    /// `--initial-delay` and `--splay`.
    Start,
    /// `--cool-off`
    CoolOff,
    /// A success is to be confirmed.
    Confirm,
    /// An attempt ended otherwise than was wanted.
    Retry(&'a JudgedAttempt),
}

/// When an event happens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// The attempt that the event is about; 1 is the first.
    pub(crate) attempt: u64,
    /// All attempts so far, this one included, whatever `--reset-after` did to the count.
    pub(crate) total: u64,
    /// Time since the run began.
    pub(crate) elapsed: Duration,
    /// Time since the UNIX epoch.
    pub(crate) time_of_day: Duration,
}
