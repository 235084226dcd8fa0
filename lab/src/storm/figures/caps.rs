//! Placement of the cap in decorrelated jitter: distribution of the waits.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use backoff_cli::policy::delay::Delays;
use plotters::prelude::SeriesLabelPosition;

use super::{SEED, line, seeded};
use crate::Result;
use crate::plots::{Axis, Line, Plot};
use crate::storm::sim::cap::{Capped, waits};
use crate::storm::sim::storm::decorrelated;

const CLIENTS: u64 = 10_000;
const WAITS: u64 = 30;
/// The first waits are short with any cap, and are left out.
const SETTLED: usize = 10;
/// One bin a second; the last one is the cap itself.
const BINS: usize = 31;

pub fn caps(into: &Path) -> Result<()> {
    println!("\nDecorrelated jitter, waits 11 to 30 of {CLIENTS} clients\n");
    println!("| capped | at the cap | mean in s |\n|---|---:|---:|");
    let mut csv = String::from("capped,from_s,until_s,share\n");
    let mut lines = Vec::new();
    for (capped, name) in [
        (Capped::AfterTheDraw, "capped after the draw"),
        (Capped::BeforeTheDraw, "capped before the draw (backoff)"),
    ] {
        let settled = Settled::simulate(&decorrelated(), capped);
        let shares = settled.shares();
        println!(
            "| {name} | {:.1}% | {:.1} |",
            shares[BINS - 1],
            settled.mean()
        );
        write_rows(&mut csv, name, &shares)?;
        lines.push(line(name, steps(&shares)));
    }
    fs::write(into.join("cap.csv"), csv)?;
    plot(into, &lines)
}

/// The waits of all clients, except for their first ones.
struct Settled {
    bins: [u32; BINS],
    count: u32,
    /// In seconds.
    sum: f64,
}

impl Settled {
    fn simulate(delays: &Delays, capped: Capped) -> Settled {
        let mut rng = seeded(SEED);
        let mut settled = Settled {
            bins: [0; BINS],
            count: 0,
            sum: 0.0,
        };
        for _ in 0..CLIENTS {
            for wait in &waits(delays, capped, WAITS, &mut rng)[SETTLED..] {
                settled.add(*wait, delays.cap);
            }
        }
        settled
    }

    fn add(&mut self, wait: Duration, cap: Duration) {
        let bin = if wait == cap {
            BINS - 1
        } else {
            (wait.as_secs() as usize).min(BINS - 1)
        };
        self.bins[bin] += 1;
        self.count += 1;
        self.sum += wait.as_secs_f64();
    }

    /// Returns the percentage of the waits in each bin.
    fn shares(&self) -> [f64; BINS] {
        let count = f64::from(self.count);
        self.bins.map(|bin| 100.0 * f64::from(bin) / count)
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

fn write_rows(csv: &mut String, name: &str, shares: &[f64; BINS]) -> Result<()> {
    for (from, share) in shares.iter().enumerate() {
        let until = (from + 1).min(30);
        writeln!(csv, "{name},{from},{until},{:.5}", share / 100.0)?;
    }
    Ok(())
}

/// Returns the points of a line that is level within each bin.
fn steps(shares: &[f64; BINS]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for (from, share) in (0_u32..).zip(shares) {
        points.push((f64::from(from), *share));
        points.push((f64::from(from + 1), *share));
    }
    points
}

fn plot(into: &Path, lines: &[Line]) -> Result<()> {
    Plot {
        title: "Decorrelated jitter, cap 30 s: share of the waits per second of length",
        x: Axis::linear("seconds (the last step: exactly 30 s)", 0.0..31.0),
        y: Axis::linear("percent of the waits", 0.0..40.0),
        lines,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("cap.svg"))
}
