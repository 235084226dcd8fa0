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

mod attack;
mod behaviour;
mod bench;
mod builds;
mod child;
mod compare;
mod counts;
mod document;
mod measure;
mod plots;
mod storm;
mod table;

use std::process::ExitCode;

use clap::Parser;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Simulates, measures and plots what docs/ says of backoff.
#[derive(Parser)]
#[command(name = "lab")]
enum Study {
    /// Simulates retry storms: the CSV files and plots of docs/storm.md
    Storm(storm::Options),
    /// Puts backoff and other tools through the same scenes: the tables of docs/comparison.md
    Behaviour(behaviour::Options),
    /// Measures backoff next to other tools: the tables and the picture of docs/performance.md
    Compare(compare::Options),
    /// Counts instructions, page faults and system calls, and compares them with lab/counts.csv
    Counts(counts::Options),
    /// Measures the search in output by itself, over log lines in memory
    Scanner(bench::scanner::Options),
    /// Measures budgets: a storm of real runs, and what a run that succeeds pays
    Store(bench::store::Options),
    /// Attacks backoff from all sides for a while, and tells what did not hold
    Attack(attack::Options),
    /// What `attack` runs below a terminal
    #[command(hide = true)]
    JobShell(attack::JobShell),
}

fn main() -> ExitCode {
    let done = match Study::parse() {
        Study::Storm(options) => storm::run(&options),
        Study::Behaviour(options) => behaviour::run(&options),
        Study::Compare(options) => compare::run(options),
        Study::Counts(options) => counts::run(&options),
        Study::Scanner(options) => bench::scanner::run(&options),
        Study::Store(options) => bench::store::run(&options),
        Study::Attack(options) => attack::run(&options),
        Study::JobShell(options) => attack::job_shell(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}
