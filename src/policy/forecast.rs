//! `--plan`: the least, mean and most of every wait, without running anything.
//!
//! Means are exact arithmetic over the very distribution that is drawn from. Decorrelated jitter
//! has no closed form once the cap is reached: there the density of the previous wait is carried
//! from retry to retry on a grid, which is numerical integration, not a simulation.

use std::time::Duration;

use super::delay::{Delays, Jitter, from_nanos, nanos};
use super::session::Limits;

/// How many retries are shown where attempts are unlimited.
pub const SHOWN_WHEN_UNLIMITED: u64 = 20;

/// One line of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// 1 for the first retry.
    pub retry: u64,
    /// The shortest possible wait before it.
    pub least: Duration,
    /// The mean wait before it.
    pub mean: Duration,
    /// The least upper bound of the waits before it.
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

/// Cells of the grid between base and cap.
const CELLS: usize = 4096;

/// The Markov chain of decorrelated jitter: next = uniform in [base, min(cap, previous * factor)].
struct Decorrelated {
    base: f64,
    cap: f64,
    /// The cap, unrounded.
    longest: Duration,
    factor: f64,
    /// The upper end of the last draw if every draw so far was the longest; base before the first.
    high: f64,
    /// The mean of the last draw.
    mean: f64,
    /// Probability that the last draw fell into each cell of [base, high]; empty before the first.
    mass: Vec<f64>,
    /// Whether another step would change nothing.
    settled: bool,
}

impl Decorrelated {
    fn new(delays: &Delays) -> Option<Decorrelated> {
        let Jitter::Decorrelated { factor } = delays.jitter else {
            return None;
        };
        let (base, cap) = (nanos(delays.base), nanos(delays.cap));
        Some(Decorrelated {
            base,
            cap,
            longest: delays.cap,
            factor,
            high: base,
            mean: base,
            mass: Vec::new(),
            settled: false,
        })
    }

    /// Least, mean and most of the next wait.
    fn step(&mut self) -> (Duration, Duration, Duration) {
        if !self.settled {
            self.advance();
        }
        [self.base, self.mean, self.high]
            .map(|nanos| from_nanos(nanos).min(self.longest))
            .into()
    }

    fn advance(&mut self) {
        let old_high = self.high;
        self.high = (old_high * self.factor).min(self.cap).max(self.base);
        if self.high <= self.base {
            self.settled = true;
            return;
        }
        let next = if self.mass.is_empty() {
            vec![1.0 / CELLS as f64; CELLS]
        } else {
            self.next_mass(old_high, self.high)
        };
        // Where no draw can have met the cap, m' = (base + factor * m) / 2 holds exactly.
        self.mean = if old_high * self.factor <= self.cap {
            f64::midpoint(self.base, self.factor * self.mean)
        } else {
            mean_of(&next, self.base, self.high - self.base)
        };
        let moved: f64 = next.iter().zip(&self.mass).map(|(new, old)| (new - old).abs()).sum();
        self.settled = self.high == old_high && moved < 1e-12;
        self.mass = next;
    }

    /// Carries the probability mass of the previous wait over to the next one. From x the next wait
    /// is uniform in [base, u(x)], u = min(cap, factor * x): each source cell spreads its mass
    /// evenly over the target cells below u(x). Adding up from the right makes that linear in cells.
    fn next_mass(&self, old_top: f64, new_top: f64) -> Vec<f64> {
        let old_cell = (old_top - self.base) / CELLS as f64;
        let new_cell = (new_top - self.base) / CELLS as f64;
        let mut next = vec![0.0; CELLS];
        // density_ends[n]: what sources that cover the first n target cells bring per unit of length.
        let mut density_ends = vec![0.0; CELLS + 1];
        for (i, mass) in self.mass.iter().enumerate() {
            let x = self.base + (i as f64 + 0.5) * old_cell;
            // Above zero: x is not below base, and from base the first draw had somewhere to go.
            let reach = (x * self.factor).min(self.cap) - self.base;
            let density = mass / reach;
            let cells = (reach / new_cell).min(CELLS as f64);
            let whole = cells.floor() as usize;
            density_ends[whole] += density;
            if whole < CELLS {
                next[whole] += density * (cells - whole as f64) * new_cell;
            }
        }
        let mut density = 0.0;
        for cell in (0..CELLS).rev() {
            density += density_ends[cell + 1];
            next[cell] += density * new_cell;
        }
        next
    }
}

fn mean_of(mass: &[f64], base: f64, width: f64) -> f64 {
    let cell = width / mass.len() as f64;
    mass.iter()
        .enumerate()
        .map(|(i, mass)| mass * (base + (i as f64 + 0.5) * cell))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::delay::Growth;
    use super::*;

    /// A plan of a million retries is not a million steps on the grid.
    #[test]
    fn a_chain_that_has_met_its_cap_settles() {
        let delays = Delays {
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            growth: Growth::Constant,
            jitter: Jitter::Decorrelated { factor: 3.0 },
        };
        let mut chain = Decorrelated::new(&delays).unwrap();
        let steps = (1..=1000).find(|_| {
            chain.step();
            chain.settled
        });
        assert!(steps.is_some_and(|steps| steps > 10), "{steps:?}");
    }
}
