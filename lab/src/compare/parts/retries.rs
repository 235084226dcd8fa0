//! What one more attempt costs when there is no wait before it.

use crate::compare::dots::Dots;
use crate::compare::summary::Headline;
use crate::compare::table::{Table, digits};
use crate::compare::tools::NO_WAIT;
use crate::compare::{Bench, Figures};
use crate::measure::{in_turns, median, over};
use crate::{Result, child};

const COMMAND: &str = "false";

/// With one attempt, and with many.
type Pair = [Vec<String>; 2];

pub fn measure(bench: &Bench) -> Result<Figures> {
    let rounds = bench.rounds(20, 2);
    let retries = bench.rounds(100, 20);
    let mut titles = vec!["starting the command from here"];
    let mut commands = vec![None];
    for tool in &bench.tools {
        let words = |attempts| tool.wrap(attempts, NO_WAIT, &[COMMAND]);
        if let (Some(once), Some(often)) = (words(1), words(1 + retries)) {
            titles.push(tool.title);
            commands.push(Some([once, often]));
        }
    }
    let times = in_turns(&commands, 1, rounds, |pair| attempt(pair.as_ref(), retries))?;

    let title = format!(
        "`TOOL {COMMAND}` with {} attempts less one with 1, by {retries}; {rounds} rounds in turns, medians",
        retries + 1
    );
    let columns = ["tool", "an attempt, ms", "over the bare command, ms"];
    let mut table = Table::new("retries", &title, &columns);
    let mut headline = Headline::new("one more attempt without a wait, ms");
    let mut dots = Vec::new();
    for (title, own) in titles.into_iter().zip(&times) {
        let attempt = median(own.iter().copied());
        table.row([title.to_owned(), digits(attempt), digits(over(own, &times[0]))]);
        headline.set(title, digits(attempt));
        dots.push((title, attempt));
    }
    Dots {
        title: "One more attempt, without a wait",
        axis: "milliseconds",
        dots: &dots,
    }
    .write(&bench.into.join("retries.svg"))?;
    Ok(Figures {
        tables: vec![table],
        headlines: vec![headline],
    })
}

/// Milliseconds an attempt, of a tool or of the bare command.
fn attempt(pair: Option<&Pair>, retries: usize) -> Result<f64> {
    let time = |words: &[String]| child::time(&mut child::of_words(words));
    match pair {
        Some([once, often]) => {
            let often = time(often)?;
            Ok(1e3 * (often - time(once)?) / retries as f64)
        }
        None => {
            let bare = [COMMAND.to_owned()];
            let times: Result<Vec<f64>> = (0..retries).map(|_| time(&bare)).collect();
            Ok(1e3 * median(times?))
        }
    }
}
