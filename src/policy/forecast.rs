//! `--plan`: the waits of a run in which every attempt fails at once.
//!
//! The shortest and longest of each wait are exact, and so is the mean if it is midway between them. Other means (with
//! decorrelated jitter, or if the cap cuts waits) and the totals come from 1,000 runs of the session with fixed seeds,
//! so the same options show the same plan.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::classifier::{Reason, Verdict, Why};
use super::delay::{Delays, Jitter, generator_of_seed};
use super::limits::{GiveUp, Limits, Until};
use super::outcome::{End, Outcome};
use super::session::{Decision, Session};

/// Limit on the rows of a plan.
pub const MOST_ROWS: usize = 1_000;
/// Rows of a plan without limits on attempts or time.
const ROWS_WHEN_UNLIMITED: usize = 20;
const SAMPLED_RUNS: u64 = 1_000;

/// The waits of a run in order, and why they end. At least half of the runs have all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    pub rows: Vec<WaitRow>,
    pub end: RowsEnd,
}

/// The wait before one retry. Serialized in seconds for JSON (`--plan --log-format json`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WaitRow {
    /// 1 for the first retry.
    pub retry: u64,
    #[serde(rename = "min_s", serialize_with = "in_seconds")]
    pub least: Duration,
    #[serde(rename = "mean_s", serialize_with = "in_seconds")]
    pub mean: Duration,
    /// The longest wait, to which uniform draws come arbitrarily close.
    #[serde(rename = "max_s", serialize_with = "in_seconds")]
    pub most: Duration,
    /// Sum of the means up to this retry.
    #[serde(rename = "total_s", serialize_with = "in_seconds")]
    pub total: Duration,
    /// Sum of the longest waits up to this retry.
    #[serde(rename = "total_max_s", serialize_with = "in_seconds")]
    pub total_most: Duration,
    /// Percentiles of the total wait, among the runs that make this retry.
    #[serde(rename = "total_p5_s", serialize_with = "in_seconds")]
    pub total_low: Duration,
    #[serde(rename = "total_p95_s", serialize_with = "in_seconds")]
    pub total_high: Duration,
}

/// Writes an integer if there is no fraction, because it is shorter than `1.0`.
fn in_seconds<S: Serializer>(wait: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    if wait.subsec_nanos() == 0 {
        serializer.serialize_u64(wait.as_secs())
    } else {
        serializer.serialize_f64(wait.as_secs_f64())
    }
}

/// The 5th and 95th percentile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread<T> {
    pub low: T,
    pub high: T,
}

/// Why no further row follows.
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

/// Returns the forecast of a run. `before` is the mean wait before the first attempt. Time limits include it, the
/// totals of rows do not.
pub fn forecast(delays: &Delays, limits: &Limits, before: Duration) -> Forecast {
    // Runs without jitter are all the same.
    let runs = if delays.jitter == Jitter::None {
        1
    } else {
        SAMPLED_RUNS
    };
    let mut runs: Vec<SampledRun> = (0..runs)
        .map(|seed| SampledRun::new(delays, limits, before, seed))
        .collect();
    runs.sort_by_key(|run| run.waits.len());
    let median = &runs[runs.len() / 2];
    let mut rows: Vec<WaitRow> = Vec::new();
    for index in 0..median.waits.len() {
        let first = runs.partition_point(|run| run.waits.len() <= index);
        let last = rows.last().copied().unwrap_or_default();
        rows.push(next_row(delays, last, &runs[first..]));
    }
    let retries = spread(runs.iter().map(|run| run.waits.len() as u64).collect());
    let end = match median.end {
        _ if retries.low < retries.high => RowsEnd::Deadline(retries),
        Some(GiveUp::Deadline | GiveUp::StopAfter) => RowsEnd::Deadline(retries),
        Some(GiveUp::Delay) => RowsEnd::Delay,
        Some(_) => RowsEnd::Attempts,
        None => match limits.attempts {
            Some(attempts) => RowsEnd::More(attempts - 1 - retries.high),
            None => RowsEnd::Unlimited,
        },
    };
    Forecast { rows, end }
}

/// Returns the row after `last` (retry 0 for the first row), from the runs that make this retry.
fn next_row(delays: &Delays, last: WaitRow, runs: &[SampledRun]) -> WaitRow {
    let is_first = last.retry == 0;
    // Decorrelated jitter multiplies the previous wait, so the longest of one row gives the longest of the next.
    let longest = if is_first { None } else { Some(last.most) };
    let wait = delays.distribution(last.retry, longest);
    let index = last.retry as usize;
    let is_decorrelated = matches!(delays.jitter, Jitter::Decorrelated { .. });
    let mean = if wait.is_cut() || (is_decorrelated && !is_first) {
        let sum: f64 = runs.iter().map(|run| run.waits[index].as_secs_f64()).sum();
        Duration::try_from_secs_f64(sum / runs.len() as f64).unwrap_or(Duration::MAX)
    } else {
        wait.least() + (wait.most() - wait.least()) / 2
    };
    let mean = mean.clamp(wait.least(), wait.most());
    let totals = spread(runs.iter().map(|run| run.totals[index]).collect());
    WaitRow {
        retry: last.retry + 1,
        least: wait.least(),
        mean,
        most: wait.most(),
        total: last.total.saturating_add(mean),
        total_most: last.total_most.saturating_add(wait.most()),
        total_low: totals.low,
        total_high: totals.high,
    }
}

/// A simulated run with random waits.
struct SampledRun {
    waits: Vec<Duration>,
    /// Sum of the waits up to each one.
    totals: Vec<Duration>,
    /// The limit that ended the run, None if there were enough rows.
    end: Option<GiveUp>,
}

impl SampledRun {
    fn new(delays: &Delays, limits: &Limits, before: Duration, seed: u64) -> SampledRun {
        // Only limits on attempts, time and waits count.
        let limits = Limits {
            until: Until::Success,
            idempotent: true,
            leave_to_outer: false,
            reset_after: None,
            ..limits.clone()
        };
        let most_rows = match (limits.attempts, limits.latest_begin()) {
            (None, None) => ROWS_WHEN_UNLIMITED,
            _ => MOST_ROWS,
        };
        let failure = Outcome::new(End::Exited(1), Duration::ZERO);
        let verdict = Verdict::Transient(Reason::new(Why::Default));
        let mut rng = generator_of_seed(seed);
        let mut session = Session::new(&limits, delays);
        let mut run = SampledRun {
            waits: Vec::new(),
            totals: Vec::new(),
            end: None,
        };
        let mut total = Duration::ZERO;
        loop {
            session.begin();
            let elapsed = before.saturating_add(total);
            match session.decide_next(&failure, &verdict, elapsed, &mut rng) {
                Decision::Stop(stop) => run.end = stop.gave_up(),
                Decision::Retry(wait) if run.waits.len() < most_rows => {
                    total = total.saturating_add(wait);
                    run.waits.push(wait);
                    run.totals.push(total);
                    continue;
                }
                Decision::Retry(_) | Decision::Confirm(_) => {}
            }
            return run;
        }
    }
}

/// Returns the 5th and 95th percentile: of n sorted values, those at n / 20 and n - 1 - n / 20. There must be a value.
fn spread<T: Ord + Copy>(mut values: Vec<T>) -> Spread<T> {
    values.sort_unstable();
    let low = values.len() / 20;
    Spread {
        low: values[low],
        high: values[values.len() - 1 - low],
    }
}

#[cfg(test)]
#[path = "tests/forecast.rs"]
mod tests;
