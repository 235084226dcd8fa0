//! What one more attempt costs when there is no wait before it.

use crate::dots::Dots;
use crate::measure::{in_turns, median, over};
use crate::summary::Headline;
use crate::table::{Table, digits};
use crate::tools::{self, NO_WAIT};
use crate::{Bench, Outcome, Part};

const COMMAND: &str = "false";

pub fn measure(bench: &Bench) -> Outcome<Part> {
    let rounds = bench.rounds(20, 2);
    let retries = bench.rounds(100, 20);
    let once_and_often = |words: &dyn Fn(usize) -> Option<Vec<String>>| Some([words(1)?, words(1 + retries)?]);
    let mut titles = vec!["starting the command from here"];
    let mut commands = vec![None];
    for tool in &bench.tools {
        if let Some(pair) = once_and_often(&|attempts| tool.wrap(attempts, NO_WAIT, &[COMMAND])) {
            titles.push(tool.title);
            commands.push(Some(pair));
        }
    }
    // Milliseconds an attempt.
    let bare = [COMMAND.to_owned()];
    let times = in_turns(&commands, 1, rounds, |pair| match pair {
        Some([once, often]) => 1e3 * (tools::time(often) - tools::time(once)) / retries as f64,
        None => 1e3 * median((0..retries).map(|_| tools::time(&bare))),
    });

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
    .write(&bench.options.into.join("retries.svg"))?;
    Ok(Part {
        tables: vec![table],
        headlines: vec![headline],
    })
}
