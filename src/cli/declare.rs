//! Declares the options to clap.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, value_parser};

use super::table::{Kind, OTHER, Opt};

/// The id of `-h`.
pub(super) const SUMMARY_ID: &str = "h";
/// The id of the command and its arguments.
pub(super) const COMMAND: &str = "COMMAND";

impl Opt {
    /// Declares the option to clap. As with getopt, the word after an option that takes a text is its text, `-5`
    /// included.
    pub(super) fn arg(&self) -> Arg {
        let arg = Arg::new(self.long).long(self.long).short(self.short);
        let text = |arg: Arg| arg.value_parser(value_parser!(OsString)).allow_hyphen_values(true);
        match self.kind {
            Kind::Switch => arg.action(ArgAction::SetTrue),
            Kind::Count => arg.action(ArgAction::Count),
            Kind::Topic => text(arg)
                .num_args(0..=1)
                .default_missing_value("")
                .allow_hyphen_values(false),
            // The next word may be the command, so the text needs `=`.
            kind if kind.is_optional() => text(arg)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("on"),
            kind if kind.is_repeatable() => text(arg).action(ArgAction::Append),
            _ => text(arg),
        }
    }

    /// Returns the option's line of help, with notes on its text.
    fn help(&self) -> String {
        let repeatable = if self.kind.is_repeatable() { " [repeatable]" } else { "" };
        let default = self.default().map(|default| format!(" [default: {default}]"));
        format!("{}{repeatable}{}", self.about, default.unwrap_or_default())
    }
}

/// Returns the parser with these options declared.
pub(super) fn parser(options: impl IntoIterator<Item = Arg>) -> Command {
    Command::new("backoff")
        .no_binary_name(true)
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(options)
        .arg(Arg::new(SUMMARY_ID).short('h').action(ArgAction::SetTrue))
        .arg(
            Arg::new(COMMAND)
                .value_parser(value_parser!(OsString))
                .num_args(1..)
                .trailing_var_arg(true)
                .hide(true),
        )
}

/// Returns the parser with all details for help, man page and completions.
pub(super) fn described<'o>(options: impl Iterator<Item = &'o Opt>) -> Command {
    parser(options.map(|opt| {
        let details = [opt.help(), opt.more.to_owned()].join(". ");
        opt.arg()
            .help(opt.help())
            .long_help(details.trim_end_matches(". ").to_owned())
            .help_heading(opt.heading)
            .value_name(opt.kind.placeholder())
    }))
    .mut_arg(SUMMARY_ID, |arg| arg.help("Print a summary").help_heading(OTHER))
}
