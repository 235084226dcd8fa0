//! backoff next to other tools, in figures: `benches/run`, which builds what is measured.
//!
//! Prints tables, and writes them as Markdown and CSV, with charts, into a directory. What is compared takes
//! turns; `docs/performance.md` explains what is measured and how.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod document;
mod dots;
mod floor;
mod hyperfine;
mod jitter;
mod load;
mod machine;
#[path = "../measure/mod.rs"]
mod measure;
mod memory;
mod options;
mod plots;
mod precedence;
mod retries;
mod stamps;
mod startup;
mod summary;
mod table;
mod throughput;
mod tools;
mod waits;

use std::error::Error;
use std::fs;
use std::process::ExitCode;

use options::{Options, PARTS};
use summary::Headline;
use table::Table;
use tools::Tool;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What the parts are given.
struct Bench {
    tools: Vec<Tool>,
    options: Options,
    /// The child that tells when it was started.
    probe: String,
}

/// What they give back.
#[derive(Default)]
struct Part {
    tables: Vec<Table>,
    headlines: Vec<Headline>,
}

impl Bench {
    /// Before others, where that was asked for.
    fn first(&self, first: bool) -> Outcome<()> {
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

fn main() -> ExitCode {
    let Some(options) = options::parse(std::env::args().skip(1)) else {
        eprint!("{}", options::USAGE);
        return ExitCode::from(2);
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Outcome<()> {
    let (tools, missing) = tools::find();
    let bench = Bench {
        tools,
        options,
        probe: common::probe(),
    };
    fs::create_dir_all(&bench.options.into)?;
    let mut tables = vec![machine::table(&bench, &missing)];
    println!("{}", tables[0].markdown());
    let mut headlines = Vec::new();
    for part in &bench.options.parts {
        // A pipeline takes all processors, and would take them from everybody.
        bench.first(part != "throughput")?;
        let measured = match part.as_str() {
            "start-up" => startup::measure(&bench)?,
            "retries" => retries::measure(&bench)?,
            "memory" => memory::measure(&bench)?,
            "waits" => waits::measure(&bench)?,
            "jitter" => jitter::measure(&bench)?,
            _ => throughput::measure(&bench)?,
        };
        for table in &measured.tables {
            println!("{}", table.markdown());
        }
        tables.extend(measured.tables);
        headlines.extend(measured.headlines);
    }
    // The short answer is to all questions.
    if PARTS
        .iter()
        .all(|part| bench.options.parts.iter().any(|own| own == part))
    {
        let table = summary::table(&bench.tools, &headlines);
        println!("{}", table.markdown());
        tables.push(table);
    }
    for table in &tables {
        table.write_csv(&bench.options.into)?;
    }
    match &bench.options.document {
        Some(document) => document::fill(document, &tables)?,
        None => tables
            .iter()
            .try_for_each(|table| table.write_markdown(&bench.options.into))?,
    }
    println!("Tables and charts are in {}.", bench.options.into.display());
    Ok(())
}
