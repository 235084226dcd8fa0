//! Options on budgets, which runs share.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::budget::store::Store;
use crate::cli::values;

#[derive(Debug, Args)]
#[command(next_help_heading = "Budgets")]
pub(crate) struct Budgets {
    /// Limit the share of retries of all runs with this NAME
    ///
    /// A retry is allowed while there are fewer than --budget-min recent attempts, or retries / attempts is below
    /// --budget-ratio; else the failure is final. Take the name of the service that is called.
    #[arg(long, value_name = "NAME", value_parser = values::budget_name)]
    pub(crate) budget: Option<String>,
    /// Maximum share of retries among attempts
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = values::percent)]
    pub(crate) budget_ratio: f64,
    /// Attempts below which every retry is allowed
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::number)]
    pub(crate) budget_min: u64,
    /// Mean time that an attempt counts
    ///
    /// What was counted fades: after this time 37% of it are left, after three times 5%. Runs of one budget should have
    /// the same.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = values::period)]
    pub(crate) budget_window: Duration,
    /// Directory or Redis address that keeps budgets
    ///
    /// By default $XDG_STATE_HOME/backoff, else ~/.local/state/backoff, if absolute; for a fleet redis://, rediss:// or
    /// redis+unix://. An answer may take 250ms; during a wait, up to 5s. Set an address with a password by
    /// BACKOFF_STORE, as all users can read a command line.
    #[arg(long, value_name = "URL", value_parser = values::store)]
    pub(crate) store: Option<Store>,
    /// Fallback if the store does not answer
    ///
    /// Both print a warning. local: use a budget of the same name in ~/.local/state/backoff or, if that is not available
    /// either, none; deny: make a transient failure final, for containers with a directory each.
    #[arg(long, default_value = "local")]
    pub(crate) store_down: StoreDown,
}

/// The behavior of a run whose store does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreDown {
    Local,
    Deny,
}
