//! The terminal: job control, a pseudo-terminal for the command, the countdown.

pub mod countdown;
pub mod foreground;
pub mod job;
mod keyboard;
pub mod modes;
pub mod pty;
pub mod size;
