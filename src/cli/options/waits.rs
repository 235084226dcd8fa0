//! Options on waits.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::values;
use crate::policy::delay::Jitter;

#[derive(Debug, Args)]
#[command(next_help_heading = "Waits")]
pub(crate) struct Waits {
    /// Fixed wait between attempts
    ///
    /// Short for -b DURATION -g constant -j none.
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) every: Option<Duration>,
    /// Base delay: waits grow from it
    ///
    /// 0 with --until failure. With decorrelated jitter, the default, the first wait is one to three times as long. With
    /// slotted jitter, this is the slot time. A shorter --max-delay of higher precedence overrides it.
    #[arg(short, long, value_name = "DURATION", default_value = "500ms", value_parser = values::duration)]
    pub(crate) base: Duration,
    /// Growth factor per retry, at least 1
    ///
    /// 2 with other jitter than decorrelated.
    #[arg(short, long, value_name = "NUMBER", default_value = "3", value_parser = values::factor)]
    pub(crate) factor: f64,
    /// Maximum wait, jitter included
    ///
    /// Raised by a longer --base, --delays or --stop-at-delay. --retry-after may ask for longer waits. Unless given,
    /// slotted jitter has no maximum (unlimited).
    #[arg(short, long, value_name = "DURATION", default_value = "30s", value_parser = values::longest)]
    pub(crate) max_delay: Duration,
    /// Growth of the wait before jitter
    ///
    /// Constant with --until failure. See WAITS AND JITTER in the manual. Decorrelated and slotted jitter have their own
    /// growth.
    #[arg(short, long, default_value = "exponential")]
    pub(crate) growth: GrowthName,
    /// List of waits instead of growth; the last one repeats
    ///
    /// Without jitter, unless --jitter has the same precedence or a higher one.
    #[arg(long, value_name = "DURATION,...", value_parser = values::durations)]
    pub(crate) delays: Option<values::Durations>,
    /// Jitter strategy
    ///
    /// full with --growth, none with --delays or --until failure. additive:WIDTH sets the longest random part, by
    /// default 1s; proportional:PERCENT the share, by default 25%; slotted:CEILING the ceiling of the exponent, by
    /// default 10. See WAITS AND JITTER in the manual.
    #[arg(short, long, value_name = "none|full|equal|decorrelated|additive|proportional|slotted", default_value = "decorrelated", value_parser = values::jitter)]
    pub(crate) jitter: Jitter,
    /// Give up once the wait before jitter would reach this
    ///
    /// For decorrelated jitter, this wait is base * factor^i; for slotted jitter, the longest possible one.
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) stop_at_delay: Option<Duration>,
    /// Wait before the first attempt
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = values::duration)]
    pub(crate) initial_delay: Duration,
    /// Maximum random wait before the first attempt
    ///
    /// Comes on top of --initial-delay. Keeps the cron jobs of many machines from starting in the same second.
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = values::duration)]
    pub(crate) splay: Duration,
    /// Reset waits and attempts if an attempt ran this long
    ///
    /// For long-running commands that backoff supervises: such an attempt counts as the first. With --until never, every
    /// success resets the waits, however short it was.
    #[arg(long, value_name = "DURATION", value_parser = values::period)]
    pub(crate) reset_after: Option<Duration>,
    /// Honor Retry-After in the output, up to MAX
    ///
    /// MAX is 5m unless given. If the output names a wait (Retry-After: 30, try again in 5s), wait at least that long,
    /// plus a random part unless --jitter none is also on the command line. If the output names a longer one than MAX,
    /// the run ends.
    #[arg(long, value_name = "MAX", num_args = 0..=1, require_equals = true, default_value = "off", default_missing_value = "on", value_parser = values::retry_after)]
    pub(crate) retry_after: values::LongestAsked,
    /// Seed for reproducible waits (with the same build)
    #[arg(long, value_name = "N", value_parser = values::number)]
    pub(crate) seed: Option<u64>,
    /// Named set of options; explicit options override it
    ///
    /// wait, cron, or one of the configuration file. --list-policies shows their settings. wait runs COMMAND every
    /// second for a minute, and prints only its last standard error, at the end; what a probe prints on standard output
    /// needs --stdout final. cron holds output back and waits up to 30s first (--splay).
    #[arg(short, long, value_name = "NAME")]
    pub(crate) policy: Option<OsString>,
}

/// A growth of the wait, without its factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrowthName {
    Exponential,
    Linear,
    Fibonacci,
    Constant,
}
