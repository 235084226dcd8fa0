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
    /// The first one counts, so -n 4 allows three retries. Unlimited with --deadline, --stop-after or --until never.
    #[arg(short = 'n', long, value_name = "N|unlimited", default_value = "5", value_parser = values::attempts)]
    pub(crate) attempts: values::Attempts,
    /// Time limit for the run, instead of 5 attempts
    ///
    /// Waits count, including those before the first attempt, and so does time spent stopped (Ctrl-Z). If the next
    /// wait would end after the deadline, the run ends immediately with the status of the last attempt. An attempt
    /// that is still running at the deadline is ended as with --timeout, and the status is 124. --exhausted-exit 124
    /// gives 124 in both cases. A command that ignores SIGTERM keeps running for up to --kill-after. --deadline
    /// replaces a limit on attempts that has lower precedence: from a variable, a policy, the config file, or the
    /// default. To limit attempts as well, give -n. 0 disables.
    #[arg(short, long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) deadline: Option<Duration>,
    /// Start no new attempt after this time
    ///
    /// A running attempt may finish, and attempts are unlimited unless -n is given. If the next wait would end later,
    /// the run ends immediately. Time spent stopped (Ctrl-Z) counts. 0 disables.
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) stop_after: Option<Duration>,
    /// Time limit for each attempt
    ///
    /// Sends --signal to the attempt's whole process tree, and SIGKILL after --kill-after. A list sets a limit for
    /// each attempt: 30s,1m,2m allows 30s, then 1m, then 2m for all later ones. Timeouts are retried unless
    /// --stop-exit timeout is given. 0 disables.
    #[arg(short, long, value_name = "DURATION,...", value_parser = values::durations)]
    pub(crate) timeout: Option<values::Durations>,
    /// Limit on time without output
    ///
    /// Like --timeout, but for an attempt that prints nothing for this long. Many programs buffer their output when it
    /// goes to a pipe. --pty avoids that, or PYTHONUNBUFFERED=1 for Python. 0 disables.
    #[arg(short, long, value_name = "DURATION", value_parser = values::duration)]
    pub(crate) idle_timeout: Option<Duration>,
    /// Signal to send on timeout
    #[arg(short, long, value_name = "SIGNAL", default_value = "TERM", value_parser = values::signal)]
    pub(crate) signal: Signal,
    /// Send SIGKILL this long after --signal
    ///
    /// 0 disables. If this option is given explicitly, SIGKILL also follows a SIGTERM, SIGINT, SIGHUP or SIGQUIT that
    /// is passed on to the attempt, including Ctrl-C.
    #[arg(short, long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub(crate) kill_after: Duration,
    /// What to do when run by another backoff
    ///
    /// Nested retries multiply: 3 x 3 = 9 calls. warn: retry, and print the number of calls. allow: retry silently.
    /// once: run COMMAND once, and leave retries to the outer run. Nesting is detected through BACKOFF_DEPTH, which
    /// env -i, sudo and ssh remove.
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
