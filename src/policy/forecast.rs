//! `--plan`: the least, mean and most of every wait, without running anything.
//!
//! Least and most are exact, and so is the mean, but for decorrelated jitter once the cap can be reached: that has no
//! closed form, and its mean is that of 10,000 sampled runs. The seed is fixed, so the same options show the same plan.

use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::delay::{Delays, Jitter, from_nanos, nanos};
use super::session::Limits;

/// How many retries are shown where attempts are unlimited.
const SHOWN_WHEN_UNLIMITED: u64 = 20;

/// One line of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// 1 for the first retry.
    pub retry: u64,
    pub least: Duration,
    pub mean: Duration,
    /// The least upper bound.
    pub most: Duration,
    /// The means up to and with this retry, added up.
    pub total: Duration,
}

/// The waits of a run in which every attempt fails at once, in order. Ends where the limits end the
/// run: attempts, `--stop-at-delay`, and a deadline that even the shortest waits would pass after
/// `before` the first attempt.
pub fn rows(delays: &Delays, limits: &Limits, before: Duration) -> impl Iterator<Item = Row> {
    let count = limits.attempts.map_or(SHOWN_WHEN_UNLIMITED, |attempts| attempts - 1);
    let mut decorrelated = Decorrelated::new(delays);
    let mut total = Duration::ZERO;
    let mut least_total = before;
    (0..count).map_while(move |retry| {
        if limits.reaches_stop_at_delay(delays, retry) {
            return None;
        }
        let (least, mean, most) = match &mut decorrelated {
            Some(chain) => chain.step(),
            None => {
                let wait = delays.distribution(retry, None);
                (wait.least(), wait.mean(), wait.most())
            }
        };
        least_total = least_total.saturating_add(least);
        if limits.deadline.is_some_and(|deadline| least_total >= deadline) {
            return None;
        }
        total = total.saturating_add(mean);
        Some(Row {
            retry: retry + 1,
            least,
            mean,
            most,
            total,
        })
    })
}

const SAMPLED_RUNS: usize = 10_000;

/// After so many sampled retries the mean no longer moves but by chance: the last one stands for all later ones, so
/// that a plan of a million retries is not ten thousand million draws.
const MOST_SAMPLED_RETRIES: u64 = 1_000;

/// Decorrelated jitter, retry by retry, in nanoseconds: each wait is uniform in [base, min(cap, previous * factor)].
struct Decorrelated {
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
    fn new(delays: &Delays) -> Option<Decorrelated> {
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
    fn step(&mut self) -> (Duration, Duration, Duration) {
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
    retries: u64,
    mean: f64,
}

impl Sample {
    /// Runs that have come as far as the chain.
    fn new(chain: &Decorrelated) -> Sample {
        let mut sample = Sample {
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            waits: vec![chain.base; SAMPLED_RUNS],
            retries: 0,
            mean: chain.mean,
        };
        // Where the cap is so far away, the waits have long settled below it: what matters is how they end.
        for _ in 0..chain.retries.min(MOST_SAMPLED_RETRIES) {
            sample.draw(chain);
        }
        sample
    }

    /// The mean of the next waits: not of what is drawn but of what it is drawn from, which varies less.
    fn next_mean(&mut self, chain: &Decorrelated) -> f64 {
        if self.retries < MOST_SAMPLED_RETRIES {
            let ends: f64 = self.waits.iter().map(|wait| chain.upper_end(*wait)).sum();
            self.mean = f64::midpoint(chain.base, ends / SAMPLED_RUNS as f64);
            self.draw(chain);
        }
        self.mean
    }

    /// Of two runs one draws as far from the bottom as the other from the top, so that their chances level out.
    fn draw(&mut self, chain: &Decorrelated) {
        for pair in self.waits.as_chunks_mut::<2>().0 {
            let place = self.rng.random::<f64>();
            for (wait, place) in pair.iter_mut().zip([place, 1.0 - place]) {
                *wait = chain.base + (chain.upper_end(*wait) - chain.base) * place;
            }
        }
        self.retries += 1;
    }
}

#[cfg(test)]
mod tests;
