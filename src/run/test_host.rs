//! A host without processes, in which time is just a number. A whole run takes microseconds, with the real loop,
//! session and delays.

use std::time::{Duration, SystemTime};

use super::host::{
    Attempt, AttemptSpec, BudgetAnswer, EndOfRun, Host, Printed, RunError, RunResult, ShellKind,
    WaitEnd,
};
use super::plan::SharedBudget;
use crate::policy::outcome::{End, Outcome};
use crate::search::examined::Examined;

/// A host that plays a script.
#[derive(Debug)]
pub(crate) struct Script<I> {
    attempts: I,
    now: Duration,
    /// Requested waits, in order.
    pub(crate) waits: Vec<Duration>,
    /// All lines of the log.
    pub(crate) said: String,
}

impl<I: Iterator<Item = (End, Duration)>> Script<I> {
    /// Returns a host whose attempts end as listed, each after the given time. An attempt past the end of the list is a
    /// [`RunError::Fault`], so that an endless run is noticed.
    pub(crate) fn new(attempts: I) -> Script<I> {
        Script {
            attempts,
            now: Duration::ZERO,
            waits: Vec::new(),
            said: String::new(),
        }
    }
}

impl<I: Iterator<Item = (End, Duration)>> Host for Script<I> {
    fn elapsed(&self) -> Duration {
        self.now
    }

    /// Plays the next attempt of the script. Only the clock moves.
    fn attempt(&mut self, _: &AttemptSpec, _: Option<&SharedBudget>) -> RunResult<Attempt> {
        let (end, ran) = self
            .attempts
            .next()
            .ok_or_else(|| RunError::Fault("the script is over".into()))?;
        self.now = self.now.saturating_add(ran);
        Ok(Attempt {
            outcome: Outcome::new(end, ran),
            interrupted: None,
        })
    }

    fn take_examined(&mut self) -> Examined {
        Examined::new(Vec::new(), Vec::new(), SystemTime::UNIX_EPOCH)
    }

    fn time_of_day(&self) -> Duration {
        self.now
    }

    /// Notes the wait, and moves the clock to its end.
    fn wait(
        &mut self,
        delay: Duration,
        _countdown_text: &dyn Fn(Duration, usize) -> String,
    ) -> RunResult<WaitEnd> {
        self.now = self.now.saturating_add(delay);
        self.waits.push(delay);
        Ok(WaitEnd::Elapsed)
    }

    fn finish_counting(&mut self, _: &SharedBudget, _: Duration) -> RunResult<BudgetAnswer> {
        Ok(BudgetAnswer::default())
    }

    /// Gives no answer, like a store that is down, but without a warning.
    fn ask_budget(&mut self, _: &SharedBudget, _: Duration) -> RunResult<BudgetAnswer> {
        Ok(BudgetAnswer::default())
    }

    /// Plays the next attempt of the script as the end of a predicate. A hook succeeds at once.
    fn run_shell(
        &mut self,
        kind: ShellKind,
        _shell: &str,
        spec: &AttemptSpec,
    ) -> RunResult<Attempt> {
        if kind == ShellKind::Predicate {
            return self.attempt(spec, None);
        }
        Ok(Attempt {
            outcome: Outcome::new(End::Exited(0), Duration::ZERO),
            interrupted: None,
        })
    }

    /// Does nothing, because there is no output.
    fn drop_later_messages(&mut self) {}

    /// Does nothing, because there is no terminal.
    fn tidy_terminal(&mut self) {}

    /// Does nothing, because there is no output.
    fn print_kept(&mut self, _: EndOfRun) -> RunResult<Printed> {
        Ok(Printed::Complete)
    }

    fn write_log(&mut self, lines: &str) -> RunResult<()> {
        self.said.push_str(lines);
        Ok(())
    }

    fn has_lost_lines(&self) -> bool {
        false
    }
}
