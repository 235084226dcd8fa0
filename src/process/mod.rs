//! Everything that touches the operating system for one command: processes, signals, the terminal, streams, the clock.
//! Implements [`crate::run::host::Host`]. All `unsafe` of the project is in here, behind safe functions.
#![allow(unsafe_code)]

pub mod attempt;
mod background;
pub mod entry;
pub mod host;
mod leave;
mod messages;
mod replace;
pub mod signals;
pub mod spawn;
pub mod streams;
pub mod sys;
pub mod terminal;
