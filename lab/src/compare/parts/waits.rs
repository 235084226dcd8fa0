//! How late the next attempt comes after a wait, beyond what a retry costs without one.

use std::time::Duration;

use plotters::prelude::{BLACK, RGBColor, SeriesLabelPosition};

use crate::Result;
use crate::compare::load::Load;
use crate::compare::stamps::{Runner, gaps};
use crate::compare::summary::Headline;
use crate::compare::table::{Table, digits};
use crate::compare::tools::{Tool, Wait};
use crate::compare::{Bench, Figures};
use crate::measure::{in_turns, median, quantile, sorted};
use crate::plots::{self, Line, Plot, Scale};

/// Milliseconds, and how many waits in a round. Without a wait there is still the time that a retry takes.
const WAITS: [(u64, usize); 4] = [(0, 50), (1, 50), (10, 20), (100, 5)];
/// What the chart shows and the short answer is about.
const SHOWN: u64 = 10;

/// How late the waits of one length were, in microseconds, sorted.
struct Late {
    runner: &'static str,
    milliseconds: u64,
    by: Vec<f64>,
}

impl Late {
    /// What this share of them is late by at most.
    fn at(&self, share: f64) -> String {
        digits(quantile(&self.by, share))
    }

    fn row(&self, state: &str) -> [String; 9] {
        [
            self.runner.to_owned(),
            state.to_owned(),
            self.milliseconds.to_string(),
            self.at(0.1),
            self.at(0.5),
            self.at(0.9),
            self.at(0.99),
            self.at(1.0),
            self.by.len().to_string(),
        ]
    }
}

pub fn measure(bench: &Bench) -> Result<Figures> {
    let title = "How late an attempt starts after a wait: from start to start, less the wait, less the \
                 median from start to start without a wait on processors left alone";
    let columns = [
        "tool",
        "processors",
        "wait, ms",
        "p10, us",
        "median, us",
        "p90, us",
        "p99, us",
        "max, us",
        "waits",
    ];
    let mut part = Figures::default();
    let mut table = Table::new("waits", title, &columns);
    table.words = 2;
    let mut usual = None;
    for (state, headline) in [
        ("left alone", "a wait of 10 ms is late by, us: median (p99)"),
        ("kept busy", "the same with busy processors, us: median (p99)"),
    ] {
        let busy = state == "kept busy";
        bench.first(!busy)?;
        let load = busy.then(Load::begin);
        let all = late(bench, &mut usual)?;
        drop(load);
        let mut headline = Headline::new(headline);
        for one in &all {
            table.row(one.row(state));
            if one.milliseconds == SHOWN {
                headline.set(one.runner, format!("{} ({})", one.at(0.5), one.at(0.99)));
            }
        }
        part.headlines.push(headline);
        chart(bench, state, &all)?;
    }
    part.tables.push(table);
    Ok(part)
}

/// `usual` is what a retry without a wait takes each of them, as soon as that was measured.
fn late(bench: &Bench, usual: &mut Option<Vec<f64>>) -> Result<Vec<Late>> {
    let rounds = bench.rounds(20, 1);
    let mut runners = vec![Runner::Floor];
    let short = Wait::Fixed(Duration::from_millis(1));
    let waits = |tool: &&Tool| tool.wrap(2, short, &[]).is_some();
    runners.extend(bench.tools.iter().filter(waits).cloned().map(Runner::Tool));
    let mut cells = Vec::new();
    for runner in &runners {
        cells.extend(WAITS.map(|(length, count)| (runner, Wait::Fixed(Duration::from_millis(length)), count)));
    }
    let taken = in_turns(&cells, 0, rounds, |(runner, wait, count)| {
        let count = if bench.options.quick { count / 5 } else { *count };
        gaps(bench, runner, count, *wait, &[])
    })?;
    let taken: Vec<&[Vec<Vec<f64>>]> = taken.chunks(WAITS.len()).collect();
    let usual = usual.get_or_insert_with(|| taken.iter().map(|own| median(own[0].concat())).collect());
    let mut late = Vec::new();
    for ((runner, own), usual) in runners.iter().zip(taken).zip(usual) {
        for ((milliseconds, _), taken) in WAITS.into_iter().zip(own) {
            let by = |gap: f64| 1e6 * (gap - *usual - milliseconds as f64 / 1e3);
            late.push(Late {
                runner: runner.title(),
                milliseconds,
                by: sorted(taken.concat().into_iter().map(by)),
            });
        }
    }
    Ok(late)
}

/// The same tool has the same colour in every chart.
fn colour(title: &str) -> RGBColor {
    match title {
        "backoff, static" => plots::VERMILLION,
        "backoff" => plots::BLUE,
        "loop in bash" => plots::PURPLE,
        "attempt" => plots::GREEN,
        "the machine itself" => plots::GREY,
        _ => BLACK,
    }
}

fn chart(bench: &Bench, state: &str, all: &[Late]) -> Result<()> {
    let shown = all.iter().filter(|one| one.milliseconds == SHOWN);
    let mut lines = Vec::new();
    let mut most = 0.0_f64;
    for one in shown {
        let count = one.by.len() as f64;
        // A logarithm has no place for what came earlier than usual.
        let points = (1..)
            .zip(&one.by)
            .map(|(i, by)| (by.max(1.0), 100.0 * f64::from(i) / count));
        most = most.max(quantile(&one.by, 1.0));
        lines.push(Line::new(one.runner, colour(one.runner), points.collect()));
    }
    Plot {
        title: &format!("Waits of {SHOWN} ms, processors {state}: how many are late by no more than"),
        x: ("microseconds", Scale::Log, 1.0..most.max(10.0)),
        y: ("percent", Scale::Linear, 0.0..100.0),
        lines: &lines,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&bench.into.join(format!("waits-{}.svg", state.replace(' ', "-"))))
}
