//! The terminal: job control, a pseudo-terminal for the command, the countdown.

pub mod countdown;
pub mod job;
pub mod pty;
