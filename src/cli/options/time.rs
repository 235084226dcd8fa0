//! Options on attempts and time.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::values;
use crate::policy::signal::Signal;

#[derive(Debug, Args)]
#[command(next_help_heading = "Attempts and time")]
pub(crate) struct Time {
    /// Maximum number of attempts
    ///
    /// The first one counts. Unlimited with --deadline, --stop-after or --until never.
    #[arg(short = 'n', long, value_name = "N|unlimited", default_value = "5", value_parser = values::attempts)]
    pub(crate) attempts: values::Attempts,
    /// Maximum time for the run; lifts -n unless typed
    ///
    /// Removes an attempt limit that is set at a lower level: typed, that of a variable, a policy or the file, and the
    /// default of 5. A wait that would end past the deadline is not started: then the status is that of the last
    /// attempt. Ends a running attempt as --timeout does, with the time of --kill-after on top if it ignores TERM: then
    /// it is 124. --exhausted-exit 124 makes it 124 in both cases. Waits count, those before the first attempt (--splay)
    /// included, as does time while stopped (Ctrl-Z). 0 disables.
    #[arg(short, long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) deadline: Option<Duration>,
    /// Time limit for starting attempts; a running one may finish
    ///
    /// A limit, unlike --stop-exit and --stop-match, which make a failure permanent. A wait that would end past this
    /// time is not started. Time while stopped (Ctrl-Z) counts. 0 disables.
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) stop_after: Option<Duration>,
    /// Maximum time for one attempt
    ///
    /// 30s,1m,2m gives the first attempt 30s, the second 1m, all later ones 2m. The process tree gets --signal, then
    /// SIGKILL after --kill-after. A timeout is transient unless --stop-exit lists it. 0 disables.
    #[arg(short, long, value_name = "DURATION,...", value_parser = values::durations)]
    pub(crate) timeout: Option<values::Durations>,
    /// Maximum time without output
    ///
    /// Ends an attempt that writes nothing for this long, as --timeout does. A program that keeps its output back while
    /// it writes to a pipe counts as silent: add --pty, or PYTHONUNBUFFERED=1. 0 disables.
    #[arg(short, long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) idle_timeout: Option<Duration>,
    /// Signal sent on timeout
    #[arg(short, long, value_name = "SIGNAL", default_value = "TERM", value_parser = values::signal)]
    pub(crate) signal: Signal,
    /// Send SIGKILL this long after the signal
    ///
    /// 0 disables. If given, SIGKILL also follows a SIGTERM, SIGINT, SIGHUP or SIGQUIT that the attempt gets, Ctrl-C
    /// included.
    #[arg(short, long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub(crate) kill_after: Duration,
    /// How to retry under an outer backoff
    ///
    /// Nested retries multiply: 3 x 3 = 9 calls. allow: retry; warn: retry, and print how many calls that allows; once:
    /// run COMMAND once and leave retries to the outer run, which is known by BACKOFF_DEPTH (env -i and ssh remove it).
    #[arg(long, default_value = "warn")]
    pub(crate) nested: Nested,
}

/// The behavior of a run inside another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Nested {
    Allow,
    Once,
    Warn,
}
