//! Options on success and on what is retried.

use clap::{Args, ValueEnum};

use crate::cli::values::{self, SuccessCodes};
use crate::policy::limits::Until;
use crate::policy::sets::CodeSet;
use crate::presets::names::PresetName;
use crate::search::pattern::Pattern;

#[derive(Debug, Args)]
#[command(next_help_heading = "Success and retry rules")]
pub(crate) struct Rules {
    /// What ends the run
    ///
    /// success: the first success. failure: the first failure; the run then exits with 0. There are no waits unless
    /// --base, --every or --delays is given. failure is accepted only on the command line. never: only a signal or a
    /// limit. See LOOPS in the manual.
    #[arg(long, default_value = "success")]
    pub(crate) until: Until,
    /// Exit codes that count as success
    ///
    /// Repeatable. CODES is a list such as 0,24 or 0,100-110. With 0,24, exit code 24 is a success and the run exits
    /// with 24. With 0,24=0 it exits with 0. A list without 0 makes 0 a failure.
    #[arg(long, value_name = "CODES", default_value = "0", value_parser = values::success_codes)]
    pub(crate) success_exit: Vec<SuccessCodes>,
    /// Succeed only if a line matches (case-sensitive)
    ///
    /// Repeatable; one match is enough. REGEX is searched for in each line of output, after colors and other escape
    /// sequences are removed. (?i) at its start ignores case.
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) success_match: Vec<Pattern>,
    /// Fail if a line matches, even with status 0
    ///
    /// Repeatable. Case-sensitive; (?i) ignores case.
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) fail_match: Vec<Pattern>,
    /// Number of consecutive successes required
    ///
    /// The wait between them is --base.
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::at_least_one)]
    pub(crate) consecutive: u64,
    /// Retry only these exit codes, and timeouts
    ///
    /// Repeatable. Other exit codes are permanent failures. With -r, --retry-if or --for, one matching rule is enough.
    /// CODES may include signals (SIGKILL or 137; 129-192 is any signal) and timeout. Timeouts are always retried
    /// unless --stop-exit lists them. If CODES lists 126 or 127, a command that cannot be run or found is retried.
    #[arg(short = 'e', long, value_name = "CODES")]
    pub(crate) retry_exit: Vec<CodeSet>,
    /// Never retry these exit codes; overrides retry rules
    ///
    /// Repeatable.
    #[arg(long, value_name = "CODES")]
    pub(crate) stop_exit: Vec<CodeSet>,
    /// Retry only if a line matches (case-sensitive)
    ///
    /// Repeatable. With -e, --retry-if or --for, one matching rule is enough. REGEX is searched for in each line of
    /// output, after colors and other escape sequences are removed. (?i) at its start ignores case.
    #[arg(short, long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) retry_match: Vec<Pattern>,
    /// Never retry if a line matches (case-sensitive)
    ///
    /// Repeatable. (?i) at the start of REGEX ignores case.
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) stop_match: Vec<Pattern>,
    /// Shell command that decides whether to retry
    ///
    /// Runs after a failure that no other rule decides, except a timeout or SIGPIPE. It reads the attempt's output
    /// from standard input. Status 0 means retry, 1 means stop. Any other status is an error and ends the run. The
    /// deadline applies.
    #[arg(long, value_name = "SHELL", value_parser = values::predicate)]
    pub(crate) retry_if: Option<String>,
    /// Shell command that decides whether an attempt succeeded
    ///
    /// Runs like --retry-if, after an attempt that would otherwise be a success. Status 0 confirms it. 1 makes it a
    /// failure, which is retried unless a stop rule or --retry-if says otherwise. Any other status is an error and
    /// ends the run.
    #[arg(long, value_name = "SHELL", value_parser = values::predicate)]
    pub(crate) success_if: Option<String>,
    /// Use built-in rules for a tool; auto: by COMMAND
    ///
    /// --list-presets lists all presets. A preset reads the last MiB of standard output and standard error after a
    /// failed attempt. Your own rules take precedence: --stop-exit and --stop-match override everything, and -r
    /// overrides the preset's stop rules. -e and --retry-if only add failures to retry. auto picks the preset by the
    /// name of COMMAND, even if it is run through sudo, env, timeout or a simple sh -c script. If there is no preset,
    /// a message says so, and any failure is retried.
    #[arg(id = "for", long = "for", value_name = "PRESET,...", value_parser = PresetName::of_list)]
    pub(crate) presets: Option<values::Presets>,
    /// Output streams that rules read
    ///
    /// Applies to patterns, --retry-if, --success-if, --retry-after and --hook-output.
    #[arg(long, default_value = "both")]
    pub(crate) match_on: MatchOn,
    /// Whether COMMAND is safe to run twice
    ///
    /// no: retry only failures that cannot have had any effect, according to a preset, a retry rule or --retry-if.
    /// With --for, a curl or wget command that may send data counts as not idempotent. See IDEMPOTENCY in the manual.
    #[arg(long, default_value = "yes")]
    pub(crate) idempotent: YesNo,
}

/// The streams that rules and predicates examine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatchOn {
    Stdout,
    Stderr,
    Both,
}

/// A word for on or off, in a file also `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    #[value(alias = "true")]
    Yes,
    #[value(alias = "false")]
    No,
}
