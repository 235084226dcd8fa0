//! Load on the service over time.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use plotters::prelude::SeriesLabelPosition;

use super::{PLOTTED, SEED, line, seeded};
use crate::Result;
use crate::plots::{Plot, Scale};
use crate::storm::sim::storm::{SLOT, Storm, jitters};

const CLIENTS: u32 = 100_000;
/// The length of an interval; its peak is the most calls in a slot.
const STEP: Duration = Duration::from_millis(100);
const STEPS: u32 = 150;

pub fn load(into: &Path) -> Result<()> {
    let mut csv = String::from("jitter,seconds,peak_per_slot\n");
    let mut lines = Vec::new();
    for (name, delays) in jitters() {
        if !PLOTTED.contains(&name) {
            continue;
        }
        let course = Storm::of(CLIENTS).run(&delays, &mut seeded(SEED));
        let mut peaks = Vec::new();
        for i in 0..STEPS {
            let peak = f64::from(course.peak(STEP * i, STEP * (i + 1)));
            let seconds = (STEP * i).as_secs_f64();
            writeln!(csv, "{name},{seconds:.1},{peak}")?;
            // Zero has no logarithm.
            peaks.push((seconds, peak.max(1.0)));
        }
        lines.push(line(name, peaks));
    }
    fs::write(into.join("load.csv"), csv)?;
    let capacity = f64::from(CLIENTS) / 5.0 * SLOT.as_secs_f64();
    lines.push(line(
        "capacity (up from 5 s)",
        vec![(5.0, capacity), (15.0, capacity)],
    ));
    Plot {
        title: "100,000 clients: most calls in a slot of 10 ms, in each 100 ms",
        x: ("seconds", Scale::Linear, 0.0..15.0),
        y: ("calls per slot", Scale::Log, 1.0..100_000.0),
        lines: &lines,
        legend: SeriesLabelPosition::UpperRight,
    }
    .write(&into.join("load.svg"))
}
