//! `--plan`: the waits of a run in which every attempt fails at once.
//!
//! The least and the most of each wait are exact. So is the mean if a closed form exists: the mean of the distribution,
//! or, for decorrelated jitter as long as no wait can reach the cap, m(i) = (base + factor * m(i - 1)) / 2 with m(-1) =
//! base, the mean of a uniform draw from [base, factor * previous]. The means of capped decorrelated waits and the
//! spread of totals come from 10,000 sampled runs with a fixed seed, so that the same options show the same plan.

use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

use super::delay::{Delays, Distribution, Jitter, from_nanos, nanos};
use super::session::Limits;

/// Limit on the rows of a plan.
pub const MOST_ROWS: u64 = 1_000;
/// Rows of a plan without any limit.
const ROWS_WHEN_UNLIMITED: u64 = 20;
const SAMPLED_RUNS: usize = 10_000;
/// Rows after which fewer runs go on, so that a long plan takes no second.
const ROWS_OF_ALL_RUNS: u64 = 100;
const RUNS_OF_LONG_PLAN: usize = 1_000;

/// The wait before one retry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// 1 for the first retry.
    pub retry: u64,
    pub least: Duration,
    pub mean: Duration,
    /// Least upper limit.
    pub most: Duration,
    /// The sum of the means up to this retry.
    pub total: Duration,
    /// The sum of the longest waits up to this retry.
    pub total_most: Duration,
    /// The 5th and the 95th percentile of the totals.
    pub totals: [Duration; 2],
}

/// Reason why no further row follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// `--attempts`
    Attempts,
    /// Attempts are unlimited, and enough rows are shown.
    Unlimited,
    /// The attempt limit allows this many more retries.
    More(u64),
    /// `--stop-at-delay`
    Delay,
    /// `--deadline` or `--stop-after`, with the 5th and the 95th percentile of the number of retries before it.
    Deadline([u64; 2]),
}

/// A sampled run.
#[derive(Clone, Copy, Default)]
struct Run {
    previous: Option<Duration>,
    /// Sum of the waits.
    total: Duration,
    /// Retries that began before the limit on time.
    retries_in_time: u64,
}

/// Returns the waits of a run in order, and the reason for their end: a limit on retries, or a limit on time that the
/// mean total reaches. `before` passes before the first attempt.
pub fn forecast(delays: &Delays, limits: &Limits, before: Duration) -> (Vec<Row>, End) {
    let time_limit = limits
        .latest_begin()
        .map(|(limit, _)| limit.saturating_sub(before));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    // Runs without jitter are all equal.
    let sampled = if delays.jitter == Jitter::None {
        1
    } else {
        SAMPLED_RUNS
    };
    let mut runs = vec![Run::default(); sampled];
    // `row` is the last row; before the first, retry 0 with zeros.
    let (mut rows, mut row) = (Vec::new(), Row::default());
    let mut mean = nanos(delays.base);
    // 5th and 95th percentile of the runs' retries in time.
    let mut in_time = [0; 2];
    let end = loop {
        if let Some(end) = end_before(row.retry, delays, limits) {
            // False if the limit on time came first for the rows, or for at least 5% of the sampled runs.
            let all_retries_fit = rows.len() as u64 == row.retry && in_time[0] == row.retry;
            break if all_retries_fit {
                end
            } else {
                End::Deadline(in_time)
            };
        }
        // Upper end of the last wait, for decorrelated jitter.
        let longest = (row.retry > 0).then_some(row.most);
        let wait = delays.distribution(row.retry, longest);
        let mut sampled_mean = 0.0;
        if row.retry == ROWS_OF_ALL_RUNS {
            runs.truncate(RUNS_OF_LONG_PLAN);
        }
        let count = runs.len() as f64;
        for run in &mut runs {
            let mut wait = wait;
            if let Jitter::Decorrelated { .. } = delays.jitter {
                wait = delays.distribution(row.retry, run.previous);
                // The mean of distributions varies less than that of draws.
                sampled_mean += nanos(wait.mean()) / count;
            }
            run.draw_next(wait, time_limit, &mut rng);
        }
        mean = match delays.jitter {
            // m(i) of the heading, as no wait can reach the cap yet.
            Jitter::Decorrelated { factor }
                if nanos(longest.unwrap_or(delays.base)) * factor <= nanos(delays.cap) =>
            {
                f64::midpoint(nanos(delays.base), factor * mean)
            }
            Jitter::Decorrelated { .. } => sampled_mean,
            _ => nanos(wait.mean()),
        };
        let row_mean = from_nanos(mean).clamp(wait.least(), wait.most());
        row = Row {
            retry: row.retry + 1,
            least: wait.least(),
            mean: row_mean,
            most: wait.most(),
            total: row.total.saturating_add(row_mean),
            total_most: row.total_most.saturating_add(wait.most()),
            totals: percentiles(&runs, |run| run.total),
        };
        // Rows end once the mean total reaches the limit on time; sampled runs go on.
        rows.extend(
            time_limit
                .is_none_or(|limit| row.total < limit)
                .then_some(row),
        );
        // Without a limit on time, every retry is in time.
        in_time = time_limit.map_or([row.retry; 2], |_| {
            percentiles(&runs, |run| run.retries_in_time)
        });
        // Goes on after the last row until 95% of the sampled runs have reached the limit on time.
        if in_time[1] < row.retry {
            break End::Deadline(in_time);
        }
    };
    (rows, end)
}

/// Returns the waits of the run that draws from `rng`, in order, and the reason for their end. `before` passes before
/// the first attempt.
pub fn drawn(
    delays: &Delays,
    limits: &Limits,
    before: Duration,
    rng: &mut dyn Rng,
) -> (Vec<Row>, End) {
    let mut rows: Vec<Row> = Vec::new();
    let mut previous = None;
    let mut total = Duration::ZERO;
    loop {
        let retry = rows.len() as u64;
        if let Some(end) = end_before(retry, delays, limits) {
            return (rows, end);
        }
        let wait = delays.draw(retry, previous, rng);
        total = total.saturating_add(wait);
        let begin = before.saturating_add(total);
        if limits
            .latest_begin()
            .is_some_and(|(limit, _)| begin >= limit)
        {
            return (rows, End::Deadline([retry; 2]));
        }
        previous = Some(wait);
        rows.push(Row {
            retry: retry + 1,
            least: wait,
            mean: wait,
            most: wait,
            total,
            total_most: total,
            totals: [total; 2],
        });
    }
}

impl Run {
    /// Draws the next wait. No retry begins at `time_limit` or later.
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

/// Returns the limit, except on time, that forbids retry `retry` (0 is the first) or its row.
fn end_before(retry: u64, delays: &Delays, limits: &Limits) -> Option<End> {
    let rows_if_unlimited = limits
        .latest_begin()
        .map_or(ROWS_WHEN_UNLIMITED, |_| MOST_ROWS);
    match limits.attempts {
        Some(attempts) if retry + 1 >= attempts => Some(End::Attempts),
        Some(attempts) if retry >= MOST_ROWS => Some(End::More(attempts - 1 - retry)),
        None if retry >= rows_if_unlimited => Some(End::Unlimited),
        _ if limits.reaches_stop_at_delay(delays, retry) => Some(End::Delay),
        _ => None,
    }
}

/// Returns the 5th and the 95th percentile: of n sorted values, those at the places n / 20 and n - 1 - n / 20.
fn percentiles<T: Ord + Copy>(runs: &[Run], value: impl Fn(&Run) -> T) -> [T; 2] {
    let mut values: Vec<T> = runs.iter().map(value).collect();
    [runs.len() / 20, runs.len() - 1 - runs.len() / 20]
        .map(|place| *values.select_nth_unstable(place).1)
}

#[cfg(test)]
mod tests;
