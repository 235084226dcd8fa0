//! Asks the budget store for the run. Counts attempts that are not retries, and asks for each retry. Each question has
//! its own thread and connection, so that the run waits only for a limited time and handles signals meanwhile. A store
//! that does not answer causes a warning. A `RunError` is a signal that ends the run.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use crate::budget::store::Store;
use crate::policy::budget::Question;
use crate::process::event_loop::EventLoop;
use crate::process::sys::clock::{Deadline, now, since_epoch};
use crate::run::host::{BudgetAnswer, RunResult};
use crate::run::plan::SharedBudget;
use crate::text::{describe_error, length};

/// Limit on the wait for a directory. With thousands of runs at the same moment, it may take seconds to get its lock
/// and a processor. Only a file system that hangs takes longer.
const DIRECTORY_TIMEOUT: Duration = Duration::from_secs(5);

/// Limit on each step of a server that counts an attempt. Counting takes no extra time, as it happens during the
/// attempt.
const COUNT_TIMEOUT: Duration = Duration::from_secs(5);

/// An answer, or an error that names the store.
type Answered = Result<BudgetAnswer, String>;

/// A question that awaits its answer. The pipe closes with the thread.
#[derive(Debug)]
struct Query {
    began: Instant,
    pipe: PipeReader,
    thread: JoinHandle<Answered>,
}

/// A store that is asked one question at a time.
#[derive(Debug)]
struct AskedStore {
    store: Store,
    /// The thread of the last question that got no answer in time. A call that hangs cannot be cancelled. As long as it
    /// hangs, the store counts as down, so that threads do not pile up.
    left_behind: Option<JoinHandle<Answered>>,
}

impl AskedStore {
    fn new(store: Store) -> AskedStore {
        AskedStore {
            store,
            left_behind: None,
        }
    }

    /// Starts a question. A server has `limit` for each of its steps. The error says why there is no answer.
    fn start(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        limit: Duration,
    ) -> Result<Query, String> {
        if let Some(thread) = &self.left_behind
            && !thread.is_finished()
        {
            return Err(format!("{}: still no answer", self.store));
        }
        self.left_behind = None;
        let store = self.store.clone();
        let budget = budget.clone();
        start_thread(move || store.ask(&budget, question, limit, since_epoch)).map_err(|error| {
            let why = describe_error(&error);
            format!("{}: cannot start a thread: {why}", self.store)
        })
    }

    /// Waits for the answer. A server has `patience` from the start of the question, a directory [`DIRECTORY_TIMEOUT`].
    /// The outer error is a signal that ends the run. The inner one says why there is no answer, or why the question
    /// could not be asked. A thread that does not answer is left behind.
    fn await_answer(
        &mut self,
        event_loop: &mut EventLoop,
        query: Result<Query, String>,
        patience: Duration,
    ) -> RunResult<Result<BudgetAnswer, String>> {
        let query = match query {
            Ok(query) => query,
            Err(why) => return Ok(Err(why)),
        };
        let limit = if self.store.is_local() {
            DIRECTORY_TIMEOUT
        } else {
            patience
        };
        let until = Deadline::after(query.began, limit);
        let has_ended = event_loop.wait_for(query.pipe.as_fd(), PollFlags::POLLIN, until)?;
        if !has_ended {
            self.left_behind = Some(query.thread);
            let limit = length(limit);
            return Ok(Err(format!("{}: no answer within {limit}", self.store)));
        }
        let answered = query.thread.join();
        // A thread does not panic, as that ends the process.
        Ok(answered.unwrap_or_else(|_| Err(format!("{}: no answer", self.store))))
    }
}

/// Starts a thread for a question. All signals remain blocked in it, as in backoff outside of a poll, so that the main
/// thread receives them.
#[allow(
    clippy::disallowed_methods,
    reason = "the one place that starts threads, after the first fork"
)]
fn start_thread(ask: impl FnOnce() -> Answered + Send + 'static) -> io::Result<Query> {
    let (pipe, writing_end) = io::pipe()?;
    let began = now();
    let thread = thread::Builder::new().spawn(move || {
        let answered = ask();
        drop(writing_end);
        answered
    })?;
    Ok(Query {
        began,
        pipe,
        thread,
    })
}

#[derive(Debug)]
pub(super) struct Stores {
    store: AskedStore,
    /// This machine's own store, which replaces the run's if that is down.
    own: AskedStore,
    /// The question that counts the current attempt, until its answer is awaited. An error if it could not be started.
    counting: Option<Result<Query, String>>,
}

impl Stores {
    pub(super) fn new(store: Store, own: Store) -> Stores {
        Stores {
            store: AskedStore::new(store),
            own: AskedStore::new(own),
            counting: None,
        }
    }

    /// Begins to count an attempt that no granted retry has counted. Does not wait. Called after a fork, with no count
    /// pending.
    pub(super) fn begin_count(&mut self, budget: &SharedBudget) {
        let query = self.store.start(budget, Question::Attempt, COUNT_TIMEOUT);
        self.counting = Some(query);
    }

    /// Waits until the attempt of [`Stores::begin_count`] is counted. A server has `patience` from the start of the
    /// count. Returns an empty answer if no attempt is being counted.
    pub(super) fn finish_count(
        &mut self,
        event_loop: &mut EventLoop,
        budget: &SharedBudget,
        patience: Duration,
    ) -> RunResult<BudgetAnswer> {
        match self.counting.take() {
            Some(query) => {
                self.answer_or_own(event_loop, query, budget, Question::Attempt, patience)
            }
            None => Ok(BudgetAnswer::default()),
        }
    }

    /// Asks for a retry, and waits for the answer. A server has `patience` for it.
    pub(super) fn ask(
        &mut self,
        event_loop: &mut EventLoop,
        budget: &SharedBudget,
        patience: Duration,
    ) -> RunResult<BudgetAnswer> {
        let query = self.store.start(budget, Question::Retry, patience);
        self.answer_or_own(event_loop, query, budget, Question::Retry, patience)
    }

    /// Waits for the answer of the run's store. If there is none, asks this machine's own budget of that name
    /// (`--store-down local`), so that at least the runs of this machine are limited together. With `deny`, returns no
    /// answer, and the caller refuses a retry. Also returns no answer if the own budget gives none, or is the store
    /// that gave none, and the run goes on without it. A warning says which of these happened.
    fn answer_or_own(
        &mut self,
        event_loop: &mut EventLoop,
        query: Result<Query, String>,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> RunResult<BudgetAnswer> {
        let why = match self.store.await_answer(event_loop, query, patience)? {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        let name = &budget.name;
        let going_on = format!("continuing without budget \"{name}\"");
        if budget.denies_if_down {
            return Ok(without_answer(format!(
                "{why}; without budget \"{name}\" not retrying (--store-down deny)"
            )));
        }
        if self.store.store.is_same_directory(&self.own.store) {
            return Ok(without_answer(format!("{why}; {going_on}")));
        }
        let query = self.own.start(budget, question, patience);
        match self.own.await_answer(event_loop, query, patience)? {
            // The warning about the run's store replaces one about the own store.
            Ok(answer_of_own) => Ok(BudgetAnswer {
                answer: answer_of_own.answer,
                warning: Some(format!("{why}; using this machine's own budget \"{name}\"")),
            }),
            Err(why_own) => Ok(without_answer(format!("{why}; {why_own}; {going_on}"))),
        }
    }
}

/// Returns the answer of a budget that gave none, which is only a warning for the user.
fn without_answer(warning: String) -> BudgetAnswer {
    BudgetAnswer {
        answer: None,
        warning: Some(warning),
    }
}
