//! Asks the budget store. A file system or server that hangs delays the run for a limited time.

use std::time::Duration;

use nix::poll::PollFlags;

use super::query::{MOST_TIME_FOR_CPU, Query, is_own};
use super::{System, fault};
use crate::budget::client::{DEFAULT_TIMEOUT, Store};
use crate::policy::budget::Question;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::environment;
use crate::run::host::{BudgetAnswer, RunError, RunResult};
use crate::run::plan::SharedBudget;

/// Limit on the time for counting an attempt while the attempt runs, unless the store timeout is longer.
const COUNTING: Duration = Duration::from_secs(5);

/// Interval between two looks at a query that is late as it has no CPU.
const CPU_POLL: Duration = Duration::from_millis(10);

/// A fault is the reason why a store has given no answer.
impl System {
    pub(super) fn begin_count(&mut self, budget: &SharedBudget) {
        let time = budget.timeout.max(COUNTING);
        let store = self.store.clone();
        self.counting = Some(self.query(&store, budget, Question::Attempt, time));
    }

    /// Starts a query, unless one that was given up still runs.
    fn query(
        &mut self,
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        time: Duration,
    ) -> RunResult<Query> {
        if self.given_up.still_runs(store) {
            return Err(RunError::Fault(format!("{store}: still gives no answer")));
        }
        Query::start(store, budget, question, time).map_err(fault("cannot start a process"))
    }

    /// Waits for the answer, at most `time` from the start of the query.
    fn wait_for_answer(
        &mut self,
        store: &Store,
        query: RunResult<Query>,
        time: Duration,
    ) -> RunResult<BudgetAnswer> {
        let mut query = query?;
        let mut until = query.until(time);
        let latest = query.until(time + MOST_TIME_FOR_CPU);
        loop {
            if let Some(answered) = query.answer(store) {
                return answered.map_err(|why| RunError::Fault(why.to_string()));
            }
            let events = PollFlags::POLLIN;
            if self.event_loop.wait_for(query.fd(), events, until)? {
                continue;
            }
            // A busy machine is no reason to go on without the budget.
            if query.awaits_cpu() && !latest.is_due(now()) {
                until = Deadline::after(now(), CPU_POLL);
            } else {
                self.given_up.add(store, query);
                let limit = time.as_millis();
                let why = format!("{store}: gives no answer within {limit}ms");
                return Err(RunError::Fault(why));
            }
        }
    }

    /// Asks the run's store, or waits until the attempt is counted. If another store gives no answer, this
    /// machine's own budget does.
    pub(super) fn ask(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        time: Duration,
    ) -> RunResult<BudgetAnswer> {
        let store = self.store.clone();
        let query = match (question, self.counting.take()) {
            // Nothing is being counted.
            (Question::Attempt, None) => return Ok(BudgetAnswer::default()),
            (Question::Attempt, Some(query)) => query,
            // The run has already waited for a pending count.
            _ => self.query(&store, budget, question, time),
        };
        let mut why = match self.wait_for_answer(&store, query, time) {
            Err(RunError::Fault(why)) => why,
            answered => return answered,
        };
        let name = &budget.name;
        let mut answer = None;
        let mut effect = format!("going on without the budget \"{name}\"");
        if budget.denies_if_down {
            effect = format!("without the budget \"{name}\" no retry is made (--store-down deny)");
        } else if !is_own(&store) {
            let own = Store::Directory(environment::state_home());
            let query = self.query(&own, budget, question, DEFAULT_TIMEOUT);
            match self.wait_for_answer(&own, query, DEFAULT_TIMEOUT) {
                Err(RunError::Fault(also)) => why = format!("{why}; {also}"),
                answered => {
                    answer = answered?.answer;
                    effect = format!("going on with this machine's own budget \"{name}\"");
                }
            }
        }
        let warning = Some(format!("{why}; {effect}"));
        Ok(BudgetAnswer { answer, warning })
    }
}
