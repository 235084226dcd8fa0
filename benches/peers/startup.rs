//! What a tool adds to a command that succeeds.

use crate::dots::Dots;
use crate::measure::{in_turns, median, over};
use crate::summary::Headline;
use crate::table::{Table, digits, or_dash};
use crate::tools::{self, NO_WAIT};
use crate::{Bench, Outcome, Part, hyperfine};

const COMMAND: &str = "true";

pub fn measure(bench: &Bench) -> Outcome<Part> {
    let rounds = bench.rounds(400, 5);
    let mut titles = vec!["the bare command"];
    let mut commands = vec![vec![COMMAND.to_owned()]];
    for tool in &bench.tools {
        if let Some(words) = tool.wrap(1, NO_WAIT, &[COMMAND]) {
            titles.push(tool.title);
            commands.push(words);
        }
    }
    let times = in_turns(&commands, rounds / 20, rounds, |words| tools::time(words));
    let checked = checked(&commands, bench.rounds(200, 5));

    let title = format!("`TOOL {COMMAND}`, {rounds} rounds in turns, medians");
    let columns = [
        "tool",
        "whole run, ms",
        "over the bare command, ms",
        "times that of timeout",
        "best run over the bare command by hyperfine, ms",
    ];
    let mut table = Table::new("start-up", &title, &columns);
    let mut headline = Headline::new("start-up over the bare command, ms");
    let own: Vec<f64> = times.iter().map(|own| 1e3 * over(own, &times[0])).collect();
    let timeout = titles.iter().position(|title| *title == "timeout").map(|i| own[i]);
    let mut dots = Vec::new();
    for (i, title) in titles.iter().enumerate() {
        let wrapped = i > 0;
        table.row([
            (*title).to_owned(),
            digits(1e3 * median(times[i].iter().copied())),
            or_dash(wrapped.then(|| digits(own[i]))),
            or_dash(
                timeout
                    .filter(|_| wrapped)
                    .map(|timeout| format!("{:.2}", own[i] / timeout)),
            ),
            or_dash(
                checked
                    .as_ref()
                    .filter(|_| wrapped)
                    .map(|best| digits(1e3 * (best[i] - best[0]))),
            ),
        ]);
        if wrapped {
            headline.set(title, digits(own[i]));
            dots.push((*title, own[i]));
        }
    }
    Dots {
        title: "Start-up over the bare command",
        axis: "milliseconds",
        dots: &dots,
    }
    .write(&bench.options.into.join("start-up.svg"))?;
    Ok(Part {
        tables: vec![table],
        headlines: vec![headline],
    })
}

fn checked(commands: &[Vec<String>], runs: usize) -> Option<Vec<f64>> {
    let commands: Vec<String> = commands.iter().map(|words| hyperfine::quoted(words)).collect();
    hyperfine::best(&["-N", "--warmup", "2", "--runs", &runs.to_string()], &commands)
}
