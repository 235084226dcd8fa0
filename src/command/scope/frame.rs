//! The arguments and the environment that a script gets from the program that runs it. The same text run with others is
//! another script: `$1` and `$HOME` in it have other values.

use crate::command::text::Symbols;

/// The arguments and the environment of a script.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    /// `$0`, `$1` and so on; None if they are unknown.
    pub(crate) arguments: Option<Vec<Symbols>>,
    pub(crate) environment: Inherited,
}

/// How much of backoff's environment a script has; each variant leaves less than the one before it, and compares as
/// greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Inherited {
    All,
    /// Variables may be missing, as behind sudo.
    Part,
    /// Variables may be missing or have other values, as the script may run elsewhere, although it or its files are
    /// those of this machine.
    Unknown,
    /// None of it: another machine's or a container's, whose files are others, too.
    None,
}
