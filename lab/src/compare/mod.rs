//! backoff next to other tools, in figures.
//!
//! Prints tables, and writes them with a picture into a copy of `docs/performance.md`, which explains what is measured and
//! how. What is compared takes turns. A tool that is missing is named and left out. Those that are not on PATH, or
//! have another name there, are named by TIMEOUT, DEBIAN_RETRY, RECUR, ATTEMPT and EB.

mod dots;
mod floor;
mod goals;
mod log;
mod machine;
mod options;
mod parts;
mod stamps;
mod tools;

use std::fs;

use goals::Goal;
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
struct Figures {
    tables: Vec<Table>,
    goals: Vec<Goal>,
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
    let mut tables = Vec::new();
    add(&mut tables, vec![machine::table(&bench, &missing)]);
    let mut goals = Vec::new();
    for part in bench.options.parts() {
        let measured = parts::measure(*part, &bench)?;
        add(&mut tables, measured.tables);
        goals.extend(measured.goals);
    }
    // They are about all parts.
    if bench.options.has_all_parts() {
        goals.push(machine::size_of_program(&bench)?);
        add(&mut tables, vec![goals::table(&goals)]);
    }
    write(&bench, &tables)
}

/// Prints them as well.
fn add(all: &mut Vec<Table>, tables: Vec<Table>) {
    for table in tables {
        println!("{}", table.markdown());
        all.push(table);
    }
}

fn write(bench: &Bench, tables: &[Table]) -> Result<()> {
    let page = fs::read_to_string(builds::root().join("docs").join(PAGE))?;
    let path = bench.options.dir().join(PAGE);
    fs::write(&path, document::filled(&page, tables)?)?;
    println!("The page is {}.", path.display());
    Ok(())
}
