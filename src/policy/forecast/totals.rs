//! What runs wait in all: a sample of runs side by side.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::policy::delay::{Delays, Jitter};

const RUNS: usize = 1_000;

pub(super) struct Totals {
    rng: Xoshiro256PlusPlus,
    runs: Vec<Run>,
    /// How long a run may wait.
    bound: Option<Duration>,
}

#[derive(Clone, Copy, Default)]
struct Run {
    previous: Option<Duration>,
    total: Duration,
    /// Retries before the bound.
    in_time: u64,
}

impl Totals {
    pub(super) fn new(bound: Option<Duration>) -> Totals {
        Totals {
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            runs: vec![Run::default(); RUNS],
            bound,
        }
    }

    /// Every run waits before retry `retry`; 0 is the first.
    pub(super) fn step(&mut self, delays: &Delays, retry: u64) {
        let depends_on_previous = matches!(delays.jitter, Jitter::Decorrelated { .. });
        let common = delays.distribution(retry, None);
        for run in &mut self.runs {
            let wait = if depends_on_previous {
                delays.draw(retry, run.previous, &mut self.rng)
            } else {
                common.draw(&mut self.rng)
            };
            run.previous = Some(wait);
            run.total = run.total.saturating_add(wait);
            run.in_time += u64::from(self.bound.is_none_or(|bound| run.total < bound));
        }
    }

    pub(super) fn range(&self) -> [Duration; 2] {
        range(self.runs.iter().map(|run| run.total))
    }

    pub(super) fn retries_in_time(&self) -> [u64; 2] {
        range(self.runs.iter().map(|run| run.in_time))
    }
}

/// The 5th and the 95th percentile.
fn range<T: Ord + Copy>(values: impl Iterator<Item = T>) -> [T; 2] {
    let mut values: Vec<T> = values.collect();
    [RUNS / 20, RUNS - 1 - RUNS / 20].map(|place| *values.select_nth_unstable(place).1)
}
