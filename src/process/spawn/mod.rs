//! Starting the command: what `execvp(3)` does, with everything as backoff was given it.
//!
//! On Linux the child shares the parent's memory, and the parent waits until exec, as `posix_spawn(3)` does it; elsewhere it
//! is a copy. All signals are blocked until the last moment.

use std::os::fd::OwnedFd;

pub(crate) mod child;
pub(crate) mod command;
mod environment;
pub(crate) mod start;

/// The process group, session and terminal of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// backoff's own process group.
    Shared,
    /// A process group of its own.
    Group,
    /// A session of its own, on the terminal that is its standard output.
    Terminal,
    /// A session of its own, without a terminal.
    Session,
}

/// Replacements of a child's descriptors 0, 1 and 2; None is the caller's own. To be dropped once the child has started: only
/// then can be seen that it has closed one.
#[derive(Debug, Default)]
pub(crate) struct ChildStdio {
    pub(crate) input: Option<OwnedFd>,
    pub(crate) outputs: [Option<OwnedFd>; 2],
}
