//! Stores the counts of shared budgets, in a local directory or in Redis. A store makes each step atomic.
//! [`policy::budget`](crate::policy::budget) decides which retries are allowed. An error is a text without secrets,
//! about a store, its address, or a file that the address names.

mod directory;
#[cfg(feature = "redis")]
mod redis;
pub(crate) mod store;
