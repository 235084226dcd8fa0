//! The terminal: job control, a pseudo-terminal for the command, the countdown.

mod claim;
mod company;
pub(crate) mod countdown;
pub(crate) mod foreground;
pub(crate) mod fresh_line;
pub(crate) mod job;
mod keyboard;
pub(crate) mod modes;
pub(crate) mod pty;
pub(crate) mod size;

use crate::process::sys::environment;

/// Whether the terminal is one that can only print, or nobody knows better.
fn is_dumb() -> bool {
    environment::variable("TERM").is_none_or(|term| term.is_empty() || term == b"dumb")
}
