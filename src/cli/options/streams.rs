//! Options on the standard streams of the command.

use clap::Args;

use crate::cli::values;
use crate::cli::words::ErrorMode;
use crate::run::streams::{InputMode, OutputMode};

#[derive(Debug, Args)]
#[command(next_help_heading = "Streams")]
pub(crate) struct Streams {
    /// How to provide standard input
    ///
    /// auto: a file is rewound; a pipe or Unix socket is replayed, and only what COMMAND reads is taken from it; all
    /// else is inherited. replay: read it to the end, then feed it to each attempt. null: provide none.
    #[arg(long, default_value = "auto")]
    pub(crate) stdin: InputMode,
    /// Maximum amount of input kept for replay
    ///
    /// Past it the input still flows, but a failure is then final. It is kept in a file without a name in TMPDIR, not in
    /// memory.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = values::size)]
    pub(crate) stdin_limit: u64,
    /// How to handle standard output
    ///
    /// stream: print as it comes. final: print that of the last attempt; success: only if it succeeds. failure: print
    /// that of all attempts, in order, if the run fails: for cron. null: drop.
    #[arg(long, default_value = "stream")]
    pub(crate) stdout: OutputMode,
    /// How to handle standard error
    ///
    /// As --stdout. failure also holds back messages of backoff and the standard error of predicates and hooks, so that
    /// a run that succeeds prints nothing. If --stdout is kept as well, all of standard output comes first.
    #[arg(long, default_value = "stream")]
    pub(crate) stderr: ErrorMode,
    /// Give COMMAND a terminal for its output, to keep colors
    ///
    /// An output that backoff reads, or that is no terminal, becomes a pseudo-terminal; one for both if nothing needs
    /// them apart. Input and keys are as without it. A pager needs --match-on stdout, too, as it takes its keys from
    /// standard error.
    #[arg(long)]
    pub(crate) pty: bool,
}
