//! A query of a budget store, in a forked child that can be given up: a call that hangs in a file system cannot be
//! ended.

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

/// Time after its limit in which a query that has not given up by itself is ended.
const GRACE: Duration = Duration::from_secs(1);

/// Limit on the additional time for a query that has no CPU.
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
    /// Forks a child that asks the store. It gives up by itself after `time_limit`; if it hangs, a timer ends it some
    /// seconds later. An error means that no process could be made.
    pub(super) fn start(
        store: &Store,
        budget: &SharedBudget,
        question: Question,
        time_limit: Duration,
    ) -> io::Result<Query> {
        // All queries need the certificates, and those that a child reads are gone with the child.
        store.load_certificates();
        let began = now();
        let child = Forked::start(time_limit + MOST_TIME_FOR_CPU + GRACE, || {
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

    /// Returns the answer once the child has ended; None while it runs. Does not wait. A child that died without an
    /// answer gives an error. After an answer, do not call again.
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

/// Asks a store, in the child. `began` and `time_limit` tell when it has to give up. If this machine's own store would
/// lie in a home directory that does not exist, returns an error, as making one is not backoff's task.
fn ask(
    store: &Store,
    budget: &SharedBudget,
    question: Question,
    began: Instant,
    time_limit: Duration,
) -> Answered {
    if is_own(store)
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

/// Returns true for this machine's own store.
pub(super) fn is_own(store: &Store) -> bool {
    store.is_at(&environment::state_home())
}

/// Queries that got no answer in time and may still run, as a call that hangs in a file system cannot be ended. So that
/// they do not pile up, their store counts as down until they end.
#[derive(Debug, Default)]
pub(super) struct GivenUp {
    /// A query of this machine's own store.
    own: Option<Query>,
    /// A query of another store.
    other: Option<Query>,
}

impl GivenUp {
    /// Returns the place of this store's query that was given up; None stands there if there is none. A run has at most
    /// two stores: its own and this machine's.
    fn slot_of(&mut self, store: &Store) -> &mut Option<Query> {
        if is_own(store) {
            &mut self.own
        } else {
            &mut self.other
        }
    }

    pub(super) fn add(&mut self, store: &Store, query: Query) {
        *self.slot_of(store) = Some(query);
    }

    /// Returns true while a query of this store that was given up runs. Forgets one that has ended.
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
