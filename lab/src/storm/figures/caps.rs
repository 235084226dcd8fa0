//! Placement of the cap in decorrelated jitter: distribution of the waits.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use backoff_cli::policy::delay::Delays;
use plotters::prelude::SeriesLabelPosition;

use super::{SEED, line, seeded};
use crate::Result;
use crate::plots::{Plot, Scale};
use crate::storm::sim::cap::{Capped, waits};
use crate::storm::sim::storm::jitters;

const CLIENTS: u64 = 10_000;
const WAITS: u64 = 30;
/// The first waits are short with any cap, and are left out.
const SETTLED: usize = 10;
/// One bin a second; the last one is the cap itself.
const BINS: usize = 31;

pub fn caps(into: &Path) -> Result<()> {
    let Some((_, delays)) = jitters()
        .into_iter()
        .find(|(name, _)| *name == "decorrelated")
    else {
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
        let (shares, mean) = shares(&delays, capped);
        println!("| {name} | {:.1}% | {mean:.1} |", shares[BINS - 1]);
        let mut steps = Vec::new();
        for (from, share) in (0_u32..).zip(shares) {
            writeln!(
                csv,
                "{name},{from},{},{:.5}",
                (from + 1).min(30),
                share / 100.0
            )?;
            steps.extend([(f64::from(from), share), (f64::from(from + 1), share)]);
        }
        lines.push(line(name, steps));
    }
    fs::write(into.join("cap.csv"), csv)?;
    Plot {
        title: "Decorrelated jitter, cap 30 s: share of the waits per second of length",
        x: (
            "seconds (the last step: exactly 30 s)",
            Scale::Linear,
            0.0..31.0,
        ),
        y: ("percent of the waits", Scale::Linear, 0.0..40.0),
        lines: &lines,
        legend: SeriesLabelPosition::UpperLeft,
    }
    .write(&into.join("cap.svg"))
}

/// Returns the percentage of the waits in each bin, and their mean in seconds.
fn shares(delays: &Delays, capped: Capped) -> ([f64; BINS], f64) {
    let mut rng = seeded(SEED);
    let mut bins = [0_u32; BINS];
    let (mut count, mut sum) = (0_u32, 0.0);
    for _ in 0..CLIENTS {
        for wait in waits(delays, capped, WAITS, &mut rng)
            .into_iter()
            .skip(SETTLED)
        {
            let bin = if wait == delays.cap {
                30
            } else {
                wait.as_secs()
            };
            bins[(bin as usize).min(BINS - 1)] += 1;
            count += 1;
            sum += wait.as_secs_f64();
        }
    }
    let count = f64::from(count);
    (bins.map(|bin| 100.0 * f64::from(bin) / count), sum / count)
}
