//! Whether jitter of a few milliseconds arrives as it was drawn, or in steps.

use std::fs;
use std::time::Duration;

use plotters::prelude::SeriesLabelPosition;
use serde_json::Value;

use crate::Result;
use crate::compare::stamps::{Runner, gaps};
use crate::compare::table::{Table, digits, or_dash};
use crate::compare::tools::{NO_WAIT, Tool, Wait};
use crate::compare::{Bench, Figures};
use crate::measure::{in_turns, median, quantile, sorted};
use crate::plots::{self, Line, Plot, Scale};

const MOST: Duration = Duration::from_millis(5);

/// The waits of one tool, in seconds.
struct Waits {
    title: &'static str,
    /// Before the attempts, less what a retry costs without a wait.
    real: Vec<f64>,
    /// As its report tells them.
    drawn: Vec<f64>,
}

pub fn measure(bench: &Bench) -> Result<Figures> {
    let all = waits(bench)?;
    let count = all.first().map_or(0, |waits| waits.real.len());
    let title = format!(
        "{count} waits drawn from 0 to {} ms: the largest difference between their distribution and the even one \
         (Kolmogorov-Smirnov; by chance up to {:.3} in 19 of 20 samples), and how much later than drawn they were",
        MOST.as_millis(),
        // The well-known approximation for large samples.
        1.358 / (count as f64).sqrt()
    );
    let columns = ["waits", "distance", "late by (median), us", "late by (p99), us"];
    let mut table = Table::new("jitter", &title, &columns);
    for waits in &all {
        let pairs = waits.real.iter().zip(&waits.drawn);
        let late = (!waits.drawn.is_empty()).then(|| sorted(pairs.map(|(real, drawn)| 1e6 * (real - drawn))));
        let at = |share| or_dash(late.as_ref().map(|late| digits(quantile(late, share))));
        table.row([waits.title.to_owned(), distance(&waits.real), at(0.5), at(0.99)]);
    }
    if let Some(own) = all.iter().find(|waits| !waits.drawn.is_empty()) {
        let steps: Vec<f64> = own.drawn.iter().map(|drawn| (1e3 * drawn).ceil() / 1e3).collect();
        for (title, waits) in [
            ("as backoff drew them", &own.drawn),
            ("the same in steps of 1 ms", &steps),
        ] {
            table.row([title.to_owned(), distance(waits), "-".into(), "-".into()]);
        }
        chart(bench, own, &steps)?;
    }
    Ok(Figures {
        tables: vec![table],
        headlines: Vec::new(),
    })
}

fn waits(bench: &Bench) -> Result<Vec<Waits>> {
    let rounds = bench.rounds(20, 2);
    let count = bench.rounds(100, 50);
    let draws = |tool: &&Tool| tool.wrap(2, Wait::UpTo(MOST), &[]).is_some();
    let tools: Vec<Tool> = bench.tools.iter().filter(draws).cloned().collect();
    let cells: Vec<(&Tool, Wait)> = tools
        .iter()
        .flat_map(|tool| [(tool, NO_WAIT), (tool, Wait::UpTo(MOST))])
        .collect();
    let taken = in_turns(&cells, 0, rounds, |(tool, wait)| {
        let dir = tempfile::tempdir()?;
        let report = dir.path().join("report.json");
        let runner = Runner::Tool((*tool).clone());
        let path = report.to_str().ok_or("a temporary directory that is not UTF-8")?;
        let more = ["--report", path];
        let more = if tool.is_backoff() { &more[..] } else { &[] };
        let gaps = gaps(bench, &runner, count, *wait, more)?;
        Ok((gaps, fs::read_to_string(report).ok()))
    })?;
    let mut all = Vec::new();
    for (tool, pair) in tools.iter().zip(taken.chunks(2)) {
        let without = median(pair[0].iter().flat_map(|(gaps, _)| gaps.clone()));
        let mut waits = Waits {
            title: tool.title,
            real: Vec::new(),
            drawn: Vec::new(),
        };
        for (gaps, report) in &pair[1] {
            waits.real.extend(gaps.iter().map(|gap| gap - without));
            if let Some(report) = report {
                waits.drawn.extend(drawn(report)?);
            }
        }
        all.push(waits);
    }
    Ok(all)
}

fn drawn(report: &str) -> Result<Vec<f64>> {
    let report: Value = serde_json::from_str(report)?;
    let attempts = report["attempts"].as_array().ok_or("a report without attempts")?;
    Ok(attempts
        .iter()
        .filter_map(|attempt| attempt["delay_s"].as_f64())
        .collect())
}

/// Between the distribution of these and that of all lengths up to the most, each as likely.
fn distance(waits: &[f64]) -> String {
    let waits = sorted(waits.iter().copied());
    let count = waits.len() as f64;
    let differences = (0..).zip(&waits).map(|(below, wait)| {
        let even = (wait / MOST.as_secs_f64()).clamp(0.0, 1.0);
        let below = f64::from(below);
        f64::max(even - below / count, (below + 1.0) / count - even)
    });
    format!("{:.3}", differences.fold(0.0, f64::max))
}

fn chart(bench: &Bench, own: &Waits, steps: &[f64]) -> Result<()> {
    let line = |name: &str, colour, waits: &[f64]| {
        let waits = sorted(waits.iter().map(|wait| 1e3 * wait));
        let share = |i: i32| 100.0 * f64::from(i) / waits.len() as f64;
        // Both ends of each step.
        let points = (0..)
            .zip(&waits)
            .flat_map(|(i, wait)| [(*wait, share(i)), (*wait, share(i + 1))]);
        Line::new(name, colour, points.collect())
    };
    Plot {
        title: "Jitter up to 5 ms: how many waits are no longer than",
        x: ("milliseconds", Scale::Linear, 0.0..6.0),
        y: ("percent", Scale::Linear, 0.0..100.0),
        lines: &[
            line("as drawn", plots::GREY, &own.drawn),
            line("as waited", plots::VERMILLION, &own.real),
            line("in steps of 1 ms", plots::BLUE, steps),
        ],
        legend: SeriesLabelPosition::LowerRight,
    }
    .write(&bench.into.join("jitter.svg"))
}
