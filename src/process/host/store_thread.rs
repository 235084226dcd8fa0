//! Asks the budget store on a thread, so that a file system or server that hangs delays the run for a limited time.

use std::time::Duration;

use super::background::Background;
use super::waits::BetweenAttempts;
use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::process::sys::{clock, environment};
use crate::run::host::{BudgetAnswer, RunError};
use crate::run::plan::SharedBudget;
use crate::run::text::describe_error;

/// Longest time for counting an attempt while it runs.
const COUNTING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct StoreThread {
    store: Store,
    /// The count of the current attempt, in progress.
    counting: Option<Asking>,
    /// Threads that exceeded their time.
    late: Vec<Thread>,
    /// The store did not answer the last question.
    has_failed: bool,
}

/// A question in progress, or the reason why there is none.
type Asking = Result<Thread, String>;

#[derive(Debug)]
struct Thread {
    store: Store,
    work: Background<Result<BudgetAnswer, String>>,
}

impl StoreThread {
    pub(super) fn new(store: Store) -> StoreThread {
        StoreThread {
            store,
            counting: None,
            late: Vec::new(),
            has_failed: false,
        }
    }

    pub(super) fn begin_counting(&mut self, budget: &SharedBudget) {
        let patience = budget.timeout.max(COUNTING);
        self.counting = Some(self.begin(self.store.clone(), budget, Question::Attempt, patience));
    }

    pub(super) fn counted(
        &mut self,
        between: &mut BetweenAttempts,
        budget: &SharedBudget,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        match self.counting.take() {
            Some(counting) => self.finish(between, budget, Question::Attempt, counting, patience),
            None => Ok(BudgetAnswer::default()),
        }
    }

    pub(super) fn ask(
        &mut self,
        between: &mut BetweenAttempts,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        let is_last = matches!(question, Question::GaveUp { .. } | Question::Succeeded);
        let asking = match is_last && self.has_failed {
            // A failed store does not delay the end of the run again.
            true => Err(format!("{}: still gives no answer", self.store)),
            false => self.begin(self.store.clone(), budget, question, patience),
        };
        self.finish(between, budget, question, asking, patience)
    }

    fn begin(&mut self, store: Store, budget: &SharedBudget, question: Question, patience: Duration) -> Asking {
        // A thread that hangs in a file system cannot be ended, so there is at most one.
        self.late.retain(|thread| !thread.work.is_over());
        if self
            .late
            .iter()
            .any(|thread| thread.store.is_remote() == store.is_remote())
        {
            return Err(format!("{store}: still gives no answer"));
        }
        let (asked, budget) = (store.clone(), budget.clone());
        let ask = move || asked.ask(&budget, question, patience, clock::since_epoch, clock::now);
        let work = Background::begin(ask);
        let work = work.map_err(|error| format!("cannot start a thread: {}", describe_error(&error)))?;
        Ok(Thread { store, work })
    }

    /// Waits for the answer. If a server gives none, asks this machine's own budget.
    fn finish(
        &mut self,
        between: &mut BetweenAttempts,
        budget: &SharedBudget,
        question: Question,
        asking: Asking,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        let answered = self.wait(between, asking, patience)?;
        self.has_failed = answered.is_err();
        let mut why = match answered {
            Ok(answered) => return Ok(answered),
            Err(why) => why,
        };
        let name = &budget.name;
        if self.store.is_remote() && !budget.denies_if_down {
            let home = Store::Home(environment::state_home());
            let patience = home.timeout();
            let asking = self.begin(home, budget, question, patience);
            match self.wait(between, asking, patience)? {
                Ok(BudgetAnswer { answer, .. }) => {
                    let warning = Some(format!("{why}; going on with this machine's own budget \"{name}\""));
                    return Ok(BudgetAnswer { answer, warning });
                }
                Err(also) => why = format!("{why}; {also}"),
            }
        }
        let warning = match budget.denies_if_down {
            true => format!("{why}; without the budget \"{name}\" no retry is made (--store-down deny)"),
            false => format!("{why}; going on without the budget \"{name}\""),
        };
        Ok(BudgetAnswer {
            answer: None,
            warning: Some(warning),
        })
    }

    /// Waits for a thread. An error names the store.
    fn wait(
        &mut self,
        between: &mut BetweenAttempts,
        asking: Asking,
        patience: Duration,
    ) -> Result<Result<BudgetAnswer, String>, RunError> {
        let thread = match asking {
            Ok(thread) => thread,
            Err(why) => return Ok(Err(why)),
        };
        let answered = between.result_of(&thread.work, patience)?;
        Ok(answered.unwrap_or_else(|why| {
            let why = format!("{}: {why}", thread.store);
            self.late.push(thread);
            Err(why)
        }))
    }
}
