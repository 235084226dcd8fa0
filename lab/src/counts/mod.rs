//! What a run costs in counts that a busy machine does not change: instructions, page faults and system calls of the static
//! build, next to those that are committed. A time never decides anything here.

mod committed;
mod situations;
mod taken;

use std::fs;

use clap::Args;
use committed::Row;
use nix::unistd::setsid;

use crate::table::Table;
use crate::{Result, builds, document};

/// What is counted of each situation.
const KINDS: [&str; 3] = ["instructions", "page faults", "system calls"];
type Counts = [u64; KINDS.len()];

#[derive(Args)]
pub struct Options {
    /// Writes lab/counts.csv and the table of docs/performance.md
    #[arg(long)]
    bless: bool,
}

pub fn run(options: &Options) -> Result<()> {
    // With a terminal there are more calls. The first process of a job cannot leave it.
    let _ = setsid();
    let backoff = builds::static_one()?.ok_or("there is no compiler for the static build")?;
    let backoff = builds::installed(&backoff, "counted")?;
    let taken = situations::count(&backoff)?;
    println!("{}", table(&taken).markdown());
    let file = builds::root().join("lab/counts.csv");
    if options.bless {
        committed::within_limits(&taken)?;
        fs::write(&file, committed::csv(&taken))?;
        let page = builds::root().join("docs/performance.md");
        let filled = document::filled(&fs::read_to_string(&page)?, &[table(&taken)])?;
        return Ok(fs::write(&page, filled)?);
    }
    let committed = committed::parse(&fs::read_to_string(&file)?)?;
    committed::within_limits(&committed)?;
    let verdict = committed::compare(&committed, &taken);
    for line in verdict.shrunk.iter().chain(&verdict.grown) {
        println!("{line}");
    }
    match verdict.grown.len() {
        0 => Ok(()),
        count => {
            Err(format!("{count} counts are not those of lab/counts.csv; after a look: lab counts --bless").into())
        }
    }
}

fn table(rows: &[Row]) -> Table {
    let title = "Of the static build, without what the command does itself.";
    let columns: Vec<&str> = ["run"].into_iter().chain(KINDS).collect();
    let mut table = Table::new("counts", title, &columns);
    for row in rows {
        let cells = row.counts.iter().map(u64::to_string);
        table.row([format!("`{}`", row.situation)].into_iter().chain(cells));
    }
    table
}
