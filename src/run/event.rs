//! What a run tells its observers.

use std::time::Duration;

use super::plan::{Effective, Nesting};
use crate::policy::classifier::Verdict;
use crate::policy::outcome::Outcome;
use crate::policy::session::GiveUp;
use crate::policy::signal::Signal;

/// What happened, for observers.
#[derive(Debug)]
pub enum Event<'a> {
    /// What holds for the run, setting by setting (`-vv`).
    Settings(&'a [Effective]),
    /// Something may not be as it was meant (`-v`).
    Remark(&'a str),
    /// An attempt is about to start.
    Started,
    /// An attempt has ended.
    Ended {
        /// How.
        outcome: &'a Outcome,
        /// What it means; None of one that was interrupted, which nobody judges.
        verdict: Option<&'a Verdict>,
    },
    /// An attempt succeeded, and must again (`--consecutive`).
    Confirming {
        /// The wait before the next one.
        delay: Duration,
    },
    /// An attempt failed and the command will be run again.
    Retrying {
        /// How it failed.
        outcome: &'a Outcome,
        /// What decided that the failure is transient.
        verdict: &'a Verdict,
        /// The wait before the next one.
        delay: Duration,
    },
    /// Retrying under another backoff, and `--nested warn`.
    Nested(Nesting),
    /// The run succeeded.
    Succeeded {
        /// Whether an attempt had failed before.
        flaky: bool,
    },
    /// The run failed.
    GaveUp {
        /// Why it is not run again.
        why: GiveUp,
        /// How the last attempt ended.
        outcome: &'a Outcome,
        /// What decided that the failure is permanent, if it is.
        verdict: &'a Verdict,
    },
    /// A run of the same budget gave up not long ago: the first attempt waits (`--cool-off`).
    CoolingOff(Duration),
    /// The deadline passes before a first attempt can start.
    NoTime {
        /// What had to be waited out first.
        cool_off: Option<Duration>,
    },
    /// Something is not as it should be, and the run goes on.
    Warning(String),
    /// A signal ended the run.
    Interrupted(Signal),
    /// backoff itself failed. Standard error is told, whatever observers make of it.
    Failed(&'a str),
}

/// Where a run stands when an event happens.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The attempt that the event is about; 1 is the first.
    pub attempt: u64,
    /// All attempts so far, this one included, whatever `--reset-after` did to the count.
    pub total: u64,
    /// Time since the run began.
    pub elapsed: Duration,
    /// Time since the UNIX epoch.
    pub time_of_day: Duration,
}
