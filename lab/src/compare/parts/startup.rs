//! What a tool adds to a command that succeeds.

use crate::compare::dots::Dots;
use crate::compare::summary::Headline;
use crate::compare::table::{Table, digits, or_dash};
use crate::compare::tools::NO_WAIT;
use crate::compare::{Bench, Figures, hyperfine};
use crate::measure::{in_turns, median, over};
use crate::{Result, child};

const COMMAND: &str = "true";

/// What one tool took, in milliseconds; of the bare command only the whole is known.
struct Cost {
    title: &'static str,
    whole: f64,
    over_bare: Option<f64>,
    over_bare_by_hyperfine: Option<f64>,
}

pub fn measure(bench: &Bench) -> Result<Figures> {
    let rounds = bench.rounds(400, 5);
    let costs = costs(bench, rounds)?;
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
    let timeout = costs.iter().find(|cost| cost.title == "timeout");
    let timeout = timeout.and_then(|cost| cost.over_bare);
    let mut dots = Vec::new();
    for cost in &costs {
        let times_timeout = cost.over_bare.zip(timeout).map(|(own, timeout)| own / timeout);
        table.row([
            cost.title.to_owned(),
            digits(cost.whole),
            or_dash(cost.over_bare.map(digits)),
            or_dash(times_timeout.map(|times| format!("{times:.2}"))),
            or_dash(cost.over_bare_by_hyperfine.map(digits)),
        ]);
        if let Some(own) = cost.over_bare {
            headline.set(cost.title, digits(own));
            dots.push((cost.title, own));
        }
    }
    Dots {
        title: "Start-up over the bare command",
        axis: "milliseconds",
        dots: &dots,
    }
    .write(&bench.into.join("start-up.svg"))?;
    Ok(Figures {
        tables: vec![table],
        headlines: vec![headline],
    })
}

/// The first is the bare command's.
fn costs(bench: &Bench, rounds: usize) -> Result<Vec<Cost>> {
    let mut titles = vec!["the bare command"];
    let mut commands = vec![vec![COMMAND.to_owned()]];
    for tool in &bench.tools {
        if let Some(words) = tool.wrap(1, NO_WAIT, &[COMMAND]) {
            titles.push(tool.title);
            commands.push(words);
        }
    }
    let times = in_turns(&commands, rounds / 20, rounds, |words| {
        child::time(&mut child::of_words(words))
    })?;
    let best = best(&commands, bench.rounds(200, 5));
    let costs = titles.into_iter().enumerate().map(|(i, title)| Cost {
        title,
        whole: 1e3 * median(times[i].iter().copied()),
        over_bare: (i > 0).then(|| 1e3 * over(&times[i], &times[0])),
        over_bare_by_hyperfine: best.as_ref().filter(|_| i > 0).map(|best| 1e3 * (best[i] - best[0])),
    });
    Ok(costs.collect())
}

fn best(commands: &[Vec<String>], runs: usize) -> Option<Vec<f64>> {
    let commands: Vec<String> = commands.iter().map(|words| hyperfine::quoted(words)).collect();
    hyperfine::best(&["-N", "--warmup", "2", "--runs", &runs.to_string()], &commands)
}
