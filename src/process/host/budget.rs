//! Asks the budget store for the run: counts attempts that are no retries, and asks for each retry. Each question goes through a forked child (`query.rs`), so that a file system or server that hangs delays the run for a
//! limited time only. A store that gives no answer makes a warning; a `RunError` is a signal that ends the run.

use std::time::Duration;

use nix::poll::PollFlags;

use super::System;
use super::query::{MOST_TIME_FOR_CPU, NoAnswer, Query, is_machine_store};
use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::environment;
use crate::run::host::{BudgetAnswer, RunResult, STORE_TIMEOUT};
use crate::run::plan::SharedBudget;
use crate::text::describe_error;

/// Limit on the time for counting an attempt. The count runs while the attempt does, so that a slow store costs no
/// time.
const COUNTING: Duration = Duration::from_secs(5);

/// Interval between two looks at a query that is late as it has no CPU.
const CPU_POLL: Duration = Duration::from_millis(10);

impl System {
    /// Begins to count an attempt that no granted retry has counted, without waiting: the count runs beside the
    /// attempt, which need not wait for it. If it cannot be started, [`System::finish_count`] tells. The run has
    /// finished an earlier count before, as its answer would be dropped.
    pub(super) fn begin_count(&mut self, budget: &SharedBudget) {
        let store = self.store.clone();
        self.counting = Some(self.start_query(&store, budget, Question::Attempt, COUNTING));
    }

    /// Waits until the attempt of [`System::begin_count`] is counted. The store has `time_limit` for that from the
    /// start of the count, so that it may have passed already, but no more than `begin_count` has allowed; if the store
    /// gives no answer, this machine's own budget may be asked, too ([`System::answer_or_own`]). If no attempt is being
    /// counted, returns an empty answer, without a warning.
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
    /// machine's own budget may be asked, too ([`System::answer_or_own`]). The run has called [`System::finish_count`]
    /// before, so that the answer includes the attempt; a count that was still pending would be dropped.
    pub(super) fn ask(
        &mut self,
        budget: &SharedBudget,
        time_limit: Duration,
    ) -> RunResult<BudgetAnswer> {
        self.counting = None;
        let store = self.store.clone();
        let query = self.start_query(&store, budget, Question::Retry, time_limit);
        self.answer_or_own(query, budget, Question::Retry, time_limit)
    }

    /// Starts a query. Its child gives up a server after `time_limit`; a directory takes as long as its file system and
    /// the locks of other runs, until a timer ends the child some seconds after the limit. Returns `NoAnswer`, which
    /// the caller treats like a store that is down, if an earlier query of this store was given up and still runs, so
    /// that hanging processes do not pile up, or if no process can be made.
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
    /// query only lacks a CPU: a busy machine is no reason to go on without the budget. The outer error is a signal
    /// that ends the run; the inner one tells why there is no answer. A query that is late is given up: it is no longer
    /// waited for, and until its child ends, no other query of this store is started.
    fn wait_for_answer(
        &mut self,
        store: &Store,
        mut query: Query,
        time_limit: Duration,
    ) -> RunResult<Result<BudgetAnswer, NoAnswer>> {
        let mut until = query.deadline_after(time_limit);
        let latest = query.deadline_after(time_limit.saturating_add(MOST_TIME_FOR_CPU));
        loop {
            if let Some(answered) = query.answer(store) {
                return Ok(answered.map_err(|why| NoAnswer(why.to_string())));
            }
            let events = PollFlags::POLLIN;
            let may_have_answer = self.event_loop.wait_for(query.fd(), events, until)?;
            if may_have_answer {
                continue;
            }
            // The time is up.
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

    /// Waits for the answer of a query; if `query` could not be started, returns why, as its answer. Results are as
    /// those of [`System::wait_for_answer`].
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
    /// name instead (`--store-down local`), so that at least the runs of this machine are limited together, or returns
    /// no answer (`deny`): the caller refuses a retry then. If the own budget gives no answer either, or is the
    /// store that gave none, also returns no answer, and the run goes on without. A warning says which of these. An
    /// error is a signal that ends the run.
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
        if is_machine_store(&store) {
            return Ok(without_answer(format!("{why}; {going_on}")));
        }
        let own_store = Store::Directory(environment::state_home());
        let query = self.start_query(&own_store, budget, question, STORE_TIMEOUT);
        match self.answer_if_started(&own_store, query, STORE_TIMEOUT)? {
            // A warning of the own store gives way to the one about the run's store.
            Ok(answer_of_own) => Ok(BudgetAnswer {
                answer: answer_of_own.answer,
                warning: Some(format!(
                    "{why}; going on with this machine's own budget \"{name}\""
                )),
            }),
            Err(NoAnswer(why_own)) => Ok(without_answer(format!("{why}; {why_own}; {going_on}"))),
        }
    }
}

/// Returns the answer of a budget that gave none: only the warning about that, for the user.
fn without_answer(warning: String) -> BudgetAnswer {
    BudgetAnswer {
        answer: None,
        warning: Some(warning),
    }
}
