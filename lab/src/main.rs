//! The lab: simulates, measures and attacks backoff.
//!
//! It is not part of the product and is not published. `lab/README.md` has the commands.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures, and tells what it has found"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "rules for the product's modules; here all modules may read the clock and the environment"
)]

mod attack;
mod plots;
mod scanner;
mod storm;

use std::process::ExitCode;

use clap::Parser;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Simulates and attacks backoff
#[derive(Parser)]
#[command(name = "lab")]
enum Study {
    /// Simulates retry storms: the CSV files and plots of docs/internals/storm.md
    Storm(storm::Options),
    /// Measures the search in output alone, over log lines in memory
    Scanner(scanner::Options),
    /// Attacks backoff for a while, and prints each lost round
    Attack(attack::Options),
}

fn main() -> ExitCode {
    let done = match Study::parse() {
        Study::Storm(options) => storm::run(&options),
        Study::Scanner(options) => scanner::run(&options),
        Study::Attack(options) => attack::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}
