//! `--plan`: what a run in which every attempt fails at once would wait, without running anything.
//!
//! Least and most of a wait are exact, and so is the mean, but for decorrelated jitter once the cap can be reached: that has
//! no closed form, and its mean is that of 10,000 sampled runs. How far the totals of runs lie apart is counted in 1,000
//! sampled runs. The seeds are fixed, so the same options show the same plan.

mod decorrelated;
mod totals;

use std::time::Duration;

use super::delay::Delays;
use super::session::Limits;
use decorrelated::Decorrelated;
use totals::Totals;

/// How many retries are shown where nothing bounds the run.
const SHOWN_WHEN_UNLIMITED: u64 = 20;

/// Nobody reads more.
pub const MOST_ROWS: u64 = 1_000;

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
    /// Between which totals 90 of 100 runs lie: the 5th and the 95th percentile.
    pub totals: [Duration; 2],
}

/// Why there is no further row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// `--attempts`
    Attempts,
    /// Attempts are unlimited, and enough has been shown.
    Unlimited,
    /// So many more retries the attempts allow.
    More(u64),
    /// `--stop-at-delay`
    Delay,
    /// `--deadline` or `--stop-after`. So many retries 90 of 100 runs make before it: the 5th and the 95th percentile.
    Deadline([u64; 2]),
}

/// A part of the plan: rows, and then one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Row(Row),
    End(End),
}

/// The waits of a run, in order, `before` being what passes before its first attempt. Ends where the limits end the
/// run; the deadline does so where the mean total reaches it.
pub fn forecast<'a>(delays: &'a Delays, limits: &'a Limits, before: Duration) -> impl Iterator<Item = Part> + 'a {
    let mut forecast = Forecast {
        delays,
        limits,
        before,
        decorrelated: Decorrelated::new(delays),
        totals: Totals::new(limits.latest_begin().map(|(limit, _)| limit.saturating_sub(before))),
        shown: 0,
        total: Duration::ZERO,
    };
    let mut has_ended = false;
    std::iter::from_fn(move || {
        if has_ended {
            return None;
        }
        let next = forecast.next();
        has_ended = matches!(next, Part::End(_));
        Some(next)
    })
}

struct Forecast<'a> {
    delays: &'a Delays,
    limits: &'a Limits,
    before: Duration,
    decorrelated: Option<Decorrelated>,
    totals: Totals,
    /// How many rows there were.
    shown: u64,
    /// Their means added up.
    total: Duration,
}

impl Forecast<'_> {
    fn next(&mut self) -> Part {
        let retry = self.shown;
        if let Some(end) = self.bound(retry) {
            return Part::End(self.within_deadline(end));
        }
        let (least, mean, most) = match &mut self.decorrelated {
            Some(chain) => chain.step(),
            None => {
                let wait = self.delays.distribution(retry, None);
                (wait.least(), wait.mean(), wait.most())
            }
        };
        let total = self.total.saturating_add(mean);
        if (self.limits.latest_begin()).is_some_and(|(limit, _)| self.before.saturating_add(total) >= limit) {
            return Part::End(End::Deadline(self.retries_in_time()));
        }
        self.total = total;
        self.shown += 1;
        self.totals.step(self.delays, retry);
        Part::Row(Row {
            retry: self.shown,
            least,
            mean,
            most,
            total,
            totals: self.totals.range(),
        })
    }

    /// What but the deadline keeps retry `retry` (0 is the first) from being made, or shown.
    fn bound(&self, retry: u64) -> Option<End> {
        match self.limits.attempts {
            Some(attempts) if retry + 1 >= attempts => Some(End::Attempts),
            Some(attempts) if retry >= MOST_ROWS => Some(End::More(attempts - 1 - retry)),
            None if retry >= self.most_rows_of_unlimited() => Some(End::Unlimited),
            _ if self.limits.reaches_stop_at_delay(self.delays, retry) => Some(End::Delay),
            _ => None,
        }
    }

    fn most_rows_of_unlimited(&self) -> u64 {
        match self.limits.latest_begin() {
            Some(_) => MOST_ROWS,
            None => SHOWN_WHEN_UNLIMITED,
        }
    }

    /// The deadline, if many a run does not come as far as this end.
    fn within_deadline(&self, end: End) -> End {
        let retries = self.totals.retries_in_time();
        if self.limits.latest_begin().is_some() && retries[0] < self.shown {
            return End::Deadline(retries);
        }
        end
    }

    /// How many retries runs make before the deadline, which some reach later than after the rows shown.
    fn retries_in_time(&mut self) -> [u64; 2] {
        let furthest = self.shown.saturating_mul(2).saturating_add(100);
        for retry in self.shown..furthest {
            let is_over = matches!(self.bound(retry), Some(End::Attempts | End::Delay));
            if is_over || self.totals.retries_in_time()[1] < retry {
                break;
            }
            self.totals.step(self.delays, retry);
        }
        self.totals.retries_in_time()
    }
}

#[cfg(test)]
mod tests;
