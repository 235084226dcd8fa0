//! Stores the counts of shared budgets, in a local directory or in Redis. A store makes each step atomic.
//! [`policy::budget`](crate::policy::budget) decides which retries are allowed.

mod directory;
#[cfg(feature = "redis")]
mod redis;
pub(crate) mod store;

use std::fmt;

/// A problem with a store, its address, or a file that the address names, as text without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}
