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
    /// Base delay; waits grow from it
    ///
    /// With decorrelated jitter (the default), the first wait is one to three times the base. With slotted jitter, the
    /// base is the slot. The default is 0 with --until failure. A shorter --max-delay of higher precedence overrides
    /// the base.
    #[arg(short, long, value_name = "DURATION", default_value = "500ms", value_parser = values::duration)]
    pub(crate) base: Duration,
    /// Growth factor, at least 1
    ///
    /// The default is 2 with any jitter except decorrelated.
    #[arg(short, long, value_name = "NUMBER", default_value = "3", value_parser = values::factor)]
    pub(crate) factor: f64,
    /// Maximum wait, including jitter
    ///
    /// A longer --base, --delays or --stop-at-delay raises the default. --retry-after may ask for longer waits.
    /// Slotted jitter has no maximum by default.
    #[arg(short, long, value_name = "DURATION", default_value = "30s", value_parser = values::longest)]
    pub(crate) max_delay: Duration,
    /// How waits grow, before jitter
    ///
    /// The default is constant with --until failure. Decorrelated and slotted jitter have their own growth. See WAITS
    /// AND JITTER in the manual.
    #[arg(short, long, default_value = "exponential")]
    pub(crate) growth: GrowthName,
    /// Explicit list of waits; the last one repeats
    ///
    /// There is no jitter unless --jitter is given with the same or a higher precedence.
    #[arg(long, value_name = "DURATION,...", value_parser = values::durations)]
    pub(crate) delays: Option<values::Durations>,
    /// How waits are randomized
    ///
    /// The default is full with --growth, and none with --delays or --until failure. additive:WIDTH sets the largest
    /// random part (default 1s), proportional:PERCENT the share (25%), slotted:CEILING the largest exponent (10). See
    /// WAITS AND JITTER in the manual.
    #[arg(short, long, value_name = "none|full|equal|decorrelated|additive|proportional|slotted", default_value = "decorrelated", value_parser = values::jitter)]
    pub(crate) jitter: Jitter,
    /// Give up once the next wait would reach this
    ///
    /// The limit applies to the wait before jitter is added. With decorrelated jitter it is base * factor^i, with
    /// slotted jitter the longest possible wait.
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) stop_at_delay: Option<Duration>,
    /// Wait before the first attempt
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = values::duration)]
    pub(crate) initial_delay: Duration,
    /// Maximum random wait before the first attempt
    ///
    /// Added to --initial-delay. Keeps cron jobs on many machines from starting together.
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = values::duration)]
    pub(crate) splay: Duration,
    /// Reset waits and attempts after an attempt that ran this long
    ///
    /// For long-running commands: an attempt that ran this long counts as the first. With --until never, every success
    /// resets the waits.
    #[arg(long, value_name = "DURATION", value_parser = values::period)]
    pub(crate) reset_after: Option<Duration>,
    /// Honor Retry-After in the output, up to MAX
    ///
    /// If the output asks for a wait (Retry-After: 30, "try again in 5s"), wait at least that long, plus a random part
    /// unless --jitter none is also on the command line. If it asks for more than MAX (5m unless given), the run ends.
    #[arg(long, value_name = "MAX", num_args = 0..=1, require_equals = true, default_value = "off", default_missing_value = "on", value_parser = values::retry_after)]
    pub(crate) retry_after: values::LongestAsked,
    /// Seed for reproducible waits (same build only)
    #[arg(long, value_name = "N", value_parser = values::number)]
    pub(crate) seed: Option<u64>,
    /// Named set of options; explicit options override it
    ///
    /// wait, cron or a policy from the config file. --list-policies shows what each one sets. wait tries every second
    /// for a minute and prints only the last attempt's standard error, if the run fails. Add --stdout final for its
    /// standard output. cron prints everything if the run fails and nothing if it succeeds, and starts at a random
    /// moment within 30s (--splay).
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
