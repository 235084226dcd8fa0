//! The options: a field for each, in the order and under the headings of `--help`. The parser, help, man page,
//! completions, `BACKOFF_*` variables and keys of the config file all come from here. A doc comment is the help text.
//! Its first line is shown by `-h` and `--help`, the rest by `--help NAME` and in the man page.

mod budgets;
mod hooks;
mod other;
mod output;
mod rules;
mod streams;
mod time;
mod waits;

use std::ffi::OsString;

use clap::Parser;

pub(crate) use self::budgets::{Budgets, StoreDown};
pub(crate) use self::hooks::Hooks;
pub(crate) use self::other::{Document, Other};
pub(crate) use self::output::Output;
pub(crate) use self::rules::{MatchOn, Rules, YesNo};
pub(crate) use self::streams::Streams;
pub(crate) use self::time::{Nested, Time};
pub(crate) use self::waits::{GrowthName, Waits};

/// The values of all options. A field that is an `Option` has no default.
#[derive(Debug, Parser)]
#[command(
    name = "backoff",
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) time: Time,
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten)]
    pub(crate) waits: Waits,
    #[command(flatten)]
    pub(crate) streams: Streams,
    #[command(flatten)]
    pub(crate) hooks: Hooks,
    #[command(flatten)]
    pub(crate) budgets: Budgets,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) other: Other,
    // The command and its arguments, perhaps empty. Options end at its first word.
    #[arg(id = "COMMAND", trailing_var_arg = true, hide = true)]
    pub(crate) command: Vec<OsString>,
}
