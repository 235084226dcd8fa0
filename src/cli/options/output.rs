//! Options on messages, files and exit statuses.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::cli::values;
use crate::cli::words::Countdown;
use crate::run::plan::{Format, When};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output and exit status")]
pub(crate) struct Output {
    /// Print only the last line of a failed run
    ///
    /// And warnings. Twice: only warnings and backoff's own errors, for conditions (if backoff -qq ...).
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) quiet: u8,
    /// Print more; twice: all settings and rules
    ///
    /// Once: also starts and successes. Twice: also each setting and rule with its origin, and
    /// the arguments of COMMAND.
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Format of messages
    ///
    /// json: one object per line. github: commands of GitHub Actions.
    #[arg(long, default_value = "text")]
    pub(crate) log_format: Format,
    /// Append messages to this file, not standard error
    ///
    /// The path - is standard output. A new file is for its owner only (0600). Each line is one write, so that runs can
    /// share a file, which stays open (logrotate: copytruncate). -q does not apply.
    #[arg(long, value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,
    /// Name of COMMAND in messages
    ///
    /// One line of up to 64 characters. JSON lines and the report have it beside the name.
    #[arg(long, value_name = "TEXT", value_parser = values::label)]
    pub(crate) label: Option<String>,
    /// Write a JSON summary of the run to this file
    ///
    /// The path - is standard output. The file is complete or not written at all, also if the run is interrupted.
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
    /// When to use color
    ///
    /// auto: on a terminal, unless TERM is dumb; with CLICOLOR_FORCE, always; with NO_COLOR, never, even with
    /// CLICOLOR_FORCE.
    #[arg(long, default_value = "auto")]
    pub(crate) color: When,
    /// When to show a countdown during waits
    ///
    /// auto: on a terminal, for waits of a second and more. always: also if TERM is dumb.
    #[arg(long, default_value = "auto")]
    pub(crate) progress: Countdown,
    /// Exit status to return if retries run out
    ///
    /// By default, the command's own. Applies if a limit or a budget ended the run, not to a permanent failure. 75 tells
    /// a scheduler to try later. 0 is accepted on the command line only.
    #[arg(long, value_name = "CODE", value_parser = values::code)]
    pub(crate) exhausted_exit: Option<u8>,
    /// Exit status to return on a late success
    ///
    /// By default 0.
    #[arg(long, value_name = "CODE", value_parser = values::code)]
    pub(crate) flaky_exit: Option<u8>,
}
