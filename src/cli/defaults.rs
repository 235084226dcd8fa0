//! What holds where nobody says otherwise. Plans are made of these values, and help shows them.
//!
//! They lie inside what operators of large services advise: base 100 to 500 ms, cap 10 to 60 s, about five attempts.

use std::time::Duration;

use super::words::{GrowthKind, JitterKind, NestedMode, StoreDown};
use crate::policy::session::Until;
use crate::policy::signal::Signal;
use crate::run::output::{Format, When};
use crate::run::streams::{InputMode, OutputMode};

/// Without a deadline, which bounds a run by itself.
pub(crate) const ATTEMPTS: u64 = 5;
pub(crate) const SIGNAL: Signal = Signal::TERM;
pub(crate) const KILL_AFTER: Duration = Duration::from_secs(5);

pub(crate) const GROWTH: GrowthKind = GrowthKind::Exponential;
pub(crate) const JITTER: JitterKind = JitterKind::Decorrelated;
/// With `--growth` or `--delays`.
pub(crate) const JITTER_OF_GROWTH: JitterKind = JitterKind::Full;
pub(crate) const BASE: Duration = Duration::from_millis(500);
pub(crate) const FACTOR: f64 = 2.0;
pub(crate) const FACTOR_OF_DECORRELATED: f64 = 3.0;
pub(crate) const MAX_DELAY: Duration = Duration::from_secs(30);
/// Of additive jitter.
pub(crate) const SPREAD: Duration = Duration::from_secs(1);
/// Of proportional jitter.
pub(crate) const SPREAD_FRACTION: f64 = 0.25;
pub(crate) const SLOT_CEILING: u32 = 10;
pub(crate) const INITIAL_DELAY: Duration = Duration::ZERO;
pub(crate) const SPLAY: Duration = Duration::ZERO;

pub(crate) const UNTIL: Until = Until::Success;
pub(crate) const SUCCESS_EXIT: u8 = 0;
pub(crate) const CONSECUTIVE: u64 = 1;
/// Standard output and standard error.
pub(crate) const MATCH_ON: [bool; 2] = [true, true];
pub(crate) const MAX_RETRY_AFTER: Duration = Duration::from_secs(5 * 60);

pub(crate) const STDIN: InputMode = InputMode::Auto;
/// Of `--stdout` and `--stderr`.
pub(crate) const OUTPUT: OutputMode = OutputMode::Stream;
/// In bytes.
pub(crate) const STDIN_LIMIT: u64 = 1 << 30;

pub(crate) const BUDGET_RATIO: f64 = 0.1;
pub(crate) const BUDGET_MIN: u64 = 10;
pub(crate) const BUDGET_WINDOW: Duration = Duration::from_secs(10 * 60);
pub(crate) const STORE_DOWN: StoreDown = StoreDown::Local;
pub(crate) const NESTED: NestedMode = NestedMode::Warn;

/// EX_TEMPFAIL of sysexits.h: try later.
pub(crate) const SKIPPED_EXIT: u8 = 75;
pub(crate) const LOG_FORMAT: Format = Format::Text;
pub(crate) const COLOR: When = When::Auto;
pub(crate) const PROGRESS: When = When::Auto;
