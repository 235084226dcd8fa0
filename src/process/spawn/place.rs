//! Where a child is, seen from the terminal.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In backoff's own process group.
    Shared,
    /// In a process group of its own.
    Group,
    /// In a session of its own, on the terminal that is its standard output.
    Terminal,
    /// In a session of its own, without a terminal.
    Session,
}
