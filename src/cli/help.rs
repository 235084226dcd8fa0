//! The texts of `-h`, `--help` and `--version`. The help is made by clap from the options' declarations.

use std::ffi::{OsStr, OsString};

use clap::builder::StyledStr;
use clap::builder::styling::{AnsiColor, Style, Styles};

use super::declare::{SUMMARY_ID, described};
use super::suggest::tip_for_option;
use crate::options::OPTIONS;
use crate::options::opt::{EXAMPLES, Heading, Spec};
use crate::options::problem::UsageError;
use crate::process::sys::{color, environment, stdio};

/// The text of `-h`.
pub(super) const SUMMARY: &str = include_str!("summary.txt");

/// The text of `--help examples`.
const EXAMPLES_TEXT: &str = include_str!("examples.txt");

/// Returns the help on a topic: a section, an option (by its name, its letter or its variable, `BACKOFF_TIMEOUT`) or
/// the examples; on everything if the topic is empty. An unknown topic is a usage error. `color` is the text of
/// `--color`, if it was given.
pub(super) fn help(topic: &str, color: Option<&OsString>) -> Result<String, UsageError> {
    let name = topic
        .trim_start_matches('-')
        .to_lowercase()
        .replace('_', "-");
    let name = name.strip_prefix("backoff-").unwrap_or(&name);
    if name == EXAMPLES {
        return Ok(EXAMPLES_TEXT.to_owned());
    }
    let options = options_of(topic, name);
    if options.is_empty() {
        return Err(unknown_topic(topic, name));
    }
    let text = rendered(name, &options);
    if takes_color(color) {
        return Ok(text.ansi().to_string());
    }
    Ok(text.to_string())
}

/// Returns the option that a topic names, or else the options of the sections that it names: all if it is empty, none
/// if it is unknown. `name` is the topic in the form of long names, `topic` what was typed, as letters are
/// case-sensitive.
fn options_of(topic: &str, name: &str) -> Vec<&'static Spec> {
    let letter = topic.trim_start_matches('-');
    let option = OPTIONS
        .iter()
        .find(|opt| opt.long == name || is_letter_of(opt, letter));
    if let Some(option) = option {
        return vec![option];
    }
    let options = OPTIONS.iter().copied();
    options
        .filter(|opt| name.is_empty() || is_in(opt.heading, name))
        .collect()
}

fn is_letter_of(opt: &Spec, word: &str) -> bool {
    opt.short.is_some_and(|short| word.chars().eq([short]))
}

/// Returns true if a name is one or several whole words of a section's heading, so that one word is enough to name it.
fn is_in(heading: Heading, name: &str) -> bool {
    let title = heading.title().to_lowercase();
    format!(" {title} ").contains(&format!(" {name} "))
}

/// Returns the error about an unknown topic of `--help`, with the sections. `name` is the topic in the form of long
/// names, for which a tip names a similar one.
fn unknown_topic(topic: &str, name: &str) -> UsageError {
    let sections = Heading::ALL.map(Heading::word);
    let names = OPTIONS.iter().map(|opt| opt.long);
    let known = sections.into_iter().chain([EXAMPLES]).chain(names);
    let tip = tip_for_option(name, known);
    let sections = sections.join(", ");
    UsageError(format!(
        "--help: {topic:?} is neither an option nor one of {sections}, {EXAMPLES}; nothing was run{tip}"
    ))
}

/// Returns the help on these options, styled for a terminal. If `name`, the topic, is empty, the help is on everything:
/// usage, a summary, and one line for each option; otherwise it has the details of each option.
fn rendered(name: &str, options: &[&'static Spec]) -> StyledStr {
    let bold = Style::new().bold();
    let styles = Styles::plain()
        .header(bold)
        .usage(bold)
        .literal(AnsiColor::Cyan.on_default());
    let command = described(options.iter().copied())
        .styles(styles)
        .next_line_help(true)
        .max_term_width(80);
    if name.is_empty() {
        return command
            .help_template(include_str!("help.txt"))
            .render_help();
    }
    command
        // The section Other lists `-h`, too.
        .mut_arg(SUMMARY_ID, |arg| arg.hide(name != Heading::Other.word()))
        .help_template("{all-args}\n")
        .render_long_help()
}

/// Returns true if help is printed in color. `typed` is the text of `--color`, if it was given. Reads the variable
/// itself, as help is printed before the settings are read. An invalid text counts as `auto`, as help must not fail,
/// and on the command line it overrides the variable like a valid one.
fn takes_color(typed: Option<&OsString>) -> bool {
    let set = typed
        .cloned()
        .or_else(|| environment::variable("BACKOFF_COLOR"));
    match set.as_deref().and_then(OsStr::to_str) {
        Some("always") => true,
        Some("never") => false,
        _ => color::takes_color(stdio::OUT),
    }
}

/// Returns the text of `--version`: a first line for programs, then details for bug reports.
pub(super) fn version() -> String {
    let is_static = cfg!(target_feature = "crt-static");
    let libc = if is_static { "static" } else { "dynamic" };
    let redis = if cfg!(feature = "redis") {
        "redis"
    } else {
        "none"
    };
    format!(
        "backoff {}\nlibc: {libc}\nfeatures: {redis}\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_agrees_with_the_table() {
        for line in SUMMARY
            .lines()
            .filter(|line| line.trim_start().starts_with('-') && !line.contains("--help"))
        {
            let name = line
                .split("--")
                .nth(1)
                .and_then(|rest| rest.split([' ', '[']).next());
            let opt = OPTIONS
                .iter()
                .find(|opt| Some(opt.long) == name)
                .expect(line);
            assert!(
                opt.kind.is_switch()
                    || line.contains(&format!(" <{}> ", opt.kind.placeholder()))
                    || line.contains(&format!("[={}] ", opt.kind.placeholder())),
                "{line}"
            );
            let shown = line
                .split_once("[default: ")
                .map(|(_, rest)| rest.trim_end_matches(']'));
            assert_eq!(shown.unwrap_or_default(), opt.default, "{line}");
        }
    }
}
