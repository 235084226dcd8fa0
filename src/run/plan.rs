//! The plan of a run: validated, immutable, plain data. A field named like an option holds its value.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use rand::Rng;

use super::streams::StreamOptions;
use crate::policy::budget::BudgetLimits;
use crate::policy::classifier::Classifier;
use crate::policy::delay::{Delays, Growth, Jitter};
use crate::policy::exit::Overrides;
use crate::policy::limits::Limits;
use crate::policy::signal::Signal;

#[derive(Debug)]
pub(crate) struct Plan {
    /// Command and arguments. Empty only if nothing runs.
    pub(crate) command: Vec<OsString>,
    pub(crate) limits: Limits,
    pub(crate) delays: Delays,
    pub(crate) classifier: Classifier,
    pub(crate) streams: StreamOptions,
    pub(crate) retry_if: Option<String>,
    pub(crate) success_if: Option<String>,
    /// Limits on an attempt, except `--timeout`.
    pub(crate) attempt_limits: AttemptLimits,
    /// `--timeout` for each attempt in turn. The last one repeats, and 0 is none. Empty without the option.
    pub(crate) timeouts: Vec<Duration>,
    pub(crate) initial_delay: Duration,
    pub(crate) splay: Duration,
    pub(crate) seed: Option<u64>,
    pub(crate) budget: Option<SharedBudget>,
    /// Why the command is not idempotent, None if it may run twice.
    pub(crate) not_idempotent: Option<NotIdempotent>,
    pub(crate) nesting: Nesting,
    /// `--exhausted-exit`, `--flaky-exit` and `--success-exit CODE=0`
    pub(crate) overrides: Overrides,
    pub(crate) output: OutputOptions,
    pub(crate) on_retry: Option<String>,
    pub(crate) before_retry: Option<String>,
    pub(crate) on_give_up: Option<String>,
    /// By the locale, messages of the command may not be in English, the language that presets expect.
    pub(crate) may_be_translated: bool,
    pub(crate) warnings: Vec<String>,
    /// With `-v`, why the command is not idempotent, if its words show that. With `-vv`, all settings.
    pub(crate) remarks: Vec<String>,
    /// Remarks to print if the first attempt runs and fails.
    pub(crate) remarks_on_failure: Vec<String>,
}

/// Why a command is not idempotent, for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotIdempotent {
    pub(crate) why: String,
    /// True if `--idempotent no` says so, from any source, false if the command's words do.
    pub(crate) is_by_option: bool,
}

impl Plan {
    /// Returns the wait before the first attempt: `--initial-delay` plus a random part up to `--splay`, which spreads
    /// runs that many machines start at once.
    pub(crate) fn initial_wait(&self, rng: &mut dyn Rng) -> Duration {
        let initial = Delays {
            base: self.initial_delay,
            cap: Duration::MAX,
            growth: Growth::Constant,
            jitter: Jitter::Additive { spread: self.splay },
        };
        initial.draw(0, None, rng)
    }

    /// Returns the limits of an attempt, counted from 1 (from 2 again after `--reset-after`). Each has its own
    /// `--timeout` from the list, and the last one repeats. 0 means that the attempt has none.
    pub(crate) fn limits_of_attempt(&self, attempt: u64) -> AttemptLimits {
        let index = usize::try_from(attempt - 1).unwrap_or(usize::MAX);
        let timeout = self.timeouts.get(index).or(self.timeouts.last());
        AttemptLimits {
            timeout: timeout.copied().filter(|limit| !limit.is_zero()),
            ..self.attempt_limits.clone()
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SharedBudget {
    /// Name in messages.
    pub(crate) name: String,
    pub(crate) limits: BudgetLimits,
    /// Name and store of the budget, by which nested runs recognize it: `"api" in /var/lib/budgets`.
    pub(crate) place: String,
    /// The outer run has the same budget, and has counted the first attempt.
    pub(crate) is_inherited: bool,
    /// `--store-down deny`: no retry without an answer.
    pub(crate) denies_if_down: bool,
}

/// The outer runs (backoffs whose commands run this one), as their variables describe them.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// Number of outer runs.
    pub(crate) depth: u64,
    /// This run prints the warning of `--nested warn`.
    pub(crate) warns: bool,
    /// Product of the attempt limits of all outer runs, None if unlimited or unknown.
    pub(crate) outer_attempts: Option<u64>,
    /// [`SharedBudget::place`] of the budget that counted the outer run's attempt, None if none did. The first attempt
    /// of this run is the same call, so that budget must not count it again.
    pub(crate) counted_budget: Option<String>,
    /// `run_id` of the outermost run, None if that is this run or unknown.
    pub(crate) root_id: Option<String>,
}

/// IDs of this run, for the command and the log.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The same for all attempts of a run, so it can be used as an idempotency key.
    pub(crate) run_id: String,
    /// `run_id` of the outermost run.
    pub(crate) root_id: String,
}

#[derive(Debug, Clone)]
pub(crate) struct AttemptLimits {
    /// `--timeout`. Always None in [`Plan::attempt_limits`], because each attempt may have another.
    pub(crate) timeout: Option<Duration>,
    /// `--idle-timeout`, the limit on time without output. None without one, and for predicates and hooks.
    pub(crate) idle: Option<Duration>,
    /// `--signal`: signal sent on timeout.
    pub(crate) signal: Signal,
    /// `--signal`, if given. The command does not ignore it, even if the caller does (`trap '' INT`).
    pub(crate) never_ignored: Option<Signal>,
    /// `--kill-after`: time from the signal to SIGKILL. None is never.
    pub(crate) kill_after: Option<Duration>,
    /// Time from a signal that tells backoff to exit (SIGTERM, SIGINT, SIGHUP, SIGQUIT, or a timer's SIGALRM) to
    /// SIGKILL. None unless `--kill-after` is given.
    pub(crate) kill_interrupted_after: Option<Duration>,
}

/// Options of backoff's own output: amount, format and destination.
#[derive(Debug)]
pub(crate) struct OutputOptions {
    /// -2 and -1 are quiet, 0 is normal, 1 and 2 (and more) are verbose.
    pub(crate) verbosity: i16,
    pub(crate) format: Format,
    /// `--log-file`, None for standard error.
    pub(crate) log_file: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) label: Option<String>,
    /// `--color`. Auto is on a terminal that supports color or with CLICOLOR_FORCE, unless NO_COLOR is set. Never in a
    /// log file.
    pub(crate) color: When,
    /// `--progress`. Auto is on a terminal that is not dumb. Quiet or machine-readable messages have Never.
    pub(crate) progress: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    /// One JSON object per line.
    Json,
    /// GitHub Actions workflow commands.
    GitHub,
}

/// `--color` and `--progress`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// If the terminal supports it.
    Auto,
    Always,
    Never,
}
