//! Options on messages, files and exit statuses.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::cli::values;
use crate::run::plan::{Format, When};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output and exit status")]
pub(crate) struct Output {
    /// Print only the final message of a failed run
    ///
    /// Warnings are still printed. -qq prints only warnings and backoff's own errors, for example in: if backoff -qq
    /// ...
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) quiet: u8,
    /// Print more; -vv: all settings and rules
    ///
    /// -v also prints starts and successes. -vv also prints every setting and rule with its origin, and COMMAND's
    /// arguments.
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Format of messages
    ///
    /// json: one object per line. github: annotations for GitHub Actions.
    #[arg(long, default_value = "text")]
    pub(crate) log_format: Format,
    /// Append messages to this file, not to standard error
    ///
    /// The path - is standard output. A new file is private (0600). Each line is a single write, so runs can share a
    /// file. The file stays open, so use copytruncate with logrotate. -q does not apply.
    #[arg(long, value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,
    /// Name of COMMAND in messages
    ///
    /// One line of at most 64 characters. In JSON it appears alongside the name of the command.
    #[arg(long, value_name = "TEXT", value_parser = values::label)]
    pub(crate) label: Option<String>,
    /// Write a JSON summary of the run to this file
    ///
    /// The path - is standard output. The file is written as a whole when the run ends, even if the run was
    /// interrupted.
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
    /// When to use color
    ///
    /// auto: on a terminal, unless TERM is dumb. NO_COLOR turns color off, CLICOLOR_FORCE turns it on. NO_COLOR wins.
    #[arg(long, default_value = "auto")]
    pub(crate) color: When,
    /// When to show a countdown during waits
    ///
    /// auto: on a terminal, for waits of a second or more. always: even if TERM is dumb.
    #[arg(long, default_value = "auto")]
    pub(crate) progress: When,
    /// Exit status if retries run out
    ///
    /// The default is the status of COMMAND. Applies if a limit or a budget ended the run, not after a permanent
    /// failure. 75 tells a scheduler to try later. 0 is accepted on the command line only.
    #[arg(long, value_name = "CODE", value_parser = values::code)]
    pub(crate) exhausted_exit: Option<u8>,
    /// Exit status if the run succeeded only after a retry
    ///
    /// The default is 0.
    #[arg(long, value_name = "CODE", value_parser = values::code)]
    pub(crate) flaky_exit: Option<u8>,
}
