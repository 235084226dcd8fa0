//! Storms of a hundred to a million clients, with every jitter, with and without a budget.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use backoff_cli::policy::budget::BudgetLimits;
use plotters::prelude::SeriesLabelPosition;

use super::storm_row::Row;
use super::{PLOTTED, SEED, line, seeded};
use crate::Result;
use crate::plots::{Axis, Line, Plot};
use crate::storm::sim::storm::{Storm, TERMS, default_waits, jitters};

const MILLION: u32 = 1_000_000;
const CLIENTS: [u32; 5] = [100, 1_000, 10_000, 100_000, MILLION];

/// A budget and its name in tables.
struct Budget {
    limits: Option<BudgetLimits>,
    name: &'static str,
}

const NO_BUDGET: Budget = Budget {
    limits: None,
    name: "none",
};

const TENTH: Budget = Budget {
    limits: Some(TERMS),
    name: "10%",
};

/// The beginning of the interval whose peak is reported. Earlier waits are no longer than the time in which the clients
/// arrived, so that no jitter can spread the clients.
pub(super) const AFTER_THE_FIRST_WAVE: Duration = Duration::from_secs(1);

pub fn storm(into: &Path) -> Result<()> {
    println!(
        "\nStorm: N clients fail within 100 ms, the service is back after 5 s with a capacity of N/5 a second"
    );
    let mut csv = String::from(
        "clients,jitter,budget,runs,calls_per_client,peak_of_retries,peak_1s_to_5s,peak_from_5s,drained_s,\
         served,denied,served_after_mean_s,served_after_sd_s,four_waits_mean_s,four_waits_sd_s\n",
    );
    let mut peaks = jitters().map(|jitter| line(jitter.name, Vec::new()));
    for clients in CLIENTS {
        table(clients, &NO_BUDGET, &mut csv, &mut peaks)?;
        table(clients, &TENTH, &mut csv, &mut peaks)?;
    }
    fs::write(into.join("storm.csv"), csv)?;
    defaults(into)?;
    plot(into, peaks.into())
}

/// Simulates all jitters with one number of clients and one budget: prints a table, adds the lines of the CSV file and,
/// without a budget, the points of the plot.
fn table(clients: u32, budget: &Budget, csv: &mut String, peaks: &mut [Line]) -> Result<()> {
    let runs = (100_000 / clients).clamp(1, 100);
    println!(
        "\n{clients} clients, budget {}, runs: {runs}\n",
        budget.name
    );
    println!(
        "| jitter | peak of retries | 1 s to 5 s | from 5 s | drained in s | calls per client | denied \
         | four waits in s |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    );
    let storm = Storm {
        budget: budget.limits,
        ..Storm::of(clients)
    };
    for (jitter, line) in jitters().iter().zip(peaks) {
        let row = Row::measure(&storm, &jitter.delays, runs);
        println!("| {} | {} |", jitter.name, row.cells());
        writeln!(
            csv,
            "{clients},{},{},{runs},{}",
            jitter.name,
            budget.name,
            row.columns()
        )?;
        if budget.limits.is_none() {
            line.points
                .push((f64::from(clients), row.peaks.during_outage));
        }
    }
    Ok(())
}

fn plot(into: &Path, mut peaks: Vec<Line>) -> Result<()> {
    peaks.retain(|line| PLOTTED.contains(&line.name.as_str()));
    Plot {
        title: "Most calls in a slot of 10 ms, from 1 s to 5 s of the outage",
        x: Axis::log("clients", 100.0..1_000_000.0),
        y: Axis::log("calls per slot", 1.0..200_000.0),
        lines: &peaks,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("peak.svg"))
}

/// Simulates clients with default settings, and with a budget on one Redis server that makes 15,600 steps a second.
fn defaults(into: &Path) -> Result<()> {
    let mut csv = String::from(
        "clients,budget,peak_1s_to_5s,four_waits_mean_s,four_waits_sd_s,calls_per_client,gave_up,\
         unanswered,drained_s\n",
    );
    writeln!(csv, "{}", row_of_defaults(MILLION, &NO_BUDGET))?;
    writeln!(csv, "{}", row_of_defaults(MILLION / 10, &TENTH))?;
    println!("\nThe default settings, five attempts; a step of the budget takes 64 us\n\n{csv}");
    Ok(fs::write(into.join("defaults.csv"), csv)?)
}

fn row_of_defaults(clients: u32, budget: &Budget) -> String {
    let storm = Storm {
        attempts: Some(5),
        budget: budget.limits,
        step: Duration::from_micros(64),
        ..Storm::of(clients)
    };
    let course = storm.run(&default_waits(), &mut seeded(SEED));
    let peak = course.peak(AFTER_THE_FIRST_WAVE, storm.outage);
    let mean = course.waits.mean().as_secs_f64();
    let deviation = course.waits.deviation().as_secs_f64();
    let all = f64::from(clients);
    let calls = course.calls() as f64 / all;
    let gave_up = (course.gave_up + course.denied) as f64 / all;
    let unanswered = course.unanswered as f64 / all;
    let drained = course.drained.unwrap_or_default().as_secs_f64();
    format!(
        "{clients},{},{peak},{mean:.3},{deviation:.3},{calls:.3},{gave_up:.4},{unanswered:.4},{drained:.1}",
        budget.name
    )
}
