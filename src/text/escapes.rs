//! Terminal escape sequences (ECMA-48).

pub(crate) const GREEN: &str = "\x1b[32m";

/// Plain yellow is unreadable on white.
pub(crate) const BOLD_YELLOW: &str = "\x1b[1;33m";

pub(crate) const RED: &str = "\x1b[31m";

/// Ends colors.
pub(crate) const RESET: &str = "\x1b[0m";

/// Erases from the cursor to the end of the line.
pub(crate) const ERASE_TO_END: &str = "\x1b[K";
