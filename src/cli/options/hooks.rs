//! Options on hooks.

use clap::Args;

use crate::cli::values;

#[derive(Debug, Args)]
#[command(next_help_heading = "Hooks")]
pub(crate) struct Hooks {
    /// Shell command to run before each wait
    ///
    /// Run by /bin/sh, with BACKOFF_EXIT and the other variables under ENVIRONMENT in the manual. Its output goes to
    /// standard error; it has no terminal, and input only with --hook-output. Its failure is reported and changes
    /// nothing.
    #[arg(long, value_name = "SHELL")]
    pub(crate) on_retry: Option<String>,
    /// Shell command that must succeed after each wait
    ///
    /// Run by /bin/sh; its output goes to standard error. If it fails, the run ends with the status of the last attempt.
    #[arg(long, value_name = "SHELL", value_parser = values::predicate)]
    pub(crate) before_retry: Option<String>,
    /// Shell command to run when giving up
    ///
    /// Like --on-retry, but with at least five seconds, as the deadline may have passed.
    #[arg(long, value_name = "SHELL")]
    pub(crate) on_give_up: Option<String>,
    /// Pass the last output of a failed attempt to hooks
    ///
    /// As their standard input: the last 64KiB, from the beginning of a line.
    #[arg(long)]
    pub(crate) hook_output: bool,
}
