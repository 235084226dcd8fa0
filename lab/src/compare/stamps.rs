//! When the attempts of a run were started, as their commands saw it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::tools::Tool;
use super::{Bench, floor};
use crate::{Result, child};

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

/// From the start of each attempt to the start of the next, in seconds, of a run with so many waits.
pub fn gaps(bench: &Bench, runner: &Runner, waits: usize, wait: Duration) -> Result<Vec<f64>> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("stamps");
    let path = file.to_str().ok_or("a temporary directory that is not UTF-8")?;
    let command = [&bench.probe, "stamp", path, "1"];
    match runner {
        Runner::Floor => floor::run(waits + 1, wait, &command)?,
        Runner::Tool(tool) => {
            let words = tool.wrap(waits + 1, wait, &command);
            let words = words.ok_or_else(|| format!("{} cannot wait so", tool.title))?;
            child::time(&mut child::of_words(&words))?;
        }
    }
    let gaps = between(&file)?;
    if gaps.len() != waits {
        return Err(format!("{}: {} waits instead of {waits}", runner.title(), gaps.len()).into());
    }
    Ok(gaps)
}

fn between(file: &Path) -> Result<Vec<f64>> {
    let text = fs::read_to_string(file)?;
    let stamps: std::result::Result<Vec<u64>, _> = text.lines().map(str::parse).collect();
    let gaps = stamps?
        .windows(2)
        .map(|pair| Duration::from_nanos(pair[1] - pair[0]).as_secs_f64())
        .collect();
    Ok(gaps)
}
