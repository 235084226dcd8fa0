//! The black-box tests of the program, one module for each behaviour. They run in parallel in one process, so no test
//! may change the environment, directory, limits or signal actions of the process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod alarm;
mod budget;
mod cases;
mod countdown;
mod generated;
mod held;
mod help;
mod hooks;
mod inherit;
mod input;
mod interrupted;
mod lines;
mod links;
mod log;
mod mistakes;
mod modes;
mod options;
mod output;
mod pty;
mod readme;
mod reasons;
mod report;
mod resources;
mod search;
mod signals;
mod stability;
mod terminal;
mod time;
mod unread;
mod waits;
