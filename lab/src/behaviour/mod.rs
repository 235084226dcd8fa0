//! What backoff and other tools do in the same small scenes: the tables of `docs/comparison.md`.
//!
//! `tables.sh` is a script for bash, as the scenes are about shells, pipes, terminals and signals. `tools.sh` has the
//! tools, and the variables that name those that are not on PATH; `rows.sh` has how each row is measured.

use std::process::Stdio;

use clap::Args;

use crate::{Result, builds, child};

#[derive(Args)]
pub struct Options {
    /// What to measure, all unless named: the functions row_ROW of lab/src/behaviour/rows.sh
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    let script = builds::root().join("lab/src/behaviour/tables.sh");
    let mut bash = child::command("bash");
    let status = bash
        .arg(script)
        .args(&options.rows)
        .env("BACKOFF", builds::plain()?)
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err("the tables are not complete".into())
    }
}
