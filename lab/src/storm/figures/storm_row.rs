//! A row of the tables of storms: means over the runs of one storm.

use std::time::Duration;

use backoff_cli::policy::delay::Delays;

use super::storm::AFTER_THE_FIRST_WAVE;
use super::{SEED, seeded};
use crate::storm::sim::course::Course;
use crate::storm::sim::spread::Spread;
use crate::storm::sim::storm::Storm;

/// Times are in seconds.
#[derive(Default)]
pub(super) struct Row {
    calls_per_client: f64,
    pub(super) peaks: Peaks,
    /// None if a run did not drain.
    drained: Option<f64>,
    /// The share of the clients that were served.
    served: f64,
    /// The share of the clients that the budget denied a retry.
    denied: f64,
    served_after: MeanAndDeviation,
    waits: MeanAndDeviation,
}

/// The most calls in a slot.
#[derive(Default)]
pub(super) struct Peaks {
    retries: f64,
    /// From 1 s to the end of the outage at 5 s.
    pub(super) during_outage: f64,
    after_outage: f64,
}

#[derive(Default)]
struct MeanAndDeviation {
    mean: f64,
    deviation: f64,
}

impl MeanAndDeviation {
    fn add(&mut self, spread: &Spread, weight: f64) {
        self.mean += weight * spread.mean().as_secs_f64();
        self.deviation += weight * spread.deviation().as_secs_f64();
    }
}

impl Row {
    pub(super) fn measure(storm: &Storm, delays: &Delays, runs: u32) -> Row {
        let mut means = Row {
            drained: Some(0.0),
            ..Row::default()
        };
        let weight = 1.0 / f64::from(runs);
        for run in 0..runs {
            let course = storm.run(delays, &mut seeded(SEED + u64::from(run)));
            means.add(storm, &course, weight);
        }
        means
    }

    /// Adds a run. The weights of all runs add up to 1.
    fn add(&mut self, storm: &Storm, course: &Course, weight: f64) {
        let clients = f64::from(storm.clients);
        self.calls_per_client += weight * course.calls() as f64 / clients;
        self.served += weight * course.served.count() as f64 / clients;
        self.denied += weight * course.denied as f64 / clients;
        self.served_after.add(&course.served, weight);
        self.waits.add(&course.waits, weight);
        self.drained = match (self.drained, course.drained) {
            (Some(sum), Some(time)) => Some(sum + weight * time.as_secs_f64()),
            _ => None,
        };

        let end = Duration::MAX;
        let retries = course.peak(storm.within, end);
        let during_outage = course.peak(AFTER_THE_FIRST_WAVE, storm.outage);
        let after_outage = course.peak(storm.outage, end);
        self.peaks.retries += weight * f64::from(retries);
        self.peaks.during_outage += weight * f64::from(during_outage);
        self.peaks.after_outage += weight * f64::from(after_outage);
    }

    fn drained(&self) -> String {
        match self.drained {
            Some(time) => format!("{time:.1}"),
            None => "-".to_owned(),
        }
    }

    /// Returns the cells of the table from the peak of the retries on.
    pub(super) fn cells(&self) -> String {
        format!(
            "{:.1} | {:.1} | {:.1} | {} | {:.2} | {:.0}% | {:.2} ± {:.2}",
            self.peaks.retries,
            self.peaks.during_outage,
            self.peaks.after_outage,
            self.drained(),
            self.calls_per_client,
            100.0 * self.denied,
            self.waits.mean,
            self.waits.deviation,
        )
    }

    /// Returns the columns of the CSV file from `calls_per_client` on.
    pub(super) fn columns(&self) -> String {
        format!(
            "{:.3},{:.2},{:.2},{:.2},{},{:.4},{:.4},{:.3},{:.3},{:.3},{:.3}",
            self.calls_per_client,
            self.peaks.retries,
            self.peaks.during_outage,
            self.peaks.after_outage,
            self.drained(),
            self.served,
            self.denied,
            self.served_after.mean,
            self.served_after.deviation,
            self.waits.mean,
            self.waits.deviation,
        )
    }
}
