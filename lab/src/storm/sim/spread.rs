//! Mean and standard deviation of durations, in constant memory.

use std::time::Duration;

/// Statistics of durations (Welford's method: one pass, no cancellation).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    count: u64,
    /// In seconds.
    mean: f64,
    /// The sum of (x - mean)^2, in square seconds.
    squares: f64,
}

impl Spread {
    /// Adds a duration.
    pub fn add(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let off = seconds - self.mean;
        self.count += 1;
        self.mean += off / self.count as f64;
        self.squares += off * (seconds - self.mean);
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean; zero if there are no durations.
    pub fn mean(&self) -> Duration {
        seconds(self.mean)
    }

    /// Returns the population standard deviation; zero if there are no durations.
    pub fn deviation(&self) -> Duration {
        seconds((self.squares / self.count.max(1) as f64).sqrt())
    }
}

/// Converts seconds to a duration; saturates.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation() {
        let mut spread = Spread::default();
        assert_eq!(spread.deviation(), Duration::ZERO);
        for seconds in [2, 4, 4, 4, 5, 5, 7, 9] {
            spread.add(Duration::from_secs(seconds));
        }
        assert_eq!(
            (spread.count(), spread.mean(), spread.deviation()),
            (8, Duration::from_secs(5), Duration::from_secs(2))
        );
    }
}
