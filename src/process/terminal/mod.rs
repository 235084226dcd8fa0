//! The terminal: job control, a pseudo-terminal for the command, the countdown.

pub(crate) mod countdown;
pub(crate) mod foreground;
pub(crate) mod job;
mod keyboard;
pub(crate) mod modes;
pub(crate) mod pty;
pub(crate) mod size;
