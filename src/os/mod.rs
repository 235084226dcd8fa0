//! The operating system: processes, signals, the clock, the terminal. Effects only. All `unsafe`
//! of the project is in here, behind safe functions.
#![allow(unsafe_code)]

mod attempt;
pub mod child;
pub mod environment;
pub mod host;
pub mod leave;
pub mod random;
pub mod signals;
pub mod spawn;
pub mod start;
pub mod stdio;
pub mod terminal;
pub mod tree;
