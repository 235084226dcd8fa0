//! Asks the budget store on a thread, so that a file system or server that hangs delays the run for a limited time.

use std::io::{self, PipeReader};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::process::sys::clock::now;
use crate::run::host::BudgetAnswer;

/// Longest time for counting an attempt while it runs.
pub(super) const COUNTING: Duration = Duration::from_secs(5);

/// An answer, or a message that names the store.
pub(super) type Answered = Result<BudgetAnswer, String>;

/// The start of a question, or a message that names the store.
pub(super) type Begun = Result<(), String>;

/// Enough for a server that nests its reply as deeply as the parser accepts, in a debug build.
const STACK: usize = 4 << 20;

#[derive(Debug)]
pub(super) struct StoreThread {
    pub(super) began: Instant,
    /// Readable once the thread has an answer.
    pub(super) done: PipeReader,
    pub(super) answer: JoinHandle<Answered>,
}

impl StoreThread {
    /// Starts a thread, which blocks all signals, as the main thread does.
    pub(super) fn begin(ask: impl FnOnce() -> Answered + Send + 'static) -> io::Result<StoreThread> {
        let (done, mark) = io::pipe()?;
        let answer = Builder::new().stack_size(STACK).spawn(move || {
            let _closed_at_the_end = mark;
            ask()
        })?;
        let began = now();
        Ok(StoreThread { began, done, answer })
    }
}
