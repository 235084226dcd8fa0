//! backoff next to other tools, in figures.
//!
//! Prints tables, and writes them with a picture into of `docs/performance.md`, which explains what is measured and
//! how. What is compared takes turns. A tool that is missing is named and left out. Those that are not on PATH, or
//! have another name there, are named by TIMEOUT, DEBIAN_RETRY, RECUR, ATTEMPT and EB.

mod columns;
mod dots;
mod floor;
mod log;
mod machine;
mod options;
mod parts;
mod stamps;
mod tools;

use std::fs;

use columns::Column;
pub use options::Options;
use tools::Tool;

use crate::table::Table;
use crate::{Result, builds, document};

const PAGE: &str = "performance.md";

/// What the parts are given.
struct Bench {
    tools: Vec<Tool>,
    options: Options,
    /// The child that tells when it was started.
    probe: String,
}

/// What they give back.
#[derive(Default)]
struct Figures {
    /// Of the table of tools.
    columns: Vec<Column>,
    /// What the figures of these columns are.
    scales: Vec<String>,
    tables: Vec<Table>,
}

impl Bench {
    /// How often, unless it has to be quick.
    fn rounds(&self, full: usize, quick: usize) -> usize {
        if self.options.quick { quick } else { full }
    }

    /// The builds of backoff that are here.
    fn backoffs(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| tool.is_backoff())
    }
}

pub fn run(options: Options) -> Result<()> {
    let (tools, missing) = tools::find()?;
    let bench = Bench {
        tools,
        options,
        probe: builds::probe()?,
    };
    fs::create_dir_all(bench.options.dir().join("performance"))?;
    let machine = machine::table(&bench, &missing)?;
    let mut all = Figures::default();
    for part in bench.options.parts() {
        eprintln!("measuring {part:?}");
        let measured = parts::measure(*part, &bench)?;
        all.columns.extend(measured.columns);
        all.scales.extend(measured.scales);
        all.tables.extend(measured.tables);
    }
    if !all.columns.is_empty() {
        let tools = columns::table(&all.scales.join(" "), &bench.tools, &all.columns);
        all.tables.insert(0, tools);
    }
    all.tables.push(machine);
    for table in &all.tables {
        println!("{}", table.markdown());
    }
    // The page is about all parts.
    match bench.options.has_all_parts() {
        true => write(&bench, &all.tables),
        false => Ok(()),
    }
}

fn write(bench: &Bench, tables: &[Table]) -> Result<()> {
    let page = fs::read_to_string(builds::root().join("docs").join(PAGE))?;
    let path = bench.options.dir().join(PAGE);
    fs::write(&path, document::filled(&page, tables)?)?;
    println!("The page is {}.", path.display());
    Ok(())
}
