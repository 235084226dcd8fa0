//! The interface between a run and the operating system. A run sees and changes the system only through it, so tests
//! can replace the system with a script.

use std::io;
use std::time::Duration;

use super::event::Interruption;
use super::plan::{AttemptLimits, SharedBudget};
use super::variable_list::VariableList;
use crate::policy::budget::Answer;
use crate::policy::outcome::Outcome;
use crate::policy::signal::Signal;
use crate::search::examined::Examined;
use crate::text::describe_error;

/// Limits and variables for one run of the command, a predicate or a hook.
#[derive(Debug)]
pub(crate) struct AttemptSpec {
    pub(crate) attempt_limits: AttemptLimits,
    /// `--deadline`, counted from the start of the run. Later for `--on-give-up`.
    pub(crate) deadline: Option<Duration>,
    /// Variables added to backoff's own environment.
    pub(crate) variables: VariableList,
}

/// A finished attempt of the command, or a finished predicate or hook.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) outcome: Outcome,
    pub(crate) interrupted: Option<Interrupted>,
}

/// The first signal that told backoff to exit during an attempt: SIGTERM, SIGINT, SIGHUP, SIGQUIT, or a timer's
/// SIGALRM. No new attempt starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupted {
    pub(crate) signal: Signal,
    pub(crate) by: Interruption,
}

impl Attempt {
    /// Returns the outcome of a hook or predicate, or an error if a signal came while it ran, which ends the run.
    pub(super) fn outcome_unless_interrupted(self) -> RunResult<Outcome> {
        match self.interrupted {
            Some(Interrupted { signal, .. }) => Err(RunError::Interrupted(signal)),
            None => Ok(self.outcome),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShellKind {
    /// `--success-if`, `--retry-if`: reads all output of the last attempt.
    Predicate,
    /// `--on-retry`, `--on-give-up`: reads the end of the output, and has no terminal.
    Hook,
    /// `--before-retry`: reads the end of the output.
    BeforeRetry,
}

/// The result of a step of a run. An error ends the run at once.
pub(crate) type RunResult<T> = Result<T, RunError>;

/// How a run ends other than by a decision.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RunError {
    /// A signal between two attempts that told backoff to exit: SIGTERM, SIGINT, SIGHUP, SIGQUIT, or a timer's SIGALRM.
    /// Or SIGPIPE, if the output lost its reader.
    Interrupted(Signal),
    /// backoff itself failed, with the message.
    Fault(String),
}

impl RunError {
    /// Turns a system error into a fault of backoff.
    pub(crate) fn of_system(what: &str, error: &io::Error) -> RunError {
        RunError::Fault(format!("{what}: {}", describe_error(error)))
    }
}

/// How the run ended, by which `--stdout` and `--stderr` print or drop kept output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndOfRun {
    /// The run succeeded. With `--until failure`, or if a signal ended the run during the last attempt, that attempt
    /// did.
    Good,
    /// Any other end, even one before the first attempt.
    Failed,
}

/// The result of printing kept output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printed {
    /// The reader took all of the command's output, or none was to be printed.
    Complete,
    /// The reader took too long: past the deadline or, after a signal, past a grace period. The rest is lost.
    CutOff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// Time is up, or the deadline has come.
    Elapsed,
    /// SIGUSR1 ended the wait early.
    Skipped,
}

/// Time that a server may always take to answer, even past the run's deadline.
pub(crate) const STORE_TIMEOUT: Duration = Duration::from_millis(250);

/// A budget's answer, if any, and a warning if its store has a problem.
#[derive(Debug, Default)]
pub(crate) struct BudgetAnswer {
    pub(crate) answer: Option<Answer>,
    pub(crate) warning: Option<String>,
}

/// Processes, signals and the clock. Effects only, no decisions.
pub(crate) trait Host {
    /// Returns the time since the run began.
    fn elapsed(&self) -> Duration;
    /// Returns the time since the UNIX epoch, which may jump.
    fn time_of_day(&self) -> Duration;
    /// Runs the command once and waits for its end. Runs nothing if the deadline comes before the start, which may
    /// happen while input is read first. The outcome is then a timeout. An error is a signal before the start, or a
    /// fault of backoff. If a budget is given, it counts the attempt while that runs. No other count may be pending.
    fn attempt(
        &mut self,
        spec: &AttemptSpec,
        counted_in: Option<&SharedBudget>,
    ) -> RunResult<Attempt>;
    /// Returns what rules may ask about the last attempt's output, and forgets it.
    fn take_examined(&mut self) -> Examined;
    /// Restores the terminal modes from before the first attempt.
    fn tidy_terminal(&mut self);
    /// Waits, handling signals, until `delay` has passed, the deadline comes or SIGUSR1 arrives. `countdown_text`
    /// returns the text for the time left and a number of columns.
    fn wait(
        &mut self,
        delay: Duration,
        countdown_text: &dyn Fn(Duration, usize) -> String,
    ) -> RunResult<WaitEnd>;
    /// Runs a predicate or hook, the command line `shell`, in a shell, and waits for its end. An error is a fault of
    /// backoff, or a signal that arrived before the start. A signal that came meanwhile is in the result.
    fn run_shell(&mut self, kind: ShellKind, shell: &str, spec: &AttemptSpec)
    -> RunResult<Attempt>;
    /// Prints or drops kept output at the end of the run, and forgets it even after an error.
    fn print_kept(&mut self, end: EndOfRun) -> RunResult<Printed>;
    /// Drops later messages of backoff with `--stderr failure`, because the run succeeded.
    fn drop_later_messages(&mut self);
    /// Waits until the last attempt that a budget counts is counted, if that is not known yet, handling signals. A
    /// server has `patience` for that from the start of the count.
    fn finish_counting(
        &mut self,
        budget: &SharedBudget,
        patience: Duration,
    ) -> RunResult<BudgetAnswer>;
    /// Asks the budget for a retry, and waits for the answer, handling signals. A server has `patience` for it. No
    /// count may be pending.
    fn ask_budget(&mut self, budget: &SharedBudget, patience: Duration) -> RunResult<BudgetAnswer>;
    /// Appends lines to the log: standard error or `--log-file`. Failing to write it is not an error.
    fn write_log(&mut self, lines: &str) -> RunResult<()>;
    /// Returns true if earlier lines were lost, because standard error was not read in time.
    fn has_lost_lines(&self) -> bool;
}
