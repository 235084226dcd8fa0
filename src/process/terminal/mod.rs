//! The terminal: job control, a pseudo-terminal for the command, the countdown.

pub(crate) mod control;
pub(crate) mod countdown;
pub(crate) mod modes;
pub(crate) mod pty;
