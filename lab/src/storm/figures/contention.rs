//! Many clients update one row.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use backoff_cli::policy::delay::Delays;
use plotters::prelude::SeriesLabelPosition;
use rand::rngs::Xoshiro256PlusPlus;

use super::{SEED, line};
use crate::Result;
use crate::plots::{Axis, Line, Plot};
use crate::storm::sim::contention::{Contention, MeanCost, strategies};
use crate::storm::sim::strategy::Strategy;

/// The number of runs in the published experiment.
const RUNS: u32 = 100;

/// Numbers of clients for which a table is printed.
const PRINTED: [u32; 4] = [10, 50, 100, 200];

pub fn contention(into: &Path) -> Result<()> {
    println!("Contention: N clients update one row, means of {RUNS} runs\n");
    println!("| clients | strategy | calls | time in s |\n|---:|---|---:|---:|");
    let mut csv = String::from("clients,strategy,calls,seconds\n");
    let mut calls = Vec::new();
    let mut times = Vec::new();
    for Strategy { name, delays } in strategies() {
        let mut calls_by_clients = Vec::new();
        let mut times_by_clients = Vec::new();
        for clients in (10..=200).step_by(10) {
            let mean = mean(clients, &delays);
            let seconds = mean.time.as_secs_f64();
            writeln!(csv, "{clients},{name},{:.2},{seconds:.4}", mean.calls)?;
            if PRINTED.contains(&clients) {
                println!("| {clients} | {name} | {:.0} | {seconds:.2} |", mean.calls);
            }
            calls_by_clients.push((f64::from(clients), mean.calls));
            times_by_clients.push((f64::from(clients), seconds));
        }
        calls.push(line(name, calls_by_clients));
        times.push(line(name, times_by_clients));
    }
    fs::write(into.join("contention.csv"), csv)?;
    plot(into, &calls, &times)
}

fn mean(clients: u32, delays: &Delays) -> MeanCost {
    Contention { clients }.mean::<Xoshiro256PlusPlus>(delays, RUNS, SEED)
}

fn plot(into: &Path, calls: &[Line], times: &[Line]) -> Result<()> {
    Plot {
        title: "Contention for one row: calls until all clients are done",
        x: Axis::linear("clients", 0.0..200.0),
        y: Axis::log("calls", 30.0..30_000.0),
        lines: calls,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("contention-calls.svg"))?;
    Plot {
        title: "Contention for one row: time until all clients are done",
        x: Axis::linear("clients", 0.0..200.0),
        y: Axis::log("seconds", 0.3..1_000.0),
        lines: times,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("contention-time.svg"))
}
