//! Everything that touches the operating system for one command: processes, signals, the terminal, streams, the clock.
//! Implements [`crate::run::host::Host`]. All `unsafe` of the project is in here, behind safe functions.
//!
//! From the bottom: an import within this room only goes up this list.
#![allow(unsafe_code)]

pub mod sys;

pub mod signals;

pub mod spawn;

pub mod terminal;

pub mod streams;

pub mod attempt;

pub mod host;

mod leave;

pub mod entry;
