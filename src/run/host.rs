//! The world that a run needs.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::signal::Signal;

/// What ends an attempt that does not end by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// `--timeout`: bound on one attempt.
    pub timeout: Option<Duration>,
    /// `--idle-timeout`: bound on silence.
    pub idle: Option<Duration>,
    /// `--signal`: what a bound sends first.
    pub signal: Signal,
    /// `--kill-after`: from that signal to KILL; None is never.
    pub kill_after: Option<Duration>,
    /// From a passed-on TERM, INT, HUP or QUIT to KILL: only where `--kill-after` was given.
    pub kill_passed_on_after: Option<Duration>,
}

impl Bounds {
    /// For what is run beside the command: its bounds on one attempt do not apply.
    pub fn without_those_of_an_attempt(&self) -> Bounds {
        Bounds {
            timeout: None,
            idle: None,
            ..self.clone()
        }
    }
}

/// One attempt to be made.
#[derive(Debug)]
pub struct Order {
    /// What ends it.
    pub bounds: Bounds,
    /// `--deadline`, counted from the start of the run.
    pub deadline: Option<Duration>,
    /// What the command's environment has besides backoff's own: name and value.
    pub variables: Vec<(&'static str, String)>,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// How it ended.
    pub outcome: Outcome,
    /// The first TERM, INT, HUP or QUIT that backoff got meanwhile: no new attempt starts.
    pub interrupted: Option<Signal>,
}

/// Why a run ends without a decision of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// TERM, INT, HUP or QUIT between two attempts.
    Interrupted(Signal),
    /// backoff itself failed; what a person should read.
    Fault(String),
}

/// The world: processes, signals and the clock. Effects only, no decisions.
pub trait Host {
    /// Time since the run began.
    fn elapsed(&self) -> Duration;
    /// Runs the command once and waits for its end.
    fn attempt(&mut self, order: &Order) -> Result<Attempt, Cut>;
    /// The time since the UNIX epoch, as this machine has it; it may jump.
    fn time_of_day(&self) -> Duration;
    /// Waits until this much time has passed, hearing signals. Meanwhile `shown` says, for the time that is left,
    /// what a person at the terminal may see of it.
    fn wait(&mut self, delay: Duration, shown: Option<&dyn Fn(Duration) -> String>) -> Result<(), Cut>;
    /// Asks the shell command of `--retry-if` about the attempt that has just ended.
    fn ask(&mut self, shell: &str, order: &Order) -> Result<Attempt, Cut>;
    /// Runs a shell command that is told of something: it gets no input and no terminal.
    fn hook(&mut self, shell: &str, order: &Order) -> Result<Attempt, Cut>;
    /// The run is over: prints what was kept of the output.
    fn release(&mut self, succeeded: bool) -> Result<(), Cut>;
    /// Does what may block for long, hearing signals. An error if it takes longer than this, or cannot be begun:
    /// what a person should read.
    fn aside<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Result<T, String>, Cut>;
    /// Writes lines to the log, which is standard error unless `--log-file` names another; that it cannot is
    /// no error.
    fn say(&mut self, lines: &str) -> Result<(), Cut>;
}
