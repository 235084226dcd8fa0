//! Load on the service over time.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use plotters::prelude::SeriesLabelPosition;

use super::{PLOTTED, SEED, line, seeded};
use crate::Result;
use crate::plots::{Axis, Line, Plot};
use crate::storm::sim::course::Course;
use crate::storm::sim::storm::{SLOT, Storm, jitters};

const CLIENTS: u32 = 100_000;
/// The length of an interval; its peak is the most calls in a slot.
const STEP: Duration = Duration::from_millis(100);
const STEPS: u32 = 150;

pub fn load(into: &Path) -> Result<()> {
    let mut csv = String::from("jitter,seconds,peak_per_slot\n");
    let mut lines = Vec::new();
    for jitter in jitters() {
        if !PLOTTED.contains(&jitter.name) {
            continue;
        }
        let course = Storm::of(CLIENTS).run(&jitter.delays, &mut seeded(SEED));
        let mut points = Vec::new();
        for step in 0..STEPS {
            let seconds = (STEP * step).as_secs_f64();
            let peak = peak_in_step(&course, step);
            writeln!(csv, "{},{seconds:.1},{peak}", jitter.name)?;
            // Zero has no logarithm.
            points.push((seconds, peak.max(1.0)));
        }
        lines.push(line(jitter.name, points));
    }
    fs::write(into.join("load.csv"), csv)?;
    lines.push(capacity());
    Plot {
        title: "100,000 clients: most calls in a slot of 10 ms, in each 100 ms",
        x: Axis::linear("seconds", 0.0..15.0),
        y: Axis::log("calls per slot", 1.0..100_000.0),
        lines: &lines,
        legend: SeriesLabelPosition::UpperRight,
    }
    .write(&into.join("load.svg"))
}

fn peak_in_step(course: &Course, step: u32) -> f64 {
    f64::from(course.peak(STEP * step, STEP * (step + 1)))
}

/// Returns the line of the calls that the service can answer in a slot.
fn capacity() -> Line {
    let per_slot = f64::from(CLIENTS) / 5.0 * SLOT.as_secs_f64();
    line(
        "capacity (up from 5 s)",
        vec![(5.0, per_slot), (15.0, per_slot)],
    )
}
