//! All that one command needs from the operating system: processes, signals, the terminal, streams and the clock.
//! Implements [`crate::run::host::Host`]. Holds all `unsafe` of the project, behind safe functions. `sys::system` is
//! the seam between Linux and other systems.
//!
//! Listed from the bottom. A module imports only modules above it in this list.
#![allow(unsafe_code)]

pub(crate) mod sys;

pub(crate) mod signals;

pub(crate) mod spawn;

pub(crate) mod terminal;

pub(crate) mod streams;

pub(crate) mod files;

pub(crate) mod event_loop;

pub(crate) mod attempt;

pub(crate) mod host;

pub(crate) mod entry;
