//! `--plan`: the waits of a run in which every attempt fails at once.
//!
//! The least and the most of each wait are exact. So is the mean if a closed form exists: the mean of the distribution,
//! or, for decorrelated jitter as long as no wait can reach the cap, m(i) = (base + factor * m(i - 1)) / 2 with m(-1) =
//! base, the mean of a uniform draw from [base, factor * previous]. The means of capped decorrelated waits and the
//! spread of totals come from 10,000 sampled runs (one without jitter, fewer in late rows) with a fixed seed, so that
//! the same options show the same plan.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::delay::{Delays, Distribution, Jitter, from_nanos, nanos};
use super::session::Limits;

/// Limit on the rows of a plan.
pub const MOST_ROWS: u64 = 1_000;
/// Most rows of a plan without a limit on attempts or time.
const ROWS_WHEN_UNLIMITED: u64 = 20;
const SAMPLED_RUNS: usize = 10_000;
/// Rows after which fewer runs go on, so that a long plan takes no second.
const ROWS_OF_ALL_RUNS: u64 = 100;
const RUNS_OF_LONG_PLAN: usize = 1_000;

/// The waits of a run in order, and the reason for their end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    pub rows: Vec<WaitRow>,
    pub end: RowsEnd,
}

/// The wait before one retry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitRow {
    /// 1 for the first retry.
    pub retry: u64,
    pub least: Duration,
    pub mean: Duration,
    /// The longest wait; a uniform draw comes as near to it as one likes.
    pub most: Duration,
    /// The sum of the means up to this retry.
    pub total: Duration,
    /// The sum of the longest waits up to this retry.
    pub total_most: Duration,
    /// The spread of the totals.
    pub totals: Spread<Duration>,
}

/// The 5th and the 95th percentile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread<T> {
    pub low: T,
    pub high: T,
}

impl<T: Copy> Spread<T> {
    /// Returns the spread of a value that is the same in all runs.
    fn same(value: T) -> Spread<T> {
        Spread {
            low: value,
            high: value,
        }
    }
}

/// Reason why no further row follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsEnd {
    /// `--attempts`
    Attempts,
    /// Attempts are unlimited, and enough rows are shown.
    Unlimited,
    /// The attempt limit allows this many more retries, but enough rows are shown.
    More(u64),
    /// `--stop-at-delay`
    Delay,
    /// `--deadline` or `--stop-after`, with the number of retries before it.
    Deadline(Spread<u64>),
}

/// Returns the forecast of a run. `before`, the mean of a wait that may be random, passes
/// before the first attempt: limits on time include it, the totals of rows do not.
///
/// Rows end by a limit on retries or rows, or once their mean total reaches a limit on time. After the last row, the
/// sampled runs are drawn on until 95% of them have reached the limit on time, as [`RowsEnd::Deadline`] tells how many
/// retries fit.
pub fn forecast(delays: &Delays, limits: &Limits, before: Duration) -> Forecast {
    let mut sample = SampledRuns::new(delays, time_limit(limits, before));
    let mut rows = Vec::new();
    let mut retries_in_time = Spread::same(0);
    loop {
        let retries_drawn = sample.last.retry;
        // A limit on retries, or only on rows.
        if let Some(limit_on_retries) = end_before(retries_drawn, delays, limits) {
            // False if the limit on time came first for the rows, or for at least 5% of the sampled runs.
            let all_retries_fit =
                rows.len() as u64 == retries_drawn && retries_in_time.low == retries_drawn;
            let end = if all_retries_fit {
                limit_on_retries
            } else {
                RowsEnd::Deadline(retries_in_time)
            };
            return Forecast { rows, end };
        }
        let row = sample.next_row();
        if sample.is_in_time(row.total) {
            rows.push(row);
        }
        retries_in_time = sample.retries_in_time();
        if retries_in_time.high < row.retry {
            let end = RowsEnd::Deadline(retries_in_time);
            return Forecast { rows, end };
        }
    }
}

/// Returns the time that waits may take, if `before` passes before the first attempt; None if nothing limits it.
fn time_limit(limits: &Limits, before: Duration) -> Option<Duration> {
    let latest = limits.latest_begin()?;
    Some(latest.limit.saturating_sub(before))
}

/// One of the many runs that are drawn at random, so that their totals can be counted.
#[derive(Clone, Copy, Default)]
struct SampledRun {
    /// The last wait; None before the first.
    previous: Option<Duration>,
    /// Sum of the waits.
    total: Duration,
    /// Retries that began before the limit on time.
    retries_in_time: u64,
}

/// Runs that are drawn beside each other, one retry after the other.
struct SampledRuns<'a> {
    delays: &'a Delays,
    /// No retry begins at this time or later.
    time_limit: Option<Duration>,
    runs: Vec<SampledRun>,
    rng: Xoshiro256PlusPlus,
    /// The last row; before the first, retry 0 with zeros.
    last: WaitRow,
    /// The mean of the last wait in nanoseconds; at first the base.
    mean: f64,
}

impl SampledRuns<'_> {
    /// Begins the sampled runs, none of which has waited yet, with a fixed seed: the same options show the same plan.
    fn new(delays: &Delays, time_limit: Option<Duration>) -> SampledRuns<'_> {
        // Runs without jitter are all equal.
        let runs = if delays.jitter == Jitter::None {
            1
        } else {
            SAMPLED_RUNS
        };
        SampledRuns {
            delays,
            time_limit,
            runs: vec![SampledRun::default(); runs],
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            last: WaitRow::default(),
            mean: nanos(delays.base),
        }
    }

    /// Draws the next wait of each run, and returns its row, which becomes `last`. Least and most come from the
    /// distribution, the mean from a formula if there is one, the spread of totals from the draws.
    fn next_row(&mut self) -> WaitRow {
        let last = self.last;
        // Decorrelated jitter multiplies the wait before, so the longest of one row gives the longest of the next.
        let longest = if last.retry == 0 {
            None
        } else {
            Some(last.most)
        };
        let wait = self.delays.distribution(last.retry, longest);
        if last.retry == ROWS_OF_ALL_RUNS {
            self.runs.truncate(RUNS_OF_LONG_PLAN);
        }
        self.mean = match self.delays.jitter {
            Jitter::Decorrelated { factor } => {
                let sampled_mean = self.draw_decorrelated();
                let longest = longest.unwrap_or(self.delays.base);
                if nanos(longest) * factor <= nanos(self.delays.cap) {
                    // m(i) of the heading, as no wait can reach the cap yet.
                    f64::midpoint(nanos(self.delays.base), factor * self.mean)
                } else {
                    sampled_mean
                }
            }
            _ => {
                self.draw(wait);
                nanos(wait.mean())
            }
        };
        let mean = from_nanos(self.mean).clamp(wait.least(), wait.most());
        self.last = WaitRow {
            retry: last.retry + 1,
            least: wait.least(),
            mean,
            most: wait.most(),
            total: last.total.saturating_add(mean),
            total_most: last.total_most.saturating_add(wait.most()),
            totals: spread(&self.runs, |run| run.total),
        };
        self.last
    }

    /// Draws the next wait of each run from the same distribution.
    fn draw(&mut self, wait: Distribution) {
        for run in &mut self.runs {
            run.draw_next(wait, self.time_limit, &mut self.rng);
        }
    }

    /// Draws the next wait of each run, which depends on the wait before. Returns the mean of the distributions, which
    /// varies less than that of draws.
    fn draw_decorrelated(&mut self) -> f64 {
        let count = self.runs.len() as f64;
        let mut mean = 0.0;
        for run in &mut self.runs {
            let wait = self.delays.distribution(self.last.retry, run.previous);
            mean += nanos(wait.mean()) / count;
            run.draw_next(wait, self.time_limit, &mut self.rng);
        }
        mean
    }

    fn is_in_time(&self, total: Duration) -> bool {
        self.time_limit.is_none_or(|limit| total < limit)
    }

    /// Returns how many of the retries drawn so far begin before the limit on time, from the run at the 5th percentile
    /// to that at the 95th: all of them if there is no limit.
    fn retries_in_time(&self) -> Spread<u64> {
        if self.time_limit.is_none() {
            return Spread::same(self.last.retry);
        }
        spread(&self.runs, |run| run.retries_in_time)
    }
}

impl SampledRun {
    /// Draws the next wait, adds it to the run's total, and counts the retry after it if it begins before `time_limit`
    /// (None is no limit). A run goes on being drawn past the limit, as the totals of later rows include it.
    fn draw_next(
        &mut self,
        wait: Distribution,
        time_limit: Option<Duration>,
        rng: &mut Xoshiro256PlusPlus,
    ) {
        let drawn = wait.draw(rng);
        self.previous = Some(drawn);
        self.total = self.total.saturating_add(drawn);
        self.retries_in_time += u64::from(time_limit.is_none_or(|limit| self.total < limit));
    }
}

/// Returns the limit, except on time, that forbids retry number `retry` (0 is the first), or only a row for it, as the
/// plan is long enough; None if the row may follow.
fn end_before(retry: u64, delays: &Delays, limits: &Limits) -> Option<RowsEnd> {
    let most_rows = match (limits.attempts, limits.latest_begin()) {
        (None, None) => ROWS_WHEN_UNLIMITED,
        _ => MOST_ROWS,
    };
    // Before retry 0, one attempt has been made.
    if let Some(attempts) = limits.attempts
        && retry + 1 >= attempts
    {
        return Some(RowsEnd::Attempts);
    }
    if retry >= most_rows {
        return Some(match limits.attempts {
            Some(attempts) => RowsEnd::More(attempts - 1 - retry),
            None => RowsEnd::Unlimited,
        });
    }
    if limits.reaches_stop_at_delay(delays, retry) {
        Some(RowsEnd::Delay)
    } else {
        None
    }
}

/// Returns the 5th and the 95th percentile of a value of the runs: of n sorted values, those at the places n / 20 and
/// n - 1 - n / 20. `runs` must not be empty.
fn spread<T: Ord + Copy>(runs: &[SampledRun], value: impl Fn(&SampledRun) -> T) -> Spread<T> {
    let mut values: Vec<T> = runs.iter().map(value).collect();
    let low = runs.len() / 20;
    let high = runs.len() - 1 - low;
    Spread {
        low: *values.select_nth_unstable(low).1,
        high: *values.select_nth_unstable(high).1,
    }
}

#[cfg(test)]
mod tests;
