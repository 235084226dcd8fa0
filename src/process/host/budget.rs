//! Asks the budget store for the run: counts the first attempt, asks for each retry, reports the end. Each question
//! goes through a forked child (`query.rs`), so that a file system or server that hangs delays the run for a limited
//! time only. A store that gives no answer makes a warning; a `RunError` is a signal that ends the run.

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
    /// Begins to count a first attempt, without waiting: the count runs beside the attempt, which need not wait for it.
    pub(super) fn begin_count(&mut self, budget: &SharedBudget) {
        let time_limit = budget.timeout.max(COUNTING);
        let store = self.store.clone();
        self.counting = Some(self.start_query(&store, budget, Question::Attempt, time_limit));
    }

    /// Waits until the attempt is counted. The store has `time_limit` for that from the start of the count; if it gives
    /// no answer, this machine's own budget may be asked, too ([`System::answer_or_own`]). If no attempt is being
    /// counted, returns an empty answer.
    pub(super) fn finish_count(
        &mut self,
        budget: &SharedBudget,
        time_limit: Duration,
    ) -> RunResult<BudgetAnswer> {
        match self.counting.take() {
            Some(query) => self.answer_or_own(query, budget, Question::Attempt, time_limit),
            None => Ok(BudgetAnswer::default()),
        }
    }

    /// Asks the run's store, and waits for the answer, for which the store has `time_limit`; if it gives none, this
    /// machine's own budget may be asked, too. The run has already waited for a pending count.
    pub(super) fn ask(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        time_limit: Duration,
    ) -> RunResult<BudgetAnswer> {
        self.counting = None;
        let store = self.store.clone();
        let query = self.start_query(&store, budget, question, time_limit);
        self.answer_or_own(query, budget, question, time_limit)
    }

    /// Starts a query, which gives up by itself after `time_limit`. Returns `NoAnswer` if a query of this store that
    /// was given up still runs, so that hanging processes do not pile up, or if no process can be made.
    fn start_query(
        &mut self,
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        time_limit: Duration,
    ) -> Result<Query, NoAnswer> {
        if self.given_up.still_runs(store) {
            return Err(NoAnswer(format!("{store}: still gives no answer")));
        }
        Query::start(store, budget, question, time_limit).map_err(|error| {
            let why = describe_error(&error);
            NoAnswer(format!("cannot start a process: {why}"))
        })
    }

    /// Waits for the answer, at most `time_limit` from the start of the query, or up to five seconds longer if the
    /// query only lacks a CPU. The outer error is a signal that ends the run; the inner one tells why there is no
    /// answer. A query that is late is given up: it may go on, but is no longer waited for.
    fn wait_for_answer(
        &mut self,
        store: &Store,
        mut query: Query,
        time_limit: Duration,
    ) -> RunResult<Result<BudgetAnswer, NoAnswer>> {
        let mut until = query.deadline_after(time_limit);
        let latest = query.deadline_after(time_limit + MOST_TIME_FOR_CPU);
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
                let milliseconds = time_limit.as_millis();
                let why = format!("{store}: gives no answer within {milliseconds}ms");
                return Ok(Err(NoAnswer(why)));
            }
        }
    }

    /// Waits for the answer of a query, if it could be started. Results are as those of [`System::wait_for_answer`].
    fn answer_if_started(
        &mut self,
        store: &Store,
        query: Result<Query, NoAnswer>,
        time_limit: Duration,
    ) -> RunResult<Result<BudgetAnswer, NoAnswer>> {
        match query {
            Ok(query) => self.wait_for_answer(store, query, time_limit),
            Err(no_answer) => Ok(Err(no_answer)),
        }
    }

    /// Waits for the answer of the run's store to a query. If it gives none, asks this machine's own budget of that
    /// name instead (`--store-down local`), or returns no answer, by which the retry is refused (`deny`). If the own
    /// budget gives no answer either, the run goes on without. A warning says so. An error is a signal that ends the
    /// run.
    fn answer_or_own(
        &mut self,
        query: Result<Query, NoAnswer>,
        budget: &SharedBudget,
        question: Question,
        time_limit: Duration,
    ) -> RunResult<BudgetAnswer> {
        let store = self.store.clone();
        let why = match self.answer_if_started(&store, query, time_limit)? {
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
        let own_store = Store::Directory(environment::state_home());
        let query = self.start_query(&own_store, budget, question, DEFAULT_TIMEOUT);
        match self.answer_if_started(&own_store, query, DEFAULT_TIMEOUT)? {
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
