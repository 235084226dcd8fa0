//! Stores the state that runs share: a record in a local directory, or in Redis. `policy::budget` decides which retries
//! are allowed.

pub mod client;
mod directory;
mod errors;
pub mod record;
#[cfg(feature = "redis")]
pub(crate) mod redis;

pub use errors::StoreError;
