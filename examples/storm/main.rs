//! The retry-storm simulator: what the strategies cost, in numbers, tables and plots.
//!
//!     cargo run --release --example storm [DIRECTORY]
//!
//! Prints tables and writes CSV files and SVG plots into DIRECTORY, `target/storm` unless given. The seed is
//! fixed: the figures are the same each time, but for the seconds that a run took. `docs/storm.md` explains
//! them; its plots are made with `docs/storm` as the directory.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and tells"
)]

#[path = "../common/plots.rs"]
mod plots;

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use backoff_cli::policy::budget::Terms;
use backoff_cli::policy::delay::Delays;
use backoff_cli::sim::cap::{self, Capped};
use backoff_cli::sim::contention::{self, Contention, Network};
use backoff_cli::sim::storm::{self, Course, Storm};
use plots::{Line, Plot, Scale};
use plotters::prelude::{BLACK, RGBColor, SeriesLabelPosition};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

const SEED: u64 = 1;

/// Of the contention experiment, as many as were published.
const RUNS: u32 = 100;

/// The common advice on budgets: a tenth of the attempts of the last minute, ten of them free.
const TERMS: Terms = Terms {
    ratio: 100_000,
    min: 10,
    window: Duration::from_secs(60),
};

/// From here on a storm's peak counts: the first waits are no longer than the time in which the clients
/// came, so that no jitter could part them yet.
const AFTER_THE_FIRST_WAVE: Duration = Duration::from_secs(1);

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let into = env::args_os()
        .nth(1)
        .map_or_else(|| "target/storm".into(), PathBuf::from);
    fs::create_dir_all(&into)?;
    contention(&into)?;
    load(&into)?;
    storm(&into)?;
    caps(&into)?;
    if let Some(peak) = peak_memory() {
        println!("\nmost memory that this program held at once: {peak}");
    }
    println!("CSV files and plots are in {}", into.display());
    Ok(())
}

/// The same strategy has the same colour in every plot.
fn line(name: &str, points: Vec<(f64, f64)>) -> Line {
    let colours: [(&str, RGBColor); 6] = [
        ("equal", plots::VERMILLION),
        ("full", plots::BLUE),
        ("decorrelated", plots::GREEN),
        ("capped before", plots::GREEN),
        ("exponential", plots::PURPLE),
        ("capacity", plots::GREY),
    ];
    let known = colours.iter().find(|(start, _)| name.starts_with(start));
    Line::new(name, known.map_or(BLACK, |(_, colour)| *colour), points)
}

// --- many clients update one row ---------------------------------------------------------------

fn contention(into: &Path) -> Outcome {
    println!("Contention: N clients update one row, means of {RUNS} runs\n");
    println!("| clients | strategy | calls | time in s |\n|---:|---|---:|---:|");
    let mut csv = String::from("clients,strategy,calls,seconds\n");
    let (mut calls, mut times) = (Vec::new(), Vec::new());
    for (name, delays) in contention::strategies() {
        let (mut calls_of, mut times_of) = (Vec::new(), Vec::new());
        for clients in (10..=200).step_by(10) {
            let network = Network::PUBLISHED;
            let mean = Contention { clients, network }.mean::<Xoshiro256PlusPlus>(&delays, RUNS, SEED);
            let seconds = mean.time.as_secs_f64();
            writeln!(csv, "{clients},{name},{:.2},{seconds:.4}", mean.calls)?;
            if [10, 50, 100, 200].contains(&clients) {
                println!("| {clients} | {name} | {:.0} | {seconds:.2} |", mean.calls);
            }
            calls_of.push((f64::from(clients), mean.calls));
            times_of.push((f64::from(clients), seconds));
        }
        calls.push(line(name, calls_of));
        times.push(line(name, times_of));
    }
    fs::write(into.join("contention.csv"), csv)?;
    Plot {
        title: "Contention for one row: calls until all clients are done",
        x: ("clients", Scale::Linear, 0.0..200.0),
        y: ("calls", Scale::Log, 30.0..30_000.0),
        lines: &calls,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("contention-calls.svg"))?;
    Plot {
        title: "Contention for one row: time until all clients are done",
        x: ("clients", Scale::Linear, 0.0..200.0),
        y: ("seconds", Scale::Log, 0.3..1_000.0),
        lines: &times,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("contention-time.svg"))
}

// --- the storm ---------------------------------------------------------------------------------

/// The jitters that plots show; the other three are near one of them.
const PLOTTED: [&str; 4] = ["none", "equal", "full", "decorrelated"];

/// What reaches the service over time.
fn load(into: &Path) -> Outcome {
    const CLIENTS: u32 = 100_000;
    let step = Duration::from_millis(100);
    let mut csv = String::from("jitter,seconds,peak_per_slot\n");
    let mut lines = Vec::new();
    for (name, delays) in plotted() {
        let course = run(&Storm::of(CLIENTS), &delays, SEED);
        let mut peaks = Vec::new();
        for i in 0..150 {
            let peak = f64::from(course.peak(step * i, step * (i + 1)));
            let seconds = (step * i).as_secs_f64();
            writeln!(csv, "{name},{seconds:.1},{peak}")?;
            // A logarithm has no place for nothing.
            peaks.push((seconds, peak.max(1.0)));
        }
        lines.push(line(name, peaks));
    }
    fs::write(into.join("load.csv"), csv)?;
    let capacity = f64::from(CLIENTS) / 5.0 * storm::SLOT.as_secs_f64();
    lines.push(line("capacity (up from 5 s)", vec![(5.0, capacity), (15.0, capacity)]));
    Plot {
        title: "100,000 clients: most calls in a slot of 10 ms, in each 100 ms",
        x: ("seconds", Scale::Linear, 0.0..15.0),
        y: ("calls per slot", Scale::Log, 1.0..100_000.0),
        lines: &lines,
        legend: SeriesLabelPosition::UpperRight,
    }
    .write(&into.join("load.svg"))
}

fn plotted() -> impl Iterator<Item = (&'static str, Delays)> {
    storm::jitters().into_iter().filter(|(name, _)| PLOTTED.contains(name))
}

fn run(storm: &Storm, delays: &Delays, seed: u64) -> Course {
    storm.run(delays, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
}

/// Means over the runs of one storm.
#[derive(Default)]
struct Row {
    calls_per_client: f64,
    retry_peak: f64,
    peak: f64,
    recovery_peak: f64,
    /// In seconds, as all times here; none if a run did not drain.
    drained: Option<f64>,
    served: f64,
    denied: f64,
    served_after: (f64, f64),
    waits: (f64, f64),
}

impl Row {
    fn measure(storm: &Storm, delays: &Delays, runs: u32) -> Row {
        let mut sum = Row {
            drained: Some(0.0),
            ..Row::default()
        };
        let clients = f64::from(storm.clients);
        let weight = 1.0 / f64::from(runs);
        for i in 0..runs {
            let course = run(storm, delays, SEED + u64::from(i));
            sum.calls_per_client += weight * course.calls() as f64 / clients;
            sum.retry_peak += weight * f64::from(course.peak(storm.within, Duration::MAX));
            sum.peak += weight * f64::from(course.peak(AFTER_THE_FIRST_WAVE, storm.outage));
            sum.recovery_peak += weight * f64::from(course.peak(storm.outage, Duration::MAX));
            let drained = course.drained.map(|time| weight * time.as_secs_f64());
            sum.drained = sum.drained.zip(drained).map(|(a, b)| a + b);
            sum.served += weight * course.served.count() as f64 / clients;
            sum.denied += weight * course.denied as f64 / clients;
            sum.served_after.0 += weight * course.served.mean().as_secs_f64();
            sum.served_after.1 += weight * course.served.deviation().as_secs_f64();
            sum.waits.0 += weight * course.waits.mean().as_secs_f64();
            sum.waits.1 += weight * course.waits.deviation().as_secs_f64();
        }
        sum
    }
}

fn storm(into: &Path) -> Outcome {
    println!("\nStorm: N clients fail within 100 ms, the service is back after 5 s with a capacity of N/5 a second");
    let mut csv = String::from(
        "clients,jitter,budget,runs,calls_per_client,peak_of_retries,peak_1s_to_5s,peak_from_5s,drained_s,\
         served,denied,served_after_mean_s,served_after_sd_s,four_waits_mean_s,four_waits_sd_s\n",
    );
    let names = storm::jitters().map(|(name, _)| name);
    let mut peaks: Vec<_> = names.iter().map(|name| line(name, Vec::new())).collect();
    let mut million = Duration::ZERO;
    for clients in [100, 1_000, 10_000, 100_000, 1_000_000] {
        let runs = (100_000 / clients).clamp(1, 100);
        for (budget, said) in [(None, "none"), (Some(TERMS), "10%")] {
            println!("\n{clients} clients, budget {said}, runs: {runs}\n");
            println!(
                "| jitter | peak of retries | 1 s to 5 s | from 5 s | drained in s | calls per client | denied \
                 | four waits in s | took in s |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
            );
            for ((name, delays), line) in storm::jitters().iter().zip(&mut peaks) {
                let began = Instant::now();
                let storm = Storm {
                    budget,
                    ..Storm::of(clients)
                };
                let row = Row::measure(&storm, delays, runs);
                let took = began.elapsed();
                if clients == 1_000_000 {
                    million += took;
                }
                if budget.is_none() {
                    line.points.push((f64::from(clients), row.peak));
                }
                let drained = row.drained.map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
                let [(after, after_sd), (waits, waits_sd)] = [row.served_after, row.waits];
                println!(
                    "| {name} | {:.1} | {:.1} | {:.1} | {drained} | {:.2} | {:.0}% | {waits:.2} ± {waits_sd:.2} | {:.2} |",
                    row.retry_peak,
                    row.peak,
                    row.recovery_peak,
                    row.calls_per_client,
                    100.0 * row.denied,
                    took.as_secs_f64()
                );
                writeln!(
                    csv,
                    "{clients},{name},{said},{runs},{:.3},{:.2},{:.2},{:.2},{drained},{:.4},{:.4},{after:.3},{after_sd:.3},\
                     {waits:.3},{waits_sd:.3}",
                    row.calls_per_client, row.retry_peak, row.peak, row.recovery_peak, row.served, row.denied
                )?;
            }
        }
    }
    println!(
        "\na million clients, {} storms: {:.1} s",
        2 * names.len(),
        million.as_secs_f64()
    );
    fs::write(into.join("storm.csv"), csv)?;
    peaks.retain(|line| PLOTTED.contains(&line.name.as_str()));
    Plot {
        title: "Most calls in a slot of 10 ms, from 1 s to 5 s of the outage",
        x: ("clients", Scale::Log, 100.0..1_000_000.0),
        y: ("calls per slot", Scale::Log, 1.0..200_000.0),
        lines: &peaks,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("peak.svg"))
}

// --- where the cap belongs ---------------------------------------------------------------------

fn caps(into: &Path) -> Outcome {
    const CLIENTS: u64 = 10_000;
    const WAITS: u64 = 30;
    const SETTLED: usize = 10;
    let Some((_, delays)) = storm::jitters().into_iter().find(|(name, _)| *name == "decorrelated") else {
        return Err("there is no decorrelated jitter".into());
    };
    println!("\nDecorrelated jitter, waits 11 to 30 of {CLIENTS} clients\n");
    println!("| capped | at the cap | mean in s |\n|---|---:|---:|");
    let mut csv = String::from("capped,from_s,until_s,share\n");
    let mut lines = Vec::new();
    for (capped, name) in [
        (Capped::AfterTheDraw, "capped after the draw"),
        (Capped::BeforeTheDraw, "capped before the draw (backoff)"),
    ] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        // One bin a second; the last one is the cap itself.
        let mut bins = [0_u32; 31];
        let (mut count, mut sum) = (0_u32, 0.0);
        for _ in 0..CLIENTS {
            for wait in cap::waits(&delays, capped, WAITS, &mut rng).into_iter().skip(SETTLED) {
                let bin = if wait == delays.cap { 30 } else { wait.as_secs() };
                bins[(bin as usize).min(30)] += 1;
                count += 1;
                sum += wait.as_secs_f64();
            }
        }
        let shares = bins.map(|bin| 100.0 * f64::from(bin) / f64::from(count));
        println!("| {name} | {:.1}% | {:.1} |", shares[30], sum / f64::from(count));
        let mut steps = Vec::new();
        for (from, share) in (0_u32..).zip(shares) {
            writeln!(csv, "{name},{from},{},{:.5}", (from + 1).min(30), share / 100.0)?;
            steps.extend([(f64::from(from), share), (f64::from(from + 1), share)]);
        }
        lines.push(line(name, steps));
    }
    fs::write(into.join("cap.csv"), csv)?;
    Plot {
        title: "Decorrelated jitter, cap 30 s: share of the waits per second of length",
        x: ("seconds (the last step: exactly 30 s)", Scale::Linear, 0.0..31.0),
        y: ("percent of the waits", Scale::Linear, 0.0..40.0),
        lines: &lines,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("cap.svg"))
}

/// Where the system tells it (Linux).
fn peak_memory() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
