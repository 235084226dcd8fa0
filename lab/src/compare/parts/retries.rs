//! What one more attempt costs when there is no wait before it.

use crate::compare::goals::Goal;
use crate::compare::tools::NO_WAIT;
use crate::compare::{Bench, Figures};
use crate::measure::{Spread, in_turns, median};
use crate::table::{Table, digits};
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

    let title = format!(
        "`TOOL {COMMAND}` with {} attempts less one with 1, by {retries}, over starting `{COMMAND}` from the benchmark, which \
         takes {} ms; {rounds} rounds",
        retries + 1,
        digits(median(from_here.iter().map(|seconds| 1e3 * seconds)))
    );
    let mut table = Table::new("retries", &title, &["tool", "one more attempt"]);
    let mut of_static = None;
    for (tool, own) in tools.into_iter().zip(times) {
        let times_from_here = Spread::of_ratio(own, from_here);
        table.row([tool.title.to_owned(), times_from_here.to_string()]);
        if tool.is_static() {
            of_static = Some(times_from_here);
        }
    }
    let what = "one more attempt without a wait, times starting the command from here";
    Ok(Figures {
        tables: vec![table],
        goals: vec![Goal::new(what, "1.25", of_static)],
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
