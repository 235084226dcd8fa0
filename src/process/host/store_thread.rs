//! Asks the budget store on a thread, so that a file system or server that hangs delays the run for a limited time.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use crate::budget::client::{Store, TIMEOUT};
use crate::policy::budget::Question;
use crate::process::attempt::event_loop::EventLoop;
use crate::process::sys::clock::{self, Deadline};
use crate::process::sys::environment;
use crate::run::host::{BudgetAnswer, RunError};
use crate::run::plan::SharedBudget;
use crate::run::text::describe_error;

/// Longest time for counting an attempt while it runs.
const COUNTING: Duration = Duration::from_secs(5);

/// An answer, or a message that names the store.
type Answered = Result<BudgetAnswer, String>;

/// Enough for a server that nests its reply as deeply as the parser accepts, in a debug build.
const STACK: usize = 4 << 20;

#[derive(Debug)]
pub(super) struct StoreThread {
    store: Store,
    /// The count of the current attempt, in progress.
    counting: Option<Result<Thread, String>>,
    /// The last threads that exceeded their time, for this machine's own store and for a server.
    late: [Option<Thread>; 2],
    /// The store did not answer the last question.
    has_failed: bool,
}

#[derive(Debug)]
struct Thread {
    began: Instant,
    /// Readable once the thread has an answer.
    done: PipeReader,
    answer: JoinHandle<Answered>,
}

impl Thread {
    /// Starts a thread, which blocks all signals, as the main thread does.
    fn begin(ask: impl FnOnce() -> Answered + Send + 'static) -> io::Result<Thread> {
        let (done, mark) = io::pipe()?;
        let answer = Builder::new().stack_size(STACK).spawn(move || {
            let _closed_at_the_end = mark;
            ask()
        })?;
        let began = clock::now();
        Ok(Thread { began, done, answer })
    }
}

impl StoreThread {
    pub(super) fn new(store: Store) -> StoreThread {
        StoreThread {
            store,
            counting: None,
            late: [None, None],
            has_failed: false,
        }
    }

    pub(super) fn begin_counting(&mut self, budget: &SharedBudget) {
        let patience = budget.timeout.max(COUNTING);
        self.counting = Some(self.begin(&self.store, budget, Question::Attempt, patience));
    }

    /// Asks the store. [`Question::Attempt`] asks for the end of the count in progress. If a server gives no answer,
    /// asks this machine's own budget.
    pub(super) fn ask(
        &mut self,
        event_loop: &mut EventLoop,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        let store = self.store.clone();
        let thread = match question {
            Question::Attempt => match self.counting.take() {
                Some(counting) => counting,
                None => return Ok(BudgetAnswer::default()),
            },
            // A failed store does not delay the end of the run again.
            Question::GaveUp { .. } | Question::Succeeded if self.has_failed => Err(no_answer(&store)),
            _ => self.begin(&store, budget, question, patience),
        };
        let answered = self.finish(event_loop, &store, thread, patience)?;
        self.has_failed = answered.is_err();
        let mut why = match answered {
            Ok(answered) => return Ok(answered),
            Err(why) => why,
        };
        let name = &budget.name;
        let warned = |answer, warning| {
            Ok(BudgetAnswer {
                answer,
                warning: Some(warning),
            })
        };
        if budget.denies_if_down {
            let warning = format!("{why}; without the budget \"{name}\" no retry is made (--store-down deny)");
            return warned(None, warning);
        }
        if store.is_remote() {
            let home = Store::Directory(environment::state_home());
            let thread = self.begin(&home, budget, question, TIMEOUT);
            match self.finish(event_loop, &home, thread, TIMEOUT)? {
                Ok(BudgetAnswer { answer, .. }) => {
                    return warned(
                        answer,
                        format!("{why}; going on with this machine's own budget \"{name}\""),
                    );
                }
                Err(also) => why = format!("{why}; {also}"),
            }
        }
        warned(None, format!("{why}; going on without the budget \"{name}\""))
    }

    fn begin(
        &self,
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<Thread, String> {
        // A thread that hangs in a file system cannot be ended, so there is at most one.
        let late = &self.late[usize::from(store.is_remote())];
        if late.as_ref().is_some_and(|thread| !thread.answer.is_finished()) {
            return Err(no_answer(store));
        }
        let (store, budget) = (store.clone(), budget.clone());
        let ask = move || store.ask(&budget, question, clock::now(), patience, clock::since_epoch);
        Thread::begin(ask).map_err(|error| format!("cannot start a thread: {}", describe_error(&error)))
    }

    /// Waits for an answer, at most `patience` from the start of the thread.
    fn finish(
        &mut self,
        event_loop: &mut EventLoop,
        store: &Store,
        thread: Result<Thread, String>,
        patience: Duration,
    ) -> Result<Answered, RunError> {
        let thread = match thread {
            Ok(thread) => thread,
            Err(why) => return Ok(Err(why)),
        };
        let until = Deadline::after(thread.began, patience);
        if event_loop.is_ready(thread.done.as_fd(), PollFlags::POLLIN, until)? {
            let answered = thread.answer.join();
            return Ok(answered.unwrap_or_else(|_| Err(format!("{store}: failed"))));
        }
        self.late[usize::from(store.is_remote())] = Some(thread);
        Ok(Err(format!(
            "{store}: gives no answer within {}ms",
            patience.as_millis()
        )))
    }
}

fn no_answer(store: &Store) -> String {
    format!("{store}: still gives no answer")
}
