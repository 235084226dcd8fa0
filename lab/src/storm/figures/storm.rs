//! Storms of a hundred to a million clients, with every jitter, with and without a budget.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use backoff_cli::policy::budget::BudgetLimits;
use backoff_cli::policy::delay::Delays;
use plotters::prelude::SeriesLabelPosition;

use super::{PLOTTED, SEED, line, seeded};
use crate::Result;
use crate::plots::{Line, Plot, Scale};
use crate::storm::sim::spread::Spread;
use crate::storm::sim::storm::{Storm, TERMS, default_waits, jitters};

const MILLION: u32 = 1_000_000;
const CLIENTS: [u32; 5] = [100, 1_000, 10_000, 100_000, MILLION];

const BUDGETS: [(Option<BudgetLimits>, &str); 2] = [(None, "none"), (Some(TERMS), "10%")];

/// The beginning of the interval whose peak is reported. Earlier waits are no longer than the time in which the clients
/// arrived, so that no jitter can spread the clients.
const AFTER_THE_FIRST_WAVE: Duration = Duration::from_secs(1);

pub fn storm(into: &Path) -> Result<()> {
    println!(
        "\nStorm: N clients fail within 100 ms, the service is back after 5 s with a capacity of N/5 a second"
    );
    let mut csv = String::from(
        "clients,jitter,budget,runs,calls_per_client,peak_of_retries,peak_1s_to_5s,peak_from_5s,drained_s,\
         served,denied,served_after_mean_s,served_after_sd_s,four_waits_mean_s,four_waits_sd_s\n",
    );
    let mut peaks = jitters().map(|(name, _)| line(name, Vec::new()));
    for clients in CLIENTS {
        for (budget, said) in BUDGETS {
            table(clients, budget, said, &mut csv, &mut peaks)?;
        }
    }
    fs::write(into.join("storm.csv"), csv)?;
    defaults(into)?;
    let plotted: Vec<Line> = peaks
        .into_iter()
        .filter(|line| PLOTTED.contains(&line.name.as_str()))
        .collect();
    Plot {
        title: "Most calls in a slot of 10 ms, from 1 s to 5 s of the outage",
        x: ("clients", Scale::Log, 100.0..1_000_000.0),
        y: ("calls per slot", Scale::Log, 1.0..200_000.0),
        lines: &plotted,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("peak.svg"))
}

/// Simulates clients with default settings, and with a budget on one Redis server that makes 15,600 steps a second.
fn defaults(into: &Path) -> Result<()> {
    const COLUMNS: &str = "clients,budget,peak_1s_to_5s,four_waits_mean_s,four_waits_sd_s,calls_per_client,gave_up,\
                           unanswered,drained_s\n";
    let mut csv = COLUMNS.to_owned();
    for (clients, (budget, said)) in [MILLION, MILLION / 10].into_iter().zip(BUDGETS) {
        let storm = Storm {
            attempts: Some(5),
            budget,
            step: Duration::from_micros(64),
            ..Storm::of(clients)
        };
        let course = storm.run(&default_waits(), &mut seeded(SEED));
        let peak = course.peak(AFTER_THE_FIRST_WAVE, storm.outage);
        let shares = [
            course.calls(),
            course.gave_up + course.denied,
            course.unanswered,
        ];
        let [calls, gave_up, unanswered] = shares.map(|count| count as f64 / f64::from(clients));
        let drained = course.drained.unwrap_or_default();
        let [mean, sd, drained] =
            [course.waits.mean(), course.waits.deviation(), drained].map(|t| t.as_secs_f64());
        let row = format!("{mean:.3},{sd:.3},{calls:.3},{gave_up:.4},{unanswered:.4},{drained:.1}");
        writeln!(csv, "{clients},{said},{peak},{row}")?;
    }
    println!("\nThe default settings, five attempts; a step of the budget takes 64 us\n\n{csv}");
    Ok(fs::write(into.join("defaults.csv"), csv)?)
}

/// Simulates all jitters with one number of clients and one budget: prints a table, adds the lines of the CSV file and,
/// without a budget, the points of the plot.
fn table(
    clients: u32,
    budget: Option<BudgetLimits>,
    said: &str,
    csv: &mut String,
    peaks: &mut [Line],
) -> Result<()> {
    let runs = (100_000 / clients).clamp(1, 100);
    println!("\n{clients} clients, budget {said}, runs: {runs}\n");
    println!(
        "| jitter | peak of retries | 1 s to 5 s | from 5 s | drained in s | calls per client | denied \
         | four waits in s |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    );
    let storm = Storm {
        budget,
        ..Storm::of(clients)
    };
    for ((name, delays), line) in jitters().iter().zip(peaks) {
        let row = Row::measure(&storm, delays, runs);
        let (cells, columns) = row.texts();
        println!("| {name} | {cells} |");
        writeln!(csv, "{clients},{name},{said},{runs},{columns}")?;
        if budget.is_none() {
            line.points.push((f64::from(clients), row.peaks[1]));
        }
    }
    Ok(())
}

/// Means over the runs of one storm.
#[derive(Default)]
struct Row {
    calls_per_client: f64,
    /// The most calls in a slot: of the retries, from 1 s to 5 s, and from 5 s on.
    peaks: [f64; 3],
    /// In seconds, like all times here; None if a run did not drain.
    drained: Option<f64>,
    /// Shares of the clients.
    served: f64,
    denied: f64,
    /// Mean and standard deviation.
    served_after: [f64; 2],
    waits: [f64; 2],
}

impl Row {
    fn measure(storm: &Storm, delays: &Delays, runs: u32) -> Row {
        let mut sum = Row {
            drained: Some(0.0),
            ..Row::default()
        };
        let clients = f64::from(storm.clients);
        let weight = 1.0 / f64::from(runs);
        let spread = |sum: &mut [f64; 2], spread: &Spread| {
            sum[0] += weight * spread.mean().as_secs_f64();
            sum[1] += weight * spread.deviation().as_secs_f64();
        };
        for i in 0..runs {
            let course = storm.run(delays, &mut seeded(SEED + u64::from(i)));
            sum.calls_per_client += weight * course.calls() as f64 / clients;
            let (up, end) = (storm.outage, Duration::MAX);
            let stretches = [(storm.within, end), (AFTER_THE_FIRST_WAVE, up), (up, end)];
            for (peak, (from, until)) in sum.peaks.iter_mut().zip(stretches) {
                *peak += weight * f64::from(course.peak(from, until));
            }
            let drained = course.drained.map(|time| weight * time.as_secs_f64());
            sum.drained = sum.drained.zip(drained).map(|(a, b)| a + b);
            sum.served += weight * course.served.count() as f64 / clients;
            sum.denied += weight * course.denied as f64 / clients;
            spread(&mut sum.served_after, &course.served);
            spread(&mut sum.waits, &course.waits);
        }
        sum
    }

    /// Returns the cells of the table, and the columns of the CSV file from `calls_per_client` on.
    fn texts(&self) -> (String, String) {
        let Row {
            calls_per_client,
            peaks,
            served,
            denied,
            ..
        } = self;
        let ([retries, outage, back], [served_mean, served_sd], [mean, sd]) =
            (peaks, self.served_after, self.waits);
        let drained = self
            .drained
            .map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
        let cells = format!(
            "{retries:.1} | {outage:.1} | {back:.1} | {drained} | {calls_per_client:.2} | {:.0}% | {mean:.2} ± {sd:.2}",
            100.0 * denied
        );
        let csv = format!(
            "{calls_per_client:.3},{retries:.2},{outage:.2},{back:.2},{drained},{served:.4},{denied:.4},\
             {served_mean:.3},{served_sd:.3},{mean:.3},{sd:.3}"
        );
        (cells, csv)
    }
}
