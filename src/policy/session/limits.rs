//! What bounds a run.

use std::time::Duration;

use crate::policy::delay::Delays;

/// What a run goes on until: it decides which ends of an attempt are followed by another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Until {
    /// Transient failures are.
    #[default]
    Success,
    /// Successes are; a failure of any kind is what the run is for.
    Failure,
    /// All are, until a bound or a signal ends the run.
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub until: Until,
    /// Attempts in all, the first included, at least 1; None is unlimited.
    pub attempts: Option<u64>,
    /// Limit on the whole run: an attempt that still runs then is ended.
    pub deadline: Option<Duration>,
    /// No attempt begins once this has passed; one that runs may finish.
    pub stop_after: Option<Duration>,
    /// Give up once the next un-jittered wait would reach this.
    pub stop_at_delay: Option<Duration>,
    /// An attempt that ran this long, and is followed by another, starts growth and count again.
    pub reset_after: Option<Duration>,
    /// How many successes in a row a success takes, at least 1.
    pub consecutive: u64,
    /// `--retry-after`: the longest wait that the output may ask for; None without it.
    pub max_retry_after: Option<Duration>,
    /// Such a wait gets no random part.
    pub asked_is_exact: bool,
    /// The command may be carried out twice (`--idempotent`).
    pub idempotent: bool,
    /// `--nested once` under an outer run: leave retrying to that one.
    pub leave_to_outer: bool,
}

impl Limits {
    /// Whether the un-jittered wait before this retry (0 is the first) reaches `--stop-at-delay`.
    pub fn reaches_stop_at_delay(&self, delays: &Delays, retry: u64) -> bool {
        self.stop_at_delay.is_some_and(|stop| delays.unjittered(retry) >= stop)
    }
}
