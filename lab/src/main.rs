//! The lab: what `docs/` says of backoff in figures is simulated and measured here.
//!
//! It is not part of the product and is not published. `lab/README.md` has the commands.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures, and tells what it has found"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the rules of the product's rooms: here everybody may look at the clock and the environment"
)]

mod plots;
mod storm;

use std::process::ExitCode;

use clap::Parser;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Simulates, measures and plots what docs/ says of backoff.
#[derive(Parser)]
#[command(name = "lab")]
enum Study {
    /// Simulates retry storms: the CSV files and plots of docs/storm.md
    Storm(storm::Options),
}

fn main() -> ExitCode {
    let done = match Study::parse() {
        Study::Storm(options) => storm::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}
