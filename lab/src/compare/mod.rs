//! backoff next to other tools, in figures.
//!
//! Prints tables, and writes them as Markdown and CSV, with charts, into a directory. What is compared takes
//! turns; `docs/performance.md` explains what is measured and how. A tool that is missing is left out. Those
//! that are not on PATH, or have another name there, are named by TIMEOUT, DEBIAN_RETRY, RECUR, ATTEMPT and EB.

mod document;
mod dots;
mod floor;
mod hyperfine;
mod load;
mod machine;
mod options;
mod parts;
mod precedence;
mod stamps;
mod summary;
mod table;
mod tools;

use std::fs;
use std::path::PathBuf;

pub use options::Options;
use options::Part;
use summary::Headline;
use table::Table;
use tools::Tool;

use crate::{Result, builds};

/// What the parts are given.
struct Bench {
    tools: Vec<Tool>,
    options: Options,
    /// Where files go.
    into: PathBuf,
    /// The child that tells when it was started.
    probe: String,
}

/// What they give back.
#[derive(Default)]
struct Figures {
    tables: Vec<Table>,
    headlines: Vec<Headline>,
}

impl Bench {
    /// Before others, where that was asked for.
    fn first(&self, first: bool) -> Result<()> {
        if self.options.first {
            precedence::set(first)
        } else {
            Ok(())
        }
    }

    /// How often, unless it has to be quick.
    fn rounds(&self, full: usize, quick: usize) -> usize {
        if self.options.quick { quick } else { full }
    }
}

pub fn run(options: Options) -> Result<()> {
    let (tools, missing) = tools::find()?;
    let bench = Bench {
        tools,
        into: options.dir(),
        options,
        probe: builds::probe()?,
    };
    fs::create_dir_all(&bench.into)?;
    let mut all = Figures::default();
    add(&mut all.tables, vec![machine::table(&bench, &missing)]);
    for part in bench.options.parts() {
        // A pipeline takes all processors, and would take them from everybody.
        bench.first(*part != Part::Throughput)?;
        let measured = parts::measure(*part, &bench)?;
        add(&mut all.tables, measured.tables);
        all.headlines.extend(measured.headlines);
    }
    // The short answer is to all questions.
    if bench.options.has_all_parts() {
        add(&mut all.tables, vec![summary::table(&bench.tools, &all.headlines)]);
    }
    write(&bench, &all.tables)
}

/// Prints them as well.
fn add(all: &mut Vec<Table>, tables: Vec<Table>) {
    for table in tables {
        println!("{}", table.markdown());
        all.push(table);
    }
}

fn write(bench: &Bench, tables: &[Table]) -> Result<()> {
    for table in tables {
        table.write_csv(&bench.into)?;
    }
    match bench.options.document() {
        Some(document) => document::fill(&document, tables)?,
        None => tables.iter().try_for_each(|table| table.write_markdown(&bench.into))?,
    }
    println!("Tables and charts are in {}.", bench.into.display());
    Ok(())
}
