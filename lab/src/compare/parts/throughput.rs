//! What passes through backoff: output that is looked at or kept, input that is replayed; next to plain pipes and to grep.

use crate::Result;
use crate::compare::tools::Tool;
use crate::compare::{Bench, Figures, log};
use crate::measure::{Spread, in_turns, median};
use crate::table::{Table, digits, or_dash};

/// A thing to do, and the most that it is to take over `cat FILE | cat`.
struct Task {
    name: String,
    at_most: &'static str,
    grep: Option<String>,
    /// A pipeline for each build.
    backoff: Vec<String>,
}

fn tasks(file: &str, backoffs: &[&Tool]) -> Vec<Task> {
    let of_builds = |pipeline: &dyn Fn(&str) -> String| -> Vec<String> {
        backoffs.iter().map(|tool| pipeline(tool.program())).collect()
    };
    let mut tasks = Vec::new();
    for (rule, at_most) in log::RULES.iter().zip(["1.5", "2.1", "3.6"]) {
        tasks.push(Task {
            name: format!("output looked at for {}", rule.name),
            at_most,
            grep: Some(rule.grep(file)),
            backoff: of_builds(&|backoff| rule.observe(backoff, file)),
        });
    }
    let mut more = |name: &str, at_most, pipeline: &dyn Fn(&str) -> String| {
        tasks.push(Task {
            name: name.to_owned(),
            at_most,
            grep: None,
            backoff: of_builds(pipeline),
        });
    };
    let cat = |options: &'static str| move |backoff: &str| format!("{backoff} {options} -- cat {file}");
    let fed = |options: &'static str| move |backoff: &str| format!("cat {file} | {backoff} {options} -- cat");
    more("output, the first byte settles it", "1.1", &cat("-r ."));
    more("output held until the end, then to a pipe", "2", &|backoff| {
        format!("{} | cat", cat("--stdout final")(backoff))
    });
    more("input from a pipe", "1.6", &fed(""));
    more("input from a pipe with `--stdin replay`", "1.3", &fed("--stdin replay"));
    tasks
}

pub fn measure(bench: &Bench) -> Result<Figures> {
    let rounds = bench.rounds(9, 1);
    let file = tempfile::NamedTempFile::new()?;
    log::write(file.as_file(), bench.options.megabytes())?;
    let path = file.path().to_str().ok_or("a temporary directory that is not UTF-8")?;
    let backoffs: Vec<&Tool> = bench.backoffs().collect();
    let tasks = tasks(path, &backoffs);
    let mut pipelines = vec![log::cat(path)];
    for task in &tasks {
        pipelines.extend(task.grep.iter().chain(&task.backoff).cloned());
    }
    let times = in_turns(&pipelines, 1, rounds, |pipeline| log::time(pipeline))?;
    let title = format!(
        "{} MiB of log lines, times `cat FILE | cat`, which takes {} s; {rounds} rounds",
        bench.options.megabytes(),
        digits(median(times[0].iter().copied()))
    );
    let titles = backoffs.iter().map(|tool| tool.title);
    let columns: Vec<&str> = ["what"]
        .into_iter()
        .chain(titles)
        .chain(["grep -c", "at most"])
        .collect();
    let mut table = Table::new("throughput", &title, &columns);
    let mut ratios = times[1..].iter().map(|own| Spread::of_ratio(own, &times[0]));
    for task in tasks {
        let grep = task.grep.and_then(|_| ratios.next());
        let own: Vec<Spread> = ratios.by_ref().take(backoffs.len()).collect();
        let cells = own.iter().map(Spread::to_string);
        let grep = or_dash(grep.map(|grep| grep.to_string()));
        let last = [grep, task.at_most.to_owned()];
        table.row([task.name].into_iter().chain(cells).chain(last));
    }
    Ok(Figures {
        tables: vec![table],
        ..Figures::default()
    })
}
