//! Asks the budget store on a thread, so that a file system or server that hangs delays the run for a limited time.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use nix::poll::PollFlags;

use super::{Query, System, fault};
use crate::budget::client::{DEFAULT_TIMEOUT, Store};
use crate::policy::budget::Question;
use crate::process::sys::clock::{Deadline, now, since_epoch};
use crate::process::sys::environment;
use crate::run::host::{BudgetAnswer, RunError, RunResult};
use crate::run::plan::SharedBudget;

/// Limit on the time for counting an attempt while the attempt runs, unless the store timeout is longer.
const COUNTING: Duration = Duration::from_secs(5);

/// Enough for a server that nests its reply as deeply as the parser accepts, in a debug build.
const STACK: usize = 4 << 20;

/// A fault is the reason why a store has given no answer.
impl System {
    pub(super) fn begin_count(&mut self, budget: &SharedBudget) {
        let time = budget.timeout.max(COUNTING);
        self.counting = Some(self.query(&self.store, budget, Question::Attempt, time));
    }

    /// Starts a thread, which blocks all signals, as the main thread does. A thread that hangs in a file system cannot
    /// be ended, so there is at most one for this machine's own store and one for another.
    fn query(
        &self,
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        time: Duration,
    ) -> RunResult<Query> {
        let in_use =
            self.stores_in_use[usize::from(store.is_at(&environment::state_home()))].clone();
        // `self` and this function hold one reference each; a thread that still asks holds a third.
        if Arc::strong_count(&in_use) > 2 {
            return Err(RunError::Fault(format!("{store}: still gives no answer")));
        }
        let (done, done_once_closed) = io::pipe().map_err(fault("cannot start a thread"))?;
        let (store, budget, began) = (store.clone(), budget.clone(), now());
        let ask = move || {
            let _held_until_done = (done_once_closed, in_use);
            store.ask(&budget, question, began, time, since_epoch)
        };
        let answer = Builder::new().stack_size(STACK).spawn(ask);
        let answer = answer.map_err(fault("cannot start a thread"))?;
        Ok(Query {
            began,
            done,
            answer,
        })
    }

    /// Waits for the answer, at most `time` from the start of the thread.
    fn wait_for_answer(
        &mut self,
        store: &Store,
        query: RunResult<Query>,
        time: Duration,
    ) -> RunResult<BudgetAnswer> {
        let Query {
            began,
            done,
            answer,
        } = query?;
        let until = Deadline::after(began, time);
        let answered = match self
            .event_loop
            .wait_for(done.as_fd(), PollFlags::POLLIN, until)?
        {
            true => answer
                .join()
                .unwrap_or_else(|_| Err(format!("{store}: failed").into())),
            false => Err(format!("{store}: gives no answer within {}ms", time.as_millis()).into()),
        };
        answered.map_err(|why| RunError::Fault(why.to_string()))
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
        } else if !store.is_at(&environment::state_home()) {
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
