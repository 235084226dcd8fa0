//! Options that print something and run nothing, and `--config`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Other")]
pub(crate) struct Other {
    /// Print the waits and run nothing
    ///
    /// One line per retry, for a run in which every attempt fails immediately. See PLAN in the manual.
    #[arg(long)]
    pub(crate) plan: bool,
    /// List the presets of --for, or the rules of each NAME
    ///
    /// NAME is a preset or a program. Rules are printed with exit codes, patterns and sources. --log-format json
    /// prints one object per preset.
    #[arg(long)]
    pub(crate) list_presets: bool,
    /// List policies with their origin and settings
    #[arg(long)]
    pub(crate) list_policies: bool,
    /// Config file, or none
    ///
    /// The default is $XDG_CONFIG_HOME/backoff/config.toml or ~/.config/backoff/config.toml, if it exists. See FILES
    /// in the manual.
    #[arg(long, value_name = "PATH|none")]
    pub(crate) config: Option<PathBuf>,
    /// Print the man page or completions for a shell
    #[arg(long)]
    pub(crate) generate: Option<Document>,
    /// Print all options, a section, one option, or examples
    #[arg(long, value_name = "SECTION|OPTION|examples", num_args = 0..=1, default_missing_value = "", allow_hyphen_values = true)]
    pub(crate) help: Option<String>,
    /// Print a summary
    #[arg(id = "summary", short = 'h')]
    pub(crate) summary: bool,
    /// Print version, C library and features
    #[arg(short = 'V', long)]
    pub(crate) version: bool,
}

/// A document that `--generate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Document {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}
