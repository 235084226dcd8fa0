//! When the attempts of a run were started, as their commands saw it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::tools::{self, Tool, Wait};
use crate::{Bench, Outcome, floor};

/// What retries: a tool, or this program itself.
#[derive(Clone)]
pub enum Runner {
    Floor,
    Tool(Tool),
}

impl Runner {
    pub fn title(&self) -> &'static str {
        match self {
            Runner::Floor => "the machine itself",
            Runner::Tool(tool) => tool.title,
        }
    }
}

/// From the start of each attempt to the start of the next, in seconds, of a run with so many waits; None if it
/// cannot wait so. `more` options go first.
pub fn gaps(bench: &Bench, runner: &Runner, waits: usize, wait: Wait, more: &[&str]) -> Outcome<Option<Vec<f64>>> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("stamps");
    let child = [&bench.probe, "stamp", file.to_str().unwrap(), "1"];
    match (runner, wait) {
        (Runner::Floor, Wait::Fixed(length)) => floor::run(waits + 1, length, &child),
        (Runner::Floor, Wait::UpTo(_)) => return Ok(None),
        (Runner::Tool(tool), wait) => {
            let Some(mut words) = tool.wrap(waits + 1, wait, &child) else {
                return Ok(None);
            };
            words.splice(1..1, more.iter().map(|word| (*word).to_owned()));
            tools::time(&words);
        }
    }
    let gaps = between(&file)?;
    if gaps.len() != waits {
        return Err(format!("{}: {} waits instead of {waits}", runner.title(), gaps.len()).into());
    }
    Ok(Some(gaps))
}

fn between(file: &Path) -> Outcome<Vec<f64>> {
    let text = fs::read_to_string(file)?;
    let stamps: Result<Vec<u64>, _> = text.lines().map(str::parse).collect();
    let gaps = stamps?
        .windows(2)
        .map(|pair| Duration::from_nanos(pair[1] - pair[0]).as_secs_f64())
        .collect();
    Ok(gaps)
}
