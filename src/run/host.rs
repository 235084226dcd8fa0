//! What a run needs of the world.

use std::borrow::Cow;
use std::ffi::OsString;
use std::time::Duration;

use super::plan::{Bounds, SharedBudget};
use crate::policy::budget::{Answer, Question};
use crate::policy::outcome::Outcome;
use crate::policy::signal::Signal;

/// Name and value.
pub(crate) type Variable = (Cow<'static, str>, OsString);

#[derive(Debug)]
pub(crate) struct AttemptSpec {
    pub(crate) bounds: Bounds,
    /// `--deadline`, counted from the start of the run.
    pub(crate) deadline: Option<Duration>,
    /// What the command's environment has besides backoff's own.
    pub(crate) variables: Vec<Variable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) outcome: Outcome,
    /// The first TERM, INT, HUP or QUIT that backoff got meanwhile: no new attempt starts.
    pub(crate) interrupted: Option<Signal>,
}

/// The content of the file that BACKOFF_ENV names; errors are messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EnvLines {
    Read(Vec<u8>),
    /// The file could not be created, so BACKOFF_ENV was empty.
    NoFile(String),
    /// The file was created and cannot be read now.
    Unreadable(String),
}

/// Why a run ends without a decision of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunError {
    /// TERM, INT, HUP or QUIT between two attempts.
    Interrupted(Signal),
    /// backoff itself failed; what a person should read.
    Fault(String),
}

/// The answer of a budget, if there is one, and a warning if something is wrong with its store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BudgetAnswer {
    pub(crate) answer: Option<Answer>,
    pub(crate) warning: Option<String>,
}

/// The world: processes, signals and the clock. Effects only, no decisions.
pub(crate) trait Host {
    /// Time since the run began.
    fn elapsed(&self) -> Duration;
    /// Runs the command once and waits for its end.
    fn attempt(&mut self, spec: &AttemptSpec) -> Result<Attempt, RunError>;
    /// Another attempt is to follow the one that has ended: what that has left at the terminal is undone.
    fn tidy_terminal(&mut self);
    /// Time since the UNIX epoch; it may jump.
    fn time_of_day(&self) -> Duration;
    /// Waits until this much time has passed, handling signals. Meanwhile `shown` says, for the time that is left,
    /// what a person at the terminal may see of it, in so many columns. False if a signal (USR1) has ended the wait, and not the run.
    fn wait(&mut self, delay: Duration, shown: Option<&dyn Fn(Duration, usize) -> String>) -> Result<bool, RunError>;
    /// Asks a predicate about the attempt that has just ended: it gets all of the output.
    fn ask(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError>;
    /// Runs a shell command that is told of something: it gets no terminal, and no input but the end of the output.
    fn hook(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError>;
    /// Runs the shell command that prepares the next attempt, and reads the file that BACKOFF_ENV names for it.
    fn prepare(&mut self, shell: &str, spec: AttemptSpec) -> Result<(Attempt, EnvLines), RunError>;
    /// The run is over: prints what was kept of the output. Whether all of it was read by the deadline.
    fn release(&mut self, succeeded: bool) -> Result<bool, RunError>;
    /// Drops held messages of backoff, as the run has succeeded (`--stderr failure`).
    fn discard_held_messages(&mut self);
    /// Begins to count an attempt that is no retry, while it runs.
    fn begin_counting(&mut self, budget: &SharedBudget);
    /// Waits until it is counted, for at most this long from the beginning. Empty if nothing was begun.
    fn counted(&mut self, budget: &SharedBudget, patience: Duration) -> Result<BudgetAnswer, RunError>;
    /// Asks the budget and waits for the answer for at most this long, handling signals.
    fn ask_budget(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError>;
    /// Writes lines to the log, which is standard error unless `--log-file` names another; that it cannot is
    /// no error.
    fn write_log(&mut self, lines: &str) -> Result<(), RunError>;
    /// Whether lines are missing before the next ones, as nobody had read them when there was no more time.
    fn has_lost_lines(&self) -> bool;
}
