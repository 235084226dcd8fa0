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
        let text = |arg: Arg| {
            arg.value_parser(value_parser!(OsString))
                .allow_hyphen_values(true)
        };
        let optional = |arg, missing| text(arg).num_args(0..=1).default_missing_value(missing);
        match self.kind {
            Kind::Switch => arg.action(ArgAction::SetTrue),
            Kind::Count => arg.action(ArgAction::Count),
            Kind::Repeatable(_) => text(arg).action(ArgAction::Append),
            Kind::One(_) | Kind::List(_) | Kind::Word(_) => text(arg),
            // The next word may be the command.
            Kind::Optional(_) => optional(arg, "on").require_equals(true),
            Kind::Topic => optional(arg, ""),
        }
    }
}

/// Returns the parser with these options declared.
pub(super) fn parser(options: impl IntoIterator<Item = Arg>) -> Command {
    let summary = Arg::new(SUMMARY_ID).short('h').action(ArgAction::SetTrue);
    let command = Arg::new(COMMAND).num_args(1..).trailing_var_arg(true);
    Command::new("backoff")
        .no_binary_name(true)
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(options)
        .arg(summary.help("Print a summary").help_heading(OTHER))
        .arg(command.value_parser(value_parser!(OsString)).hide(true))
}

/// Returns the parser with all details for help, man page and completions.
pub(super) fn described<'o>(options: impl Iterator<Item = &'o Opt>) -> Command {
    parser(options.map(|opt| {
        let help = |default: &str| match default {
            "" => opt.about.to_owned(),
            default => format!("{} [default: {default}]", opt.about),
        };
        // Without `more` the separator is cut off below.
        let details = [&help(opt.default), opt.more].join(". ");
        opt.arg()
            .help(help(opt.default_value()))
            .long_help(details.trim_end_matches(". ").to_owned())
            .help_heading(opt.heading)
            .value_name(opt.kind.placeholder())
    }))
}
