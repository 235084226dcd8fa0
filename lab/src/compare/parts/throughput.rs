//! What it costs to look at the output that is passed on, next to grep.

use crate::compare::dots::Dots;
use crate::compare::summary::Headline;
use crate::compare::table::{Table, digits, or_dash};
use crate::compare::tools::Tool;
use crate::compare::{Bench, Figures, hyperfine};
use crate::measure::{in_turns, median, ratio};
use crate::{Result, log};

/// The first one is the yardstick; then, for each rule, grep and the builds of backoff.
struct Pipelines {
    names: Vec<String>,
    words: Vec<String>,
}

impl Pipelines {
    fn over(path: &str, backoffs: &[&Tool]) -> Pipelines {
        let mut names = vec!["cat FILE | cat".to_owned()];
        let mut words = vec![log::cat(path)];
        for rule in &log::RULES {
            names.push(rule.grep_name());
            words.push(rule.grep(path));
            for tool in backoffs {
                names.push(format!("{}: {}", tool.title, rule.name));
                words.push(rule.observe(tool.program(), path));
            }
        }
        Pipelines { names, words }
    }
}

pub fn measure(bench: &Bench) -> Result<Figures> {
    let rounds = bench.rounds(7, 1);
    let file = tempfile::NamedTempFile::new()?;
    log::write(file.as_file(), bench.options.megabytes())?;
    let path = file.path().to_str().ok_or("a temporary directory that is not UTF-8")?;
    let backoffs: Vec<_> = bench.tools.iter().filter(|tool| tool.is_backoff()).collect();
    let pipelines = Pipelines::over(path, &backoffs);
    let times = in_turns(&pipelines.words, 1, rounds, |pipeline| log::time(pipeline))?;
    let best = best(&pipelines.words, bench.rounds(5, 2));
    let over_cat: Vec<f64> = times.iter().map(|own| ratio(own, &times[0])).collect();

    let title = format!(
        "Looking for something in {} MiB of output; {rounds} rounds in turns, medians, as ratios to passing it on",
        bench.options.megabytes()
    );
    let columns = [
        "what",
        "seconds",
        "times cat",
        "times grep of the same",
        "times cat by hyperfine (best runs)",
    ];
    let mut table = Table::new("throughput", &title, &columns);
    let group = 1 + backoffs.len();
    for (i, name) in pipelines.names.iter().enumerate() {
        // The first of its group.
        let grep = (i > 0 && (i - 1) % group != 0).then(|| i - (i - 1) % group);
        table.row([
            name.clone(),
            digits(median(times[i].iter().copied())),
            format!("{:.2}", over_cat[i]),
            or_dash(grep.map(|grep| format!("{:.2}", ratio(&times[i], &times[grep])))),
            or_dash(best.as_ref().map(|best| format!("{:.2}", best[i] / best[0]))),
        ]);
    }
    let mut headline = Headline::new("ten literals looked for in the output, times `cat FILE | cat`");
    // Those of the second rule, without grep.
    for (tool, over_cat) in backoffs.iter().zip(&over_cat[1 + group + 1..]) {
        headline.set(tool.title, format!("{over_cat:.2}"));
    }
    chart(bench, &pipelines.names, &over_cat)?;
    Ok(Figures {
        tables: vec![table],
        headlines: vec![headline],
    })
}

fn best(pipelines: &[String], runs: usize) -> Option<Vec<f64>> {
    let runs = runs.to_string();
    hyperfine::best(&["--shell", "bash", "--warmup", "1", "--runs", &runs], pipelines)
}

fn chart(bench: &Bench, names: &[String], over_cat: &[f64]) -> Result<()> {
    let names = names.iter().map(String::as_str);
    let dots: Vec<_> = names.zip(over_cat.iter().copied()).collect();
    Dots {
        title: "Looking for something in the output",
        axis: "time over that of cat FILE | cat",
        dots: &dots,
    }
    .write(&bench.into.join("throughput.svg"))
}
