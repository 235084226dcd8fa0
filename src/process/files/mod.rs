//! Files that backoff makes: the log, the report and the file of `$BACKOFF_ENV`.

pub(crate) mod clash;
pub(crate) mod env_file;
mod target;
pub(crate) mod write;
