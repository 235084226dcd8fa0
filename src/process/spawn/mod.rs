//! Starting the command: what `execvp(3)` does, with everything as backoff was given it.
//!
//! On Linux the child shares the parent's memory, and the parent waits until exec, as `posix_spawn(3)` does it; elsewhere it
//! is a copy. All signals are blocked until the last moment.

pub(crate) mod child;
pub(crate) mod child_stdio;
pub(crate) mod place;
pub(crate) mod program;
mod start;
