//! Files that backoff makes: the log and the report.

pub(crate) mod clash;
mod target;
pub(crate) mod write;
