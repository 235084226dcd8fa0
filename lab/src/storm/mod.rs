//! The retry-storm simulator: what the strategies cost, in numbers, tables and plots.
//!
//! [`sim`] simulates, [`figures`] makes tables, CSV files and plots of it. The seed is fixed: the figures are the same
//! each time, but for the seconds that a run took. `docs/storm.md` explains them; its files are made with `docs/storm`
//! as the directory.

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
    /// Where CSV files and plots go; docs/storm for those of the documentation
    #[arg(value_name = "OUT-DIR")]
    out_dir: PathBuf,

    /// Leave out the storms of a million clients and the overloads after an outage, which take two minutes
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
        figures::recovery(into)?;
    }
    figures::caps(into)?;
    if let Some(peak) = peak_memory() {
        println!("\nmost memory that this program held at once: {peak}");
    }
    println!("CSV files and plots are in {}", into.display());
    Ok(())
}

/// Where the system tells it (Linux).
fn peak_memory() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
