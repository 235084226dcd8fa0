//! Options on success and on what is retried.

use clap::{Args, ValueEnum};

use crate::cli::values::{self, SuccessCodes};
use crate::policy::session::Until;
use crate::policy::sets::CodeSet;
use crate::presets::names::PresetName;
use crate::search::pattern::Pattern;

#[derive(Debug, Args)]
#[command(next_help_heading = "Success and retry rules")]
pub(crate) struct Rules {
    /// Goal that ends the run
    ///
    /// The goal, not a limit (--deadline, --stop-after) or a rule (--stop-exit). success: after a success. failure: a
    /// failure of any kind ends the run with status 0, without waits unless --base, --every or --delays sets some; it is
    /// accepted on the command line only. never: a signal or a limit ends the run. See LOOPS in the manual.
    #[arg(long, default_value = "success")]
    pub(crate) until: Until,
    /// Exit codes to read as success
    ///
    /// Repeatable. CODES is a list such as 7, 1,2,75, 100-110 or SIGKILL. With CODE=0, as in 0,24=0, the run ends with
    /// status 0; without it a success keeps its code. A list without 0 makes 0 a failure.
    #[arg(long, value_name = "CODES", default_value = "0", value_parser = values::success_codes)]
    pub(crate) success_exit: Vec<SuccessCodes>,
    /// Succeed only if a line of output matches
    ///
    /// Repeatable; one match is enough. REGEX is searched for in each line, without colors and other escape sequences.
    /// Upper and lower case differ, unless it begins with (?i).
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) success_match: Vec<Pattern>,
    /// Fail if a line of output matches, whatever the exit code
    ///
    /// Repeatable. Upper and lower case differ, unless REGEX begins with (?i).
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) fail_match: Vec<Pattern>,
    /// Successful attempts in a row to succeed
    ///
    /// The wait between them is --base.
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::at_least_one)]
    pub(crate) consecutive: u64,
    /// Retry only these exit codes, and timeouts
    ///
    /// Repeatable. Failures with other codes are permanent. If -r, --retry-if or --for is given, too, one that fits is enough. CODES may include signals (SIGKILL
    /// or 137; 129-192 is any) and timeout; timeouts are transient in any case unless --stop-exit lists them. With 126
    /// or 127, a command that cannot be executed or found is a transient failure.
    #[arg(short = 'e', long, value_name = "CODES", value_parser = values::codes)]
    pub(crate) retry_exit: Vec<CodeSet>,
    /// Exit codes to read as permanent; overrides retry rules
    ///
    /// Repeatable. A failure with one of these codes ends the run; --stop-after is a time limit.
    #[arg(long, value_name = "CODES", value_parser = values::codes)]
    pub(crate) stop_exit: Vec<CodeSet>,
    /// Retry only if a line of output matches
    ///
    /// Repeatable. If -e, --retry-if or --for is given, too, one that fits is enough. REGEX is searched for in each
    /// line, without colors and other escape sequences. Upper and lower case differ, unless it begins with (?i).
    #[arg(short, long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) retry_match: Vec<Pattern>,
    /// Permanent if a line of output matches
    ///
    /// Repeatable. Upper and lower case differ, unless REGEX begins with (?i).
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub(crate) stop_match: Vec<Pattern>,
    /// Shell command that decides if a failure is transient
    ///
    /// Run after a failed attempt, except a timeout or SIGPIPE, that no other rule decides, with the attempt's output on
    /// standard input. Exit status 0 means transient, 1 permanent, any other an error and permanent. The deadline limits
    /// it.
    #[arg(long, value_name = "SHELL", value_parser = values::predicate)]
    pub(crate) retry_if: Option<String>,
    /// Shell command that decides if an attempt succeeded
    ///
    /// Like --retry-if, for an attempt that would be a success: 0 confirms it, 1 makes it a failure, transient unless a
    /// stop rule or --retry-if says otherwise. Any other status is an error and a permanent failure.
    #[arg(long, value_name = "SHELL", value_parser = values::predicate)]
    pub(crate) success_if: Option<String>,
    /// Known rules for a tool; auto: for COMMAND
    ///
    /// --list-presets shows all presets. They judge the last MiB of each output, after a failed attempt. Rules of your
    /// own win: --stop-exit and --stop-match over all, -r over what a preset stops. -e and --retry-if only add to what
    /// it retries. auto selects by COMMAND's name, also behind sudo, env, timeout, and sh -c if the script is plain
    /// words.
    #[arg(id = "for", long = "for", value_name = "PRESET,...", value_parser = values::presets)]
    pub(crate) presets: Option<values::Presets>,
    /// Streams that rules and predicates examine
    ///
    /// Applies to regular expressions, --retry-if, --success-if, --retry-after and --hook-output.
    #[arg(long, default_value = "both")]
    pub(crate) match_on: MatchOn,
    /// Declare if COMMAND is safe to run twice
    ///
    /// no: retry only failures that certainly had no effect, as a preset, a matching retry rule or --retry-if says. With
    /// --for, requests of curl or wget that may send data mean no. See IDEMPOTENCE in the manual.
    #[arg(long, default_value = "yes")]
    pub(crate) idempotent: YesNo,
}

impl Rules {
    /// Returns the presets of `--for`, in their order; none without the option.
    pub(crate) fn presets(&self) -> Vec<PresetName> {
        self.presets.clone().unwrap_or_default()
    }
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
