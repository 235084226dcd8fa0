//! The store of a budget, asked on a thread: a file system or a server that hangs holds up the run for a limited time.

use std::time::Duration;

use super::background::Background;
use super::waits::BetweenAttempts;
use crate::budget::client::{Clocks, Store};
use crate::policy::budget::Question;
use crate::process::sys::{clock, environment};
use crate::run::host::{BudgetAnswer, RunError};
use crate::run::plan::SharedBudget;
use crate::run::text::describe_error;

/// Nobody waits for an attempt to be counted while it runs. After this the connection is given up.
const COUNTING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct StoreThread {
    store: Store,
    /// The attempt that is being counted.
    counting: Option<Result<Asking, String>>,
    /// Questions that nobody waits for any more.
    unanswered: Vec<Asking>,
    /// The store gave no answer to the last question.
    has_failed: bool,
}

/// A question under way.
#[derive(Debug)]
struct Asking {
    store: Store,
    work: Background<Result<BudgetAnswer, String>>,
}

impl StoreThread {
    pub(super) fn new(store: Store) -> StoreThread {
        StoreThread {
            store,
            counting: None,
            unanswered: Vec::new(),
            has_failed: false,
        }
    }

    pub(super) fn begin_counting(&mut self, budget: &SharedBudget) {
        let patience = budget.timeout.max(COUNTING);
        self.counting = Some(self.begin(&self.store.clone(), budget, Question::Attempt, patience));
    }

    pub(super) fn counted(
        &mut self,
        between: &mut BetweenAttempts,
        budget: &SharedBudget,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        let Some(counting) = self.counting.take() else {
            return Ok(BudgetAnswer::default());
        };
        let counted = self.finish(between, counting, patience)?;
        self.or_fallback(between, budget, Question::Attempt, counted)
    }

    pub(super) fn ask(
        &mut self,
        between: &mut BetweenAttempts,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        let is_last = matches!(question, Question::GaveUp { .. } | Question::Succeeded);
        let answered = if is_last && self.has_failed {
            // The end of the run is not held up once more.
            Err(format!("{}: still gives no answer", self.store))
        } else {
            let asking = self.begin(&self.store.clone(), budget, question, patience);
            self.finish(between, asking, patience)?
        };
        self.or_fallback(between, budget, question, answered)
    }

    /// Begins to ask a store. An error names it.
    fn begin(
        &mut self,
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<Asking, String> {
        // A thread that hangs in a file system cannot be ended: one is enough.
        self.unanswered.retain(|asking| !asking.work.is_over());
        let is_same = |asking: &Asking| asking.store.is_remote() == store.is_remote();
        if self.unanswered.iter().any(is_same) {
            return Err(format!("{store}: still gives no answer"));
        }
        let clocks = Clocks {
            since_epoch: clock::since_epoch,
            now: clock::now,
        };
        let (asked, budget) = (store.clone(), budget.clone());
        let work = Background::begin(move || asked.ask(&budget, question, patience, clocks))
            .map_err(|error| format!("cannot start a thread: {}", describe_error(&error)))?;
        Ok(Asking {
            store: store.clone(),
            work,
        })
    }

    fn finish(
        &mut self,
        between: &mut BetweenAttempts,
        asking: Result<Asking, String>,
        patience: Duration,
    ) -> Result<Result<BudgetAnswer, String>, RunError> {
        let asking = match asking {
            Ok(asking) => asking,
            Err(why) => return Ok(Err(why)),
        };
        Ok(match between.result_of(&asking.work, patience)? {
            Ok(answered) => answered,
            Err(why) => {
                let why = format!("{}: {why}", asking.store);
                self.unanswered.push(asking);
                Err(why)
            }
        })
    }

    /// Asks this machine's own budget if a server has given no answer.
    fn or_fallback(
        &mut self,
        between: &mut BetweenAttempts,
        budget: &SharedBudget,
        question: Question,
        answered: Result<BudgetAnswer, String>,
    ) -> Result<BudgetAnswer, RunError> {
        self.has_failed = answered.is_err();
        let why = match answered {
            Ok(answered) => return Ok(answered),
            Err(why) => why,
        };
        let name = &budget.name;
        let without = |why: String| BudgetAnswer {
            answer: None,
            warning: Some(match budget.denies_if_down {
                true => format!("{why}; without the budget \"{name}\" no retry is made (--store-down deny)"),
                false => format!("{why}; going on without the budget \"{name}\""),
            }),
        };
        if !self.store.is_remote() || budget.denies_if_down {
            return Ok(without(why));
        }
        let home = Store::Home(environment::state_home());
        let asking = self.begin(&home, budget, question, budget.timeout);
        Ok(match self.finish(between, asking, budget.timeout)? {
            Ok(BudgetAnswer { answer, .. }) => BudgetAnswer {
                answer,
                warning: Some(format!("{why}; going on with this machine's own budget \"{name}\"")),
            },
            Err(also) => without(format!("{why}; {also}")),
        })
    }
}
