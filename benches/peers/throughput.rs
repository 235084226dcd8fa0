//! What it costs to look at the output that is passed on, next to grep.

use crate::dots::Dots;
use crate::measure::{in_turns, log, median, ratio};
use crate::summary::Headline;
use crate::table::{Table, digits, or_dash};
use crate::{Bench, Outcome, Part, hyperfine};

pub fn measure(bench: &Bench) -> Outcome<Part> {
    let rounds = bench.rounds(7, 1);
    let file = tempfile::NamedTempFile::new()?;
    log::write(file.as_file(), bench.options.megabytes);
    let path = file.path().to_str().ok_or("a temporary directory that is not UTF-8")?;
    let backoffs: Vec<_> = bench.tools.iter().filter(|tool| tool.is_backoff()).collect();

    let mut names = vec!["cat FILE | cat".to_owned()];
    let mut pipelines = vec![log::cat(path)];
    for rule in &log::RULES {
        names.push(rule.grep_name());
        pipelines.push(rule.grep(path));
        for tool in &backoffs {
            names.push(format!("{}: {}", tool.title, rule.name));
            pipelines.push(rule.observe(tool.program(), path));
        }
    }
    let times = in_turns(&pipelines, 1, rounds, |pipeline| log::time(pipeline));
    let checked = checked(&pipelines, bench.rounds(5, 2));

    let title = format!(
        "Looking for something in {} MiB of output; {rounds} rounds in turns, medians, as ratios to passing it on",
        bench.options.megabytes
    );
    let columns = [
        "what",
        "seconds",
        "times cat",
        "times grep of the same",
        "times cat by hyperfine (best runs)",
    ];
    let mut table = Table::new("throughput", &title, &columns);
    let mut dots = Vec::new();
    let group = 1 + backoffs.len();
    for (i, name) in names.iter().enumerate() {
        let over_cat = ratio(&times[i], &times[0]);
        // The first of its group.
        let grep = (i > 0 && (i - 1) % group != 0).then(|| i - (i - 1) % group);
        table.row([
            name.clone(),
            digits(median(times[i].iter().copied())),
            format!("{over_cat:.2}"),
            or_dash(grep.map(|grep| format!("{:.2}", ratio(&times[i], &times[grep])))),
            or_dash(checked.as_ref().map(|best| format!("{:.2}", best[i] / best[0]))),
        ]);
        dots.push((name.as_str(), over_cat));
    }
    let mut headline = Headline::new("ten literals looked for in the output, times `cat FILE | cat`");
    for (k, tool) in backoffs.iter().enumerate() {
        let i = 1 + group + 1 + k;
        headline.set(tool.title, format!("{:.2}", ratio(&times[i], &times[0])));
    }
    Dots {
        title: "Looking for something in the output",
        axis: "time over that of cat FILE | cat",
        dots: &dots,
    }
    .write(&bench.options.into.join("throughput.svg"))?;
    Ok(Part {
        tables: vec![table],
        headlines: vec![headline],
    })
}

fn checked(pipelines: &[String], runs: usize) -> Option<Vec<f64>> {
    let runs = runs.to_string();
    hyperfine::best(&["--shell", "bash", "--warmup", "1", "--runs", &runs], pipelines)
}
