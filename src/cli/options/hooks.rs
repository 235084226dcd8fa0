//! Options on hooks.

use clap::Args;

use crate::cli::values;

#[derive(Debug, Args)]
#[command(next_help_heading = "Hooks")]
pub(crate) struct Hooks {
    /// Shell command to run before each wait
    ///
    /// Run by /bin/sh with BACKOFF_EXIT and the other variables listed under ENVIRONMENT in the manual. Its output
    /// goes to standard error. It has no terminal, and no input without --hook-output. If it fails, that is reported
    /// but changes nothing.
    #[arg(long, value_name = "SHELL")]
    pub(crate) on_retry: Option<String>,
    /// Shell command that must succeed before each retry
    ///
    /// Run by /bin/sh after the wait. Its output goes to standard error. If it fails, the run ends with the status of
    /// the last attempt.
    #[arg(long, value_name = "SHELL", value_parser = values::predicate)]
    pub(crate) before_retry: Option<String>,
    /// Shell command to run when the run has failed
    ///
    /// Like --on-retry. It gets at least five seconds, even after the deadline. It does not run after Ctrl-C, SIGTERM
    /// or another signal.
    #[arg(long, value_name = "SHELL")]
    pub(crate) on_give_up: Option<String>,
    /// Give hooks the last output of the failed attempt
    ///
    /// On standard input: the last 64 KiB, starting at the beginning of a line.
    #[arg(long)]
    pub(crate) hook_output: bool,
}
