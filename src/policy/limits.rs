//! Limits on a run: the values of the options that end it, and the reasons to give up. The session applies them.

use std::time::Duration;

use crate::policy::delay::Delays;

/// The goal of a run, which decides whether another attempt follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Retries transient failures.
    Success,
    /// Repeats successes. Any failure is the goal.
    Failure,
    /// Always repeats, until a limit or a signal ends the run.
    Never,
}

/// The options that end a run or restart its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub until: Until,
    /// Limit on attempts, including the first, at least 1. None is unlimited.
    pub attempts: Option<u64>,
    /// Limit on the whole run, which ends a running attempt.
    pub deadline: Option<Duration>,
    /// Limit on when an attempt may begin. A running attempt may finish.
    pub stop_after: Option<Duration>,
    /// The run gives up once the next un-jittered wait would reach this length.
    pub stop_at_delay: Option<Duration>,
    /// An attempt that ran this long resets growth and count if another follows. It may be a failure or, with `--until
    /// never`, also a success.
    pub reset_after: Option<Duration>,
    /// Successes in a row that the run needs, at least 1.
    pub consecutive: u64,
    /// Longest wait that the output may ask for, None without `--retry-after`.
    pub max_retry_after: Option<Duration>,
    /// A wait that the output asked for gets no random part.
    pub asked_is_exact: bool,
    /// The command may take effect twice (`--idempotent`).
    pub idempotent: bool,
    /// `--nested once` under an outer run: only the outer run retries.
    pub leave_to_outer: bool,
}

/// Reason to end a run that has not reached its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUp {
    /// The failure is permanent, or `--before-retry` failed. With `--until failure`, also a success whose output lost
    /// its reader.
    Permanent,
    /// `--attempts` are exhausted.
    Attempts,
    /// `--deadline` has passed, or would pass before the next attempt.
    Deadline,
    /// `--stop-after` has passed, or would pass before the next attempt.
    StopAfter,
    /// The next wait would reach `--stop-at-delay`.
    Delay,
    /// The output asked for a longer wait than `--retry-after` allows.
    RetryAfterTooLong,
    /// The shared budget is exhausted.
    Budget {
        /// Retries per thousand recent attempts of all its runs.
        retries_per_mille: u32,
    },
    /// The budget's store did not answer, with `--store-down deny`.
    StoreDown,
    /// The command may have taken effect, and must not run twice (`--idempotent no`).
    NotIdempotent,
    /// `--nested once`, and an outer run retries.
    Nested,
    /// The command read standard input that cannot be replayed: too much, or not kept due to an error.
    Stdin,
}

impl Limits {
    /// Retries every transient failure, for as long as it takes.
    #[cfg(test)]
    pub const UNLIMITED: Limits = Limits {
        until: Until::Success,
        attempts: None,
        deadline: None,
        stop_after: None,
        stop_at_delay: None,
        reset_after: None,
        consecutive: 1,
        max_retry_after: None,
        asked_is_exact: false,
        idempotent: true,
        leave_to_outer: false,
    };

    /// Returns the time since the run began from which no attempt may begin, and why: the earlier of `--deadline` and
    /// `--stop-after`. The deadline if they are equal, None if neither is set.
    pub fn latest_begin(&self) -> Option<(Duration, GiveUp)> {
        let deadline = self.deadline.map(|limit| (limit, GiveUp::Deadline));
        let stop_after = self.stop_after.map(|limit| (limit, GiveUp::StopAfter));
        let limits = deadline.into_iter().chain(stop_after);
        limits.min_by_key(|(limit, _)| *limit)
    }

    /// Returns true if the un-jittered wait before this retry (0 is the first since the growth restarted) reaches
    /// `--stop-at-delay`. Jitter is ignored, so that chance does not change the number of attempts.
    pub fn reaches_stop_at_delay(&self, delays: &Delays, retry: u64) -> bool {
        self.stop_at_delay
            .is_some_and(|stop| delays.unjittered(retry) >= stop)
    }
}
