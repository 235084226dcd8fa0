//! Options on budgets, which runs share.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::budget::store::Store;
use crate::cli::values;

#[derive(Debug, Args)]
#[command(next_help_heading = "Budgets")]
pub(crate) struct Budgets {
    /// Share a limit on retries with all runs that use NAME
    ///
    /// A retry is allowed while there have been fewer than --budget-min recent attempts, or while the share of retries
    /// among them is below --budget-ratio. Otherwise a failure is final. Name the budget after the service being
    /// called.
    #[arg(long, value_name = "NAME", value_parser = values::budget_name)]
    pub(crate) budget: Option<String>,
    /// Maximum share of retries among attempts
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = values::percent)]
    pub(crate) budget_ratio: f64,
    /// Attempts below which any retry is allowed
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::number)]
    pub(crate) budget_min: u64,
    /// How long an attempt counts, on average
    ///
    /// Counts fade exponentially: 37% is left after one window, 5% after three. Use the same window in all runs of a
    /// budget.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = values::period)]
    pub(crate) budget_window: Duration,
    /// Where budgets are kept: a directory or a Redis address
    ///
    /// The default is $XDG_STATE_HOME/backoff or ~/.local/state/backoff. For a fleet, use redis://, rediss:// or
    /// redis+unix://. backoff waits 250ms for an answer, or up to 5s during a wait. If the address contains a
    /// password, set it in BACKOFF_STORE, because all users can see a command line.
    #[arg(long, value_name = "URL", value_parser = Store::parse)]
    pub(crate) store: Option<Store>,
    /// What to do if the store does not answer
    ///
    /// local: use a budget of the same name on this machine, or none if that fails as well. deny: do not retry. Both
    /// print a warning. deny is for containers, which would otherwise each have their own budget.
    #[arg(long, default_value = "local")]
    pub(crate) store_down: StoreDown,
}

/// The behavior of a run whose store does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreDown {
    Local,
    Deny,
}
