//! The state that runs share: a record in a directory of this machine, or in Redis. What is allowed is decided in
//! `policy::budget`; here it is kept.

pub mod client;
mod directory;
pub mod record;
#[cfg(feature = "redis")]
pub(crate) mod redis;
