//! What one more attempt costs when there is no wait before it.

use crate::compare::columns::{Column, FLOOR};
use crate::compare::tools::NO_WAIT;
use crate::compare::{Bench, Figures};
use crate::measure::{Spread, in_turns, median};
use crate::table::digits;
use crate::{Result, child};

const COMMAND: &str = "false";

/// With one attempt, and with many.
type Pair = [Vec<String>; 2];

pub fn measure(bench: &Bench) -> Result<Figures> {
    let rounds = bench.rounds(20, 2);
    let retries = bench.rounds(100, 20);
    let mut commands = vec![None];
    let mut tools = Vec::new();
    for tool in &bench.tools {
        let words = |attempts| tool.wrap(attempts, NO_WAIT, &[COMMAND]);
        if let (Some(once), Some(often)) = (words(1), words(1 + retries)) {
            tools.push(tool);
            commands.push(Some([once, often]));
        }
    }
    let times = in_turns(&commands, 1, rounds, |pair| attempt(pair.as_ref(), retries))?;
    let (from_here, times) = times.split_first().ok_or("nothing was measured")?;

    let mut column = Column::new("one more attempt", "1.25");
    column.set(FLOOR, "1");
    for (tool, own) in tools.into_iter().zip(times) {
        column.set(tool.title, Spread::of_ratio(own, from_here).to_string());
    }
    let scale = format!(
        "One more attempt of `{COMMAND}` is without a wait, times starting it from the benchmark, which takes {} ms ({rounds} rounds \
         of {retries}).",
        digits(median(from_here.iter().map(|seconds| 1e3 * seconds)))
    );
    Ok(Figures {
        columns: vec![column],
        scales: vec![scale],
        tables: Vec::new(),
    })
}

/// Seconds an attempt, of a tool or of the bare command.
fn attempt(pair: Option<&Pair>, retries: usize) -> Result<f64> {
    let time = |words: &[String]| child::time(&mut child::of_words(words));
    let all = match pair {
        Some([once, often]) => time(often)? - time(once)?,
        None => {
            let bare = [COMMAND.to_owned()];
            (0..retries).try_fold(0.0, |all, _| Ok::<_, Box<dyn std::error::Error>>(all + time(&bare)?))?
        }
    };
    Ok(all / retries as f64)
}
