//! Asks the budget store. A file system or server that hangs delays the run for a limited time.

use std::time::Duration;

use nix::poll::PollFlags;

use super::System;
use super::query::{MOST_TIME_FOR_CPU, NoAnswer, Query, is_own};
use crate::budget::client::{DEFAULT_TIMEOUT, Store};
use crate::policy::budget::Question;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::environment;
use crate::run::host::{BudgetAnswer, RunResult};
use crate::run::plan::SharedBudget;
use crate::text::describe_error;

/// Limit on the time for counting an attempt while the attempt runs, unless the store timeout is longer.
const COUNTING: Duration = Duration::from_secs(5);

/// Interval between two looks at a query that is late as it has no CPU.
const CPU_POLL: Duration = Duration::from_millis(10);

impl System {
    pub(super) fn begin_count(&mut self, budget: &SharedBudget) {
        let time = budget.timeout.max(COUNTING);
        let store = self.store.clone();
        self.counting = Some(self.query(&store, budget, Question::Attempt, time));
    }

    /// Waits until the attempt is counted, if one is being counted.
    pub(super) fn finish_count(
        &mut self,
        budget: &SharedBudget,
        time: Duration,
    ) -> RunResult<BudgetAnswer> {
        match self.counting.take() {
            Some(query) => self.answer_of(query, budget, Question::Attempt, time),
            None => Ok(BudgetAnswer::default()),
        }
    }

    /// Asks the run's store. The run has already waited for a pending count.
    pub(super) fn ask(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        time: Duration,
    ) -> RunResult<BudgetAnswer> {
        self.counting = None;
        let store = self.store.clone();
        let query = self.query(&store, budget, question, time);
        self.answer_of(query, budget, question, time)
    }

    /// Starts a query, unless one that was given up still runs.
    fn query(
        &mut self,
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        time: Duration,
    ) -> Result<Query, NoAnswer> {
        if self.given_up.still_runs(store) {
            return Err(NoAnswer(format!("{store}: still gives no answer")));
        }
        Query::start(store, budget, question, time).map_err(|error| {
            let why = describe_error(&error);
            NoAnswer(format!("cannot start a process: {why}"))
        })
    }

    /// Waits for the answer, at most `time` from the start of the query. Only a signal that ends the run is an error.
    fn wait_for_answer(
        &mut self,
        store: &Store,
        mut query: Query,
        time: Duration,
    ) -> RunResult<Result<BudgetAnswer, NoAnswer>> {
        let mut until = query.deadline_after(time);
        let latest = query.deadline_after(time + MOST_TIME_FOR_CPU);
        loop {
            if let Some(answered) = query.answer(store) {
                return Ok(answered.map_err(|why| NoAnswer(why.to_string())));
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
                return Ok(Err(NoAnswer(why)));
            }
        }
    }

    /// Waits for the answer of a query, if it could be started.
    fn answer_of_started(
        &mut self,
        store: &Store,
        query: Result<Query, NoAnswer>,
        time: Duration,
    ) -> RunResult<Result<BudgetAnswer, NoAnswer>> {
        match query {
            Ok(query) => self.wait_for_answer(store, query, time),
            Err(no_answer) => Ok(Err(no_answer)),
        }
    }

    /// Waits for the answer of the run's store. If another store gives no answer, this machine's own budget does.
    fn answer_of(
        &mut self,
        query: Result<Query, NoAnswer>,
        budget: &SharedBudget,
        question: Question,
        time: Duration,
    ) -> RunResult<BudgetAnswer> {
        let store = self.store.clone();
        let why = match self.answer_of_started(&store, query, time)? {
            Ok(answer) => return Ok(answer),
            Err(NoAnswer(why)) => why,
        };
        let name = &budget.name;
        let going_on = format!("going on without the budget \"{name}\"");
        if budget.denies_if_down {
            return Ok(without_answer(format!(
                "{why}; without the budget \"{name}\" no retry is made (--store-down deny)"
            )));
        }
        if is_own(&store) {
            return Ok(without_answer(format!("{why}; {going_on}")));
        }
        let own = Store::Directory(environment::state_home());
        let query = self.query(&own, budget, question, DEFAULT_TIMEOUT);
        match self.answer_of_started(&own, query, DEFAULT_TIMEOUT)? {
            Ok(of_own) => Ok(BudgetAnswer {
                answer: of_own.answer,
                warning: Some(format!(
                    "{why}; going on with this machine's own budget \"{name}\""
                )),
            }),
            Err(NoAnswer(also)) => Ok(without_answer(format!("{why}; {also}; {going_on}"))),
        }
    }
}

/// Returns an answer that consists of a warning only.
fn without_answer(warning: String) -> BudgetAnswer {
    BudgetAnswer {
        answer: None,
        warning: Some(warning),
    }
}
