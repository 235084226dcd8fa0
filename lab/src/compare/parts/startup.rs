//! What a tool adds to a command that succeeds, and what options add to that.

use crate::compare::dots::{Dot, Dots};
use crate::compare::goals::Goal;
use crate::compare::tools::{NO_WAIT, Tool};
use crate::compare::{Bench, Figures};
use crate::measure::{Spread, in_turns, median};
use crate::table::{Table, digits, or_dash};
use crate::{Result, child};

const COMMAND: &str = "true";

/// What looks at the output of a command that prints nothing.
const OPTIONS: [&[&str]; 4] = [
    &["-r", "x"],
    &["-i", "5s"],
    &["--for", "curl"],
    &["--stdout", "success"],
];

/// So many runs in turns make a figure: their median.
const GROUP: usize = 5;

pub fn measure(bench: &Bench) -> Result<Figures> {
    let mut figures = bare(bench)?;
    let with_options = with_options(bench)?;
    figures.tables.extend(with_options.tables);
    figures.goals.extend(with_options.goals);
    Ok(figures)
}

/// In front of the bare command, next to other tools.
fn bare(bench: &Bench) -> Result<Figures> {
    let wrapped = |tool: &Tool| tool.wrap(1, NO_WAIT, &[COMMAND]);
    let (tools, commands): (Vec<_>, Vec<_>) = bench
        .tools
        .iter()
        .filter_map(|tool| Some((tool, wrapped(tool)?)))
        .unzip();
    let rounds = bench.rounds(80, 2);
    let (bare, over) = over_bare(&commands, rounds)?;
    let timeout = tools.iter().position(|tool| tool.title == "timeout").map(|i| &over[i]);
    let scale = timeout.map(|own| format!(", `timeout` adds {} ms", digits(1e3 * median(own.iter().copied()))));
    let title = format!(
        "What `TOOL {COMMAND}` takes more than `{COMMAND}`; {rounds} rounds of {GROUP} runs (`{COMMAND}` takes {} ms{})",
        digits(1e3 * bare),
        scale.unwrap_or_default()
    );
    let mut table = Table::new("start-up", &title, &["tool", "times what `timeout` adds"]);
    let (mut dots, mut goals) = (Vec::new(), Vec::new());
    for (tool, own) in tools.iter().zip(&over) {
        let times_timeout = timeout.map(|timeout| Spread::of_ratio(own, timeout));
        table.row([
            tool.title.to_owned(),
            or_dash(times_timeout.map(|times| times.to_string())),
        ]);
        if let Some(times) = times_timeout {
            dots.push(Dot {
                name: tool.title,
                figure: times,
            });
        }
        if tool.is_backoff() {
            let (build, at_most) = if tool.is_static() {
                ("static", "0.40")
            } else {
                ("plain", "1.0")
            };
            goals.push(Goal::new(
                format!("start-up, {build} build, times `timeout`"),
                at_most,
                times_timeout,
            ));
        }
    }
    Dots {
        title: "Start-up: what a tool adds to a command",
        axis: "times what timeout adds: median, and eight of ten rounds",
        dots: &dots,
    }
    .write(&bench.options.dir().join("performance/start-up.svg"))?;
    Ok(Figures {
        tables: vec![table],
        goals,
    })
}

/// Of each build, next to the same build without an option.
fn with_options(bench: &Bench) -> Result<Figures> {
    let backoffs: Vec<&Tool> = bench.backoffs().collect();
    let mut commands = Vec::new();
    for tool in &backoffs {
        for options in [&[][..]].into_iter().chain(OPTIONS) {
            let words = [&[tool.program()][..], options, &["--", COMMAND]].concat();
            commands.push(words.into_iter().map(str::to_owned).collect());
        }
    }
    let rounds = bench.rounds(80, 2);
    let (_, over) = over_bare(&commands, rounds)?;
    let builds: Vec<&[Vec<f64>]> = over.chunks(1 + OPTIONS.len()).collect();
    let title =
        format!("The same with options, times what the same build adds without one; {rounds} rounds of {GROUP} runs");
    let titles = backoffs.iter().map(|tool| tool.title);
    let columns: Vec<&str> = ["options"].into_iter().chain(titles).collect();
    let mut table = Table::new("start-up-options", &title, &columns);
    let mut goals = Vec::new();
    for (i, options) in OPTIONS.iter().enumerate() {
        let name = format!("`{}`", options.join(" "));
        let ratios: Vec<Spread> = builds
            .iter()
            .map(|own| Spread::of_ratio(&own[1 + i], &own[0]))
            .collect();
        let of_static = backoffs.iter().position(|tool| tool.is_static()).map(|at| ratios[at]);
        goals.push(Goal::new(
            format!("start-up with {name}, times that without"),
            "1.2",
            of_static,
        ));
        table.row([name].into_iter().chain(ratios.iter().map(Spread::to_string)));
    }
    Ok(Figures {
        tables: vec![table],
        goals,
    })
}

/// In seconds: what the bare command takes, and what each of these takes more, by round.
fn over_bare(commands: &[Vec<String>], rounds: usize) -> Result<(f64, Vec<Vec<f64>>)> {
    let mut all = vec![vec![COMMAND.to_owned()]];
    all.extend_from_slice(commands);
    let times = in_turns(&all, GROUP, GROUP * rounds, |words| {
        child::time(&mut child::of_words(words))
    })?;
    let medians =
        |own: &Vec<f64>| -> Vec<f64> { own.chunks(GROUP).map(|group| median(group.iter().copied())).collect() };
    let mut figures = times.iter().map(medians);
    let bare = figures.next().ok_or("nothing was measured")?;
    let over = figures.map(|own| own.iter().zip(&bare).map(|(own, bare)| own - bare).collect());
    Ok((median(bare.iter().copied()), over.collect()))
}
