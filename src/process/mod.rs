//! Everything that touches the operating system for one command: processes, signals, the terminal, streams, the clock.
//! Implements [`crate::run::host::Host`]. All `unsafe` of the project is in here, behind safe functions.
//!
//! From the bottom: an import within this room only goes up this list.
#![allow(unsafe_code)]

pub(crate) mod sys;

pub(crate) mod signals;

pub(crate) mod spawn;

pub(crate) mod terminal;

pub(crate) mod streams;

pub(crate) mod attempt;

pub(crate) mod host;

pub(crate) mod entry;
