//! The mean of decorrelated jitter, wait by wait.

use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::policy::delay::{Delays, Jitter, from_nanos, nanos};

const SAMPLED_RUNS: usize = 10_000;

/// Decorrelated jitter, retry by retry, in nanoseconds: each wait is uniform in [base, min(cap, previous * factor)].
pub(super) struct Decorrelated {
    base: f64,
    cap: f64,
    factor: f64,
    /// The upper end of the next draw if every draw so far was the longest.
    most: f64,
    mean: f64,
    retries: u64,
    /// From where the cap can be reached.
    sample: Option<Sample>,
    /// The cap, unrounded.
    longest: Duration,
}

impl Decorrelated {
    pub(super) fn new(delays: &Delays) -> Option<Decorrelated> {
        let Jitter::Decorrelated { factor } = delays.jitter else {
            return None;
        };
        let base = nanos(delays.base);
        Some(Decorrelated {
            base,
            cap: nanos(delays.cap),
            factor,
            most: base,
            mean: base,
            retries: 0,
            sample: None,
            longest: delays.cap,
        })
    }

    /// Least, mean and most of the next wait.
    pub(super) fn step(&mut self) -> (Duration, Duration, Duration) {
        let uncapped = self.most * self.factor;
        self.most = self.upper_end(self.most);
        self.mean = if uncapped <= self.cap {
            f64::midpoint(self.base, self.factor * self.mean)
        } else {
            let mut sample = self.sample.take().unwrap_or_else(|| Sample::new(self));
            let mean = sample.next_mean(self);
            self.sample = Some(sample);
            mean
        };
        self.retries += 1;
        let [least, most] = [self.base, self.most].map(|wait| from_nanos(wait).min(self.longest));
        (least, from_nanos(self.mean).clamp(least, most), most)
    }

    fn upper_end(&self, previous: f64) -> f64 {
        (previous * self.factor).min(self.cap).max(self.base)
    }
}

/// Many runs side by side.
struct Sample {
    rng: Xoshiro256PlusPlus,
    /// The last wait of each run.
    waits: Vec<f64>,
}

impl Sample {
    /// Runs that have come as far as the chain.
    fn new(chain: &Decorrelated) -> Sample {
        let mut sample = Sample {
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            waits: vec![chain.base; SAMPLED_RUNS],
        };
        for _ in 0..chain.retries {
            sample.draw(chain);
        }
        sample
    }

    /// The mean of the next waits: not of what is drawn but of what it is drawn from, which varies less.
    fn next_mean(&mut self, chain: &Decorrelated) -> f64 {
        let ends: f64 = self.waits.iter().map(|wait| chain.upper_end(*wait)).sum();
        self.draw(chain);
        f64::midpoint(chain.base, ends / SAMPLED_RUNS as f64)
    }

    /// Of two runs one draws as far from the bottom as the other from the top, so that their chances level out.
    fn draw(&mut self, chain: &Decorrelated) {
        for pair in self.waits.as_chunks_mut::<2>().0 {
            let place = self.rng.random::<f64>();
            for (wait, place) in pair.iter_mut().zip([place, 1.0 - place]) {
                *wait = chain.base + (chain.upper_end(*wait) - chain.base) * place;
            }
        }
    }
}
