//! Stores the state that runs share: a record in a local directory, or in Redis. `policy::budget` decides which retries
//! are allowed.

use std::fmt;

pub mod client;
mod directory;
pub mod record;
#[cfg(feature = "redis")]
pub(crate) mod redis;

/// Problem of a store's address, or of a file that it names. Completes a sentence that quotes the address, and holds none
/// of its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressError(String);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

impl<T: Into<String>> From<T> for AddressError {
    fn from(problem: T) -> AddressError {
        AddressError(problem.into())
    }
}
