//! Declares the options to clap, for parsing and for the texts that are made from the declarations: help, man page,
//! completions.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, value_parser};

use crate::options::opt::{Heading, Kind, Spec};

/// The id of `-h`.
pub(super) const SUMMARY_ID: &str = "h";
/// The id of the command and its arguments.
pub(super) const COMMAND: &str = "COMMAND";

/// Declares an option to clap, without the texts about it, which parsing does not need. As with getopt, the word after
/// an option that takes a text is its text, even if it begins with a dash (`-5`). Texts need not be UTF-8: the options
/// read them later.
pub(super) fn arg(opt: &Spec) -> Arg {
    let arg = Arg::new(opt.long).long(opt.long).short(opt.short);
    match opt.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        Kind::Count => arg.action(ArgAction::Count),
        Kind::Repeatable(_) => with_text(arg).action(ArgAction::Append),
        Kind::One(_) | Kind::List(_) | Kind::Word(_) => with_text(arg),
        // The next word may be the command.
        Kind::Optional { .. } => with_optional_text(arg, "on").require_equals(true),
        Kind::Topic(_) => with_optional_text(arg, ""),
    }
}

fn with_text(arg: Arg) -> Arg {
    arg.value_parser(value_parser!(OsString))
        .allow_hyphen_values(true)
}

/// Declares that the option may have a text; `missing` is its text if it has none.
fn with_optional_text(arg: Arg, missing: &'static str) -> Arg {
    with_text(arg)
        .num_args(0..=1)
        .default_missing_value(missing)
}

/// Returns the parser of a command line with these options, `-h` and the command. Options end at the first word that is
/// none; that one and all after it are the command's, except a `--` in this place, which clap drops. A repeated option
/// overrides itself, unless its texts add up. Help and version are options of backoff's own.
pub(super) fn parser(options: impl IntoIterator<Item = Arg>) -> Command {
    let summary = Arg::new(SUMMARY_ID).short('h').action(ArgAction::SetTrue);
    let command = Arg::new(COMMAND).num_args(1..).trailing_var_arg(true);
    Command::new("backoff")
        .no_binary_name(true)
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(options)
        .arg(
            summary
                .help("Print a summary")
                .help_heading(Heading::Other.title()),
        )
        .arg(command.value_parser(value_parser!(OsString)).hide(true))
}

/// Returns the parser with these options and their texts, for help, man page and error messages. Making the texts costs
/// time, so the usual start does without ([`parser`]).
pub(super) fn described<'o>(options: impl Iterator<Item = &'o Spec>) -> Command {
    parser(options.map(|opt| {
        arg(opt)
            .help(help_line(opt, opt.default))
            .long_help(long_help(opt))
            .help_heading(opt.heading.title())
            .value_name(opt.kind.placeholder())
    }))
}

/// Returns the line of help about an option, with `default`, as it is to be shown, in brackets unless it is empty.
fn help_line(opt: &Spec, default: &str) -> String {
    if default.is_empty() {
        return opt.about.to_owned();
    }
    format!("{} [default: {default}]", opt.about)
}

/// Returns the long help on an option: its line, with the default and its exceptions, and the explanation, if any.
fn long_help(opt: &Spec) -> String {
    let line = help_line(opt, &opt.all_defaults());
    if opt.more.is_empty() {
        return line;
    }
    format!("{line}. {}", opt.more)
}
