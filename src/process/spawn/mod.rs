//! Starts the command as `execvp(3)` does, with everything that backoff inherited.
//!
//! On Linux the child shares the parent's memory, and the parent waits until exec, as with `posix_spawn(3)`; elsewhere
//! the child is a copy. All signals are blocked until just before exec.

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
    /// The child's own process group.
    Group,
    /// The child's own session, on the terminal that is its standard output.
    Terminal,
    /// The child's own session, without a terminal.
    Session,
}

/// Replacements of a child's descriptors 0, 1 and 2; None inherits the caller's. Drop once the child has started:
/// otherwise backoff cannot see that the child has closed one.
#[derive(Debug, Default)]
pub(crate) struct ChildStdio {
    pub(crate) input: Option<OwnedFd>,
    pub(crate) outputs: [Option<OwnedFd>; 2],
}
