//! `--plan`: the least, mean and most of every wait, without running anything.
//!
//! Least and most are exact, and so is the mean, but for decorrelated jitter once the cap can be reached: that has no
//! closed form, and its mean is that of 10,000 sampled runs. The seed is fixed, so the same options show the same plan.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

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

/// Decorrelated jitter, retry by retry: each wait is uniform in [base, min(cap, previous * factor)].
struct Decorrelated<'a> {
    delays: &'a Delays,
    factor: f64,
    retry: u64,
    /// The upper end of the next draw if every draw so far was the longest, in nanoseconds.
    most: f64,
    mean: f64,
    /// From where the cap can be reached.
    sample: Option<Sample>,
}

impl<'a> Decorrelated<'a> {
    fn new(delays: &'a Delays) -> Option<Decorrelated<'a>> {
        let Jitter::Decorrelated { factor } = delays.jitter else {
            return None;
        };
        Some(Decorrelated {
            delays,
            factor,
            retry: 0,
            most: nanos(delays.base),
            mean: nanos(delays.base),
            sample: None,
        })
    }

    /// Least, mean and most of the next wait.
    fn step(&mut self) -> (Duration, Duration, Duration) {
        let (base, cap) = (nanos(self.delays.base), nanos(self.delays.cap));
        let uncapped = self.most * self.factor;
        self.most = uncapped.min(cap).max(base);
        if uncapped <= cap {
            self.mean = f64::midpoint(base, self.factor * self.mean);
        } else {
            let sample = self.sample.get_or_insert_with(|| Sample::new(self.delays, self.retry));
            self.mean = sample.next_mean(self.delays);
        }
        self.retry += 1;
        let [least, most] = [base, self.most].map(|wait| from_nanos(wait).min(self.delays.cap));
        (least, from_nanos(self.mean).clamp(least, most), most)
    }
}

/// Many runs side by side.
struct Sample {
    rng: Xoshiro256PlusPlus,
    /// The last wait of each run.
    waits: Vec<Duration>,
    retries: u64,
    mean: f64,
}

impl Sample {
    /// Runs that have waited before so many retries.
    fn new(delays: &Delays, retries: u64) -> Sample {
        let mut sample = Sample {
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            waits: vec![delays.base; SAMPLED_RUNS],
            retries: 0,
            mean: nanos(delays.base),
        };
        // Where the cap is so far away, the waits have long settled below it: what matters is how they end.
        for _ in 0..retries.min(MOST_SAMPLED_RETRIES) {
            sample.draw(delays);
        }
        sample
    }

    /// The mean of the next waits: not of what is drawn but of what it is drawn from, which varies less.
    fn next_mean(&mut self, delays: &Delays) -> f64 {
        if self.retries < MOST_SAMPLED_RETRIES {
            let means = self.waits.iter().map(|previous| {
                let next = delays.distribution(self.retries, Some(*previous));
                nanos(next.mean())
            });
            self.mean = means.sum::<f64>() / SAMPLED_RUNS as f64;
            self.draw(delays);
        }
        self.mean
    }

    fn draw(&mut self, delays: &Delays) {
        for wait in &mut self.waits {
            *wait = delays.draw(self.retries, Some(*wait), &mut self.rng);
        }
        self.retries += 1;
    }
}

#[cfg(test)]
mod tests;
