//! A query of a budget store: a question that counts an attempt or asks for a retry. A forked child asks it, which can be given up: a call that hangs in a file system cannot be ended.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use crate::budget::StoreError;
use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::process::forked::{Forked, ForkedState};
use crate::process::sys::clock::{Deadline, now, since_epoch};
use crate::process::sys::environment;
use crate::run::host::BudgetAnswer;
use crate::run::plan::SharedBudget;

/// Time for a child to give up by itself, once its answer is no longer awaited; then the child's timer ends it.
const GRACE: Duration = Duration::from_secs(1);

/// Limit on the additional time for a query that has no CPU: past it, the run goes on without the answer.
pub(super) const MOST_TIME_FOR_CPU: Duration = Duration::from_secs(5);

/// Why a store has given no answer.
#[derive(Debug)]
pub(super) struct NoAnswer(pub(super) String);

/// An answer, or an error that names the store.
type Answered = Result<BudgetAnswer, StoreError>;

/// A query that awaits its answer.
#[derive(Debug)]
pub(super) struct Query {
    began: Instant,
    child: Forked,
}

impl Query {
    /// Forks a child that asks the store. It gives up a server after `time_limit`; if it hangs, a timer ends it some
    /// seconds later, when no caller waits for it any longer. An error means that no process could be made.
    pub(super) fn start(
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        time_limit: Duration,
    ) -> io::Result<Query> {
        // Once, here: each child would read the certificates of a server (TLS) again.
        store.load_certificates();
        // Only lets the child compute the present: a server's limit counts from when it is asked.
        let began = now();
        let life = time_limit
            .saturating_add(MOST_TIME_FOR_CPU)
            .saturating_add(GRACE);
        let child = Forked::start(life, || {
            encode(&ask(store, budget, question, began, time_limit))
        })?;
        Ok(Query { began, child })
    }

    /// Returns the time that lies `time_limit` after the start of the query.
    pub(super) fn deadline_after(&self, time_limit: Duration) -> Deadline {
        Deadline::after(self.began, time_limit)
    }

    /// Returns the descriptor that is readable once there may be an answer.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.child.fd()
    }

    /// Returns true if the machine is busy rather than the store: the child has no CPU to go on with.
    pub(super) fn awaits_cpu(&self) -> bool {
        self.child.awaits_cpu()
    }

    /// Returns the answer once the child has ended; None while it runs. Does not wait. If the child died without a
    /// complete answer (its timer, a panic), that is an error that names the `store`. Do not call it again after an
    /// answer or error, as the answer is handed over.
    pub(super) fn answer(&mut self, store: &Store) -> Option<Answered> {
        let bytes = match self.child.state() {
            ForkedState::Runs => return None,
            ForkedState::Ended(bytes) => bytes,
        };
        let answered = decode(&bytes).unwrap_or_else(|| {
            Err(StoreError::NoAnswer {
                store: store.to_string(),
            })
        });
        Some(answered)
    }
}

/// Asks a store, in the child, as any step may hang. A server is given up after `time_limit` from now on; a directory
/// takes as long as its file system. `began` is any earlier moment, by which the server's client measures time. If this
/// machine's own store would lie in a home directory that does not exist, returns an error: the store makes missing
/// directories, and making a home is not backoff's task.
fn ask(
    store: &Store,
    budget: &SharedBudget,
    question: Question,
    began: Instant,
    time_limit: Duration,
) -> Answered {
    if is_machine_store(store)
        && let Some(home) = environment::missing_home_of_state()
    {
        return Err(StoreError::MissingHome(home));
    }
    store.ask(budget, question, began, time_limit, since_epoch)
}

fn encode(answered: &Answered) -> Vec<u8> {
    serde_json::to_vec(answered).unwrap_or_default()
}

fn decode(bytes: &[u8]) -> Option<Answered> {
    serde_json::from_slice(bytes).ok()
}

/// Returns true for this machine's own store, that is the directory without `--store`.
pub(super) fn is_machine_store(store: &Store) -> bool {
    store.is_at(&environment::state_home())
}

/// Queries that were given up: they got no answer in time and may still run, as a call that hangs in a file system
/// cannot be ended. So that they do not pile up, their store counts as down until they end.
#[derive(Debug, Default)]
pub(super) struct GivenUp {
    /// A query of this machine's own store.
    own: Option<Query>,
    /// A query of another store.
    other: Option<Query>,
}

impl GivenUp {
    /// Returns the slot for a query of this store; it holds None if no query was given up. Two slots are enough: a run
    /// asks its own store and, if that is down, this machine's.
    fn slot_of(&mut self, store: &Store) -> &mut Option<Query> {
        if is_machine_store(store) {
            &mut self.own
        } else {
            &mut self.other
        }
    }

    pub(super) fn add(&mut self, store: &Store, query: Query) {
        *self.slot_of(store) = Some(query);
    }

    /// Returns true while a query of this store that was given up runs: another one would hang, too. Forgets a query
    /// that has ended, and drops its answer, which comes too late.
    pub(super) fn still_runs(&mut self, store: &Store) -> bool {
        let slot = self.slot_of(store);
        let has_ended = match slot {
            Some(query) => query.answer(store).is_some(),
            None => false,
        };
        if has_ended {
            *slot = None;
        }
        slot.is_some()
    }
}
