//! What a tool adds to a command that succeeds, and what options add to that.

use std::fs;

use crate::compare::columns::Column;
use crate::compare::dots::{Dot, Dots};
use crate::compare::tools::{NO_WAIT, Tool};
use crate::compare::{Bench, Figures};
use crate::measure::{Spread, in_turns, median};
use crate::table::{Table, digits};
use crate::{Result, child};

const COMMAND: &str = "true";

/// What looks at the output of a command that prints nothing.
const OPTIONS: [&[&str]; 4] = [
    &["-r", "x"],
    &["-i", "5s"],
    &["--for", "curl"],
    &["--stdout", "success"],
];

/// Of few rules, of many, and of the most.
const PRESETS: [&[&str]; 4] = [
    &["--for", "curl"],
    &["--for", "apt"],
    &["--for", "go"],
    &["--for", "git"],
];

const YARDSTICK: &str = "timeout";

/// As most users have one of UTF-8, which `timeout` and shells load at each start.
const LOCALE: &str = "C.UTF-8";
/// Nothing is to be loaded for it.
const NO_LOCALE: &str = "C";

pub fn measure(bench: &Bench) -> Result<Figures> {
    let (columns, scale) = bare(bench)?;
    Ok(Figures {
        columns,
        scales: vec![scale],
        tables: vec![with_options(bench)?, first_output(bench)?],
    })
}

/// In front of the bare command, next to other tools; each build as it is once it was copied into its place; and without a
/// locale.
fn bare(bench: &Bench) -> Result<(Vec<Column>, String)> {
    let new: Vec<Tool> = bench.backoffs().map(Tool::just_installed).collect::<Result<_>>()?;
    let rounds = bench.rounds(400, 2);
    let all: Vec<&Tool> = bench.tools.iter().collect();
    let timeout = all.iter().copied().filter(|tool| tool.title == YARDSTICK);
    let installed: Vec<&Tool> = timeout.chain(&new).collect();
    let (start_up, scale) = next_to_timeout(&all, LOCALE, rounds)?;
    let (installed, _) = next_to_timeout(&installed, LOCALE, rounds)?;
    let (without_locale, _) = next_to_timeout(&all, NO_LOCALE, rounds)?;
    let figures = [
        ("start-up", &start_up),
        ("just installed", &installed),
        ("in the locale C", &without_locale),
    ];
    let columns = figures.map(|(name, figures)| {
        let mut column = Column::new(name, "0.40; *backoff* 1.0");
        for (title, figure) in figures {
            column.set(title, figure.to_string());
        }
        column
    });
    let dots: Vec<Dot<'_>> = start_up.iter().map(|&(name, figure)| Dot { name, figure }).collect();
    Dots {
        title: "Start-up: what a tool adds to a command",
        axis: "times what timeout adds: median, and eight of ten rounds",
        dots: &dots,
    }
    .write(&bench.options.dir().join("performance/start-up.svg"))?;
    Ok((columns.into(), scale))
}

/// What each of these tools adds, times what `timeout` adds; and what that is. Nothing where there is no `timeout`.
fn next_to_timeout(tools: &[&Tool], locale: &str, rounds: usize) -> Result<(Vec<(&'static str, Spread)>, String)> {
    let (tools, commands): (Vec<&Tool>, Vec<_>) = tools
        .iter()
        .filter_map(|&tool| Some((tool, tool.wrap(1, NO_WAIT, &[COMMAND])?)))
        .unzip();
    let (bare, over) = over_bare(locale, &[COMMAND], &commands, rounds)?;
    let timeout = tools.iter().position(|tool| tool.title == YARDSTICK).map(|i| &over[i]);
    let added = timeout.map(|own| format!(", `timeout` adds {} ms", digits(1e3 * median(own.iter().copied()))));
    let scale = format!(
        "Start-up is what a tool adds to `{COMMAND}`, times what `timeout` adds, in the locale {locale} (`{COMMAND}` takes {} \
         ms{}; {rounds} rounds).",
        digits(1e3 * bare),
        added.unwrap_or_default()
    );
    let figures = tools.iter().zip(&over);
    let figures = figures.filter_map(|(tool, own)| Some((tool.title, Spread::of_ratio(own, timeout?))));
    Ok((figures.collect(), scale))
}

/// Of each build, next to the same build without an option.
fn with_options(bench: &Bench) -> Result<Table> {
    let rounds = bench.rounds(400, 2);
    let title =
        format!("What each build adds to `{COMMAND}` with options, times what it adds without; {rounds} rounds");
    let table = ("options", &*title, "1.2");
    by_options(bench, table, &OPTIONS, &[COMMAND], rounds, Spread::of_ratio)
}

/// Of each build: reading the rules of a preset and looking for them in a kilobyte.
fn first_output(bench: &Bench) -> Result<Table> {
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), child::kilobyte())?;
    let path = file.path().to_str();
    let path = path.ok_or("the temporary directory has no name in UTF-8")?;
    let rounds = bench.rounds(200, 2);
    let title =
        format!("Milliseconds that a preset adds to each build in front of `cat`, which prints 1 KiB; {rounds} rounds");
    let table = ("first output", &*title, "1");
    let more =
        |own: &[f64], without: &[f64]| Spread::of(own.iter().zip(without).map(|(own, without)| 1e3 * (own - without)));
    by_options(bench, table, &PRESETS, &["cat", path], rounds, more)
}

/// What each build adds to a command with options, set against what it adds without: a table of this name, title and bound.
fn by_options(
    bench: &Bench,
    (name, title, at_most): (&'static str, &str, &str),
    all_options: &[&[&str]],
    command: &[&str],
    rounds: usize,
    figure: impl Fn(&[f64], &[f64]) -> Spread,
) -> Result<Table> {
    let backoffs: Vec<&Tool> = bench.backoffs().collect();
    let mut commands = Vec::new();
    for tool in &backoffs {
        for options in [&[][..]].iter().chain(all_options) {
            let words = [&[tool.program()][..], options, &["--"], command].concat();
            commands.push(words.into_iter().map(str::to_owned).collect());
        }
    }
    let (_, over) = over_bare(LOCALE, command, &commands, rounds)?;
    let builds: Vec<&[Vec<f64>]> = over.chunks(1 + all_options.len()).collect();
    let titles = backoffs.iter().map(|tool| tool.title);
    let columns: Vec<&str> = ["options"].into_iter().chain(titles).chain(["at most"]).collect();
    let mut table = Table::new(name, title, &columns);
    for (i, options) in all_options.iter().enumerate() {
        let words = format!("`{}`", options.join(" "));
        let figures = builds.iter().map(|own| figure(&own[1 + i], &own[0]).to_string());
        table.row([words].into_iter().chain(figures).chain([at_most.to_owned()]));
    }
    Ok(table)
}

/// In seconds: what a command takes in this locale, and what each of these takes more, by round.
fn over_bare(locale: &str, bare: &[&str], commands: &[Vec<String>], rounds: usize) -> Result<(f64, Vec<Vec<f64>>)> {
    let mut all: Vec<Vec<String>> = vec![bare.iter().map(|&word| word.to_owned()).collect()];
    all.extend_from_slice(commands);
    let times = in_turns(&all, 5, rounds, |words| {
        child::time(child::of_words(words).env("LC_ALL", locale))
    })?;
    let (bare, others) = times.split_first().ok_or("nothing was measured")?;
    let over = others
        .iter()
        .map(|own| own.iter().zip(bare).map(|(own, bare)| own - bare).collect());
    Ok((median(bare.iter().copied()), over.collect()))
}
