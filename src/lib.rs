//! `backoff` runs a command; when it fails for a transient reason it waits and runs it again.
//!
//! The way through the house, one direction only: [`cli`] (what was typed) -> [`plan`] (what it
//! means) -> [`run`] (the loop) -> [`os`] (an attempt, facts only) -> [`policy`] (verdict, decision,
//! delay) -> [`exit`] (the one table). `docs/DESIGN.md` explains the engine, the terminal and signal
//! model and the known limits.

pub mod budget;
pub mod cli;
pub mod config;
pub mod exit;
pub mod generate;
pub mod io;
pub mod observe;
pub mod os;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod presets;
pub mod run;
pub mod settings;
pub mod signal;
pub mod sim;
pub mod speech;
pub mod store;
pub mod streams;
pub mod values;

mod start;

pub use start::main;
