//! The retry-storm simulator: the cost of each strategy, in numbers, tables and plots.
//!
//! [`sim`] simulates, [`figures`] makes tables, CSV files and plots. The seed is fixed, so the figures are the same
//! each time. `docs/internals/storm.md` explains the figures; its files are made with `docs/internals/storm` as the
//! directory.

mod figures;
mod sim;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::Result;

#[derive(Args)]
pub struct Options {
    /// Directory for CSV files and plots; docs/internals/storm for those of the documentation
    #[arg(value_name = "OUT-DIR")]
    out_dir: PathBuf,

    /// Leave out the storms of a million clients, which take a minute
    #[arg(long)]
    quick: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let into = &options.out_dir;
    fs::create_dir_all(into)?;
    figures::contention(into)?;
    figures::load(into)?;
    if !options.quick {
        figures::storm(into)?;
    }
    figures::caps(into)?;
    println!("CSV files and plots are in {}", into.display());
    Ok(())
}
