//! Options on the standard streams of the command.

use clap::Args;

use crate::cli::values;
use crate::cli::words::error_mode;
use crate::run::streams::{InputMode, OutputMode};

#[derive(Debug, Args)]
#[command(next_help_heading = "Streams")]
pub(crate) struct Streams {
    /// How each attempt gets standard input
    ///
    /// auto: rewind a file, replay a pipe or Unix socket, and inherit anything else. Only what COMMAND reads is taken
    /// from a pipe. replay: read all input first, and give it to each attempt. null: no input.
    #[arg(long, default_value = "auto")]
    pub(crate) stdin: InputMode,
    /// Maximum amount of input to keep for replay
    ///
    /// Input beyond that still reaches COMMAND, but a failure is then final. The input is kept in an unnamed file in
    /// TMPDIR.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = values::size)]
    pub(crate) stdin_limit: u64,
    /// What to do with standard output
    ///
    /// stream: print it as it arrives. final: print only the last attempt's. success: print only a successful
    /// attempt's. failure: print the output of all attempts if the run fails, for cron. null: discard it.
    #[arg(long, default_value = "stream")]
    pub(crate) stdout: OutputMode,
    /// What to do with standard error
    ///
    /// Like --stdout. failure also holds back backoff's messages and the standard error of hooks, --retry-if and
    /// --success-if, so that a successful run prints nothing. If standard output is held back as well, it is printed
    /// first.
    #[arg(long, default_value = "stream", value_parser = error_mode())]
    pub(crate) stderr: OutputMode,
    /// Give COMMAND a terminal for output, to keep colors
    ///
    /// Replaces each output stream that backoff reads, or that is not a terminal, with a pseudo-terminal. Input and
    /// key presses are unaffected. A pager also needs --match-on stdout, as it reads keys from standard error.
    #[arg(long)]
    pub(crate) pty: bool,
}
