//! Stores the state that runs share: a record in a local directory, or in Redis. `policy::budget` decides which retries
//! are allowed.

use std::fmt;

use serde::{Deserialize, Serialize};

pub mod client;
mod directory;
pub mod record;
#[cfg(feature = "redis")]
pub(crate) mod redis;

/// Problem of a store, of its address, or of a file that the address names. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

impl<T: Into<String>> From<T> for StoreError {
    fn from(problem: T) -> StoreError {
        StoreError(problem.into())
    }
}
