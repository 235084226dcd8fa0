//! Options of backoff's own output: amount, format and destination.

use std::path::PathBuf;

#[derive(Debug, Clone)]
pub(crate) struct OutputOptions {
    /// -1 quiet, 0, 1 or 2 (and more) verbose.
    pub(crate) verbosity: i16,
    /// `--log-format`
    pub(crate) format: Format,
    /// `--log-file`; None is standard error.
    pub(crate) log_file: Option<PathBuf>,
    /// `--report`
    pub(crate) report: Option<PathBuf>,
    /// `--label`
    pub(crate) label: Option<String>,
    /// `--color`
    pub(crate) color: When,
    /// `--progress`; None is never.
    pub(crate) progress: Option<Progress>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    /// One JSON object a line.
    Json,
    /// Commands to the runner of GitHub Actions.
    GitHub,
    /// Commands to the runner of GitHub Actions, with a group of the log for each attempt.
    GitHubGroups,
}

/// `--color`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// On a terminal that supports color, unless NO_COLOR is set; always with CLICOLOR_FORCE.
    Auto,
    Always,
    Never,
}

/// `--progress`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Unless the terminal is dumb.
    Auto,
    /// On any terminal.
    Always,
}
