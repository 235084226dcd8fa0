//! The texts of `-h`, `--help` and `--version`.

use clap::builder::PossibleValue;
use clap::builder::styling::{AnsiColor, Style, Styles};
use clap::{Arg, Command, CommandFactory};

use super::options::Options;
use super::tips::tip_for_name;
use crate::process::sys::color::takes_color;
use crate::process::sys::stdio;
use crate::run::plan::When;
use crate::text::normal;

/// The topics of help that are not options.
pub(super) const TOPICS: [&str; 9] = [
    "time", "rules", "waits", "streams", "hooks", "budgets", "output", "other", "examples",
];

/// The options of `-h`.
const SUMMARY: [&str; 12] = [
    "attempts",
    "deadline",
    "timeout",
    "retry_exit",
    "retry_match",
    "for",
    "every",
    "base",
    "max_delay",
    "quiet",
    "verbose",
    "plan",
];

/// Returns the declarations for help, man page and completions. If an option takes one of a few words, they replace the
/// name of its value.
pub(super) fn described() -> Command {
    Options::command().mut_args(|arg| {
        let words = arg.get_possible_values();
        if words.is_empty() || !arg.get_action().takes_values() {
            return arg;
        }
        let words: Vec<&str> = words.iter().map(PossibleValue::get_name).collect();
        arg.value_name(words.join("|")).hide_possible_values(true)
    })
}

/// Returns the help on a topic: a section, an option (by name, letter or variable) or the examples. If the topic is
/// empty, returns a line for each option. An unknown topic is an error.
pub(super) fn help(topic: &str, color: When) -> Result<String, String> {
    let name = normal(topic.trim_start_matches('-'));
    let name = name.strip_prefix("backoff-").unwrap_or(&name);
    if name == "examples" {
        return Ok(include_str!("examples.txt").to_owned());
    }
    let shown = shown_options(topic, name);
    if shown.is_empty() {
        return Err(unknown_topic(topic, name));
    }
    let bold = Style::new().bold();
    let styles = Styles::plain()
        .header(bold)
        .usage(bold)
        .literal(AnsiColor::Cyan.on_default());
    let command = described()
        .styles(styles)
        .next_line_help(true)
        .max_term_width(80)
        .mut_args(|arg| {
            let is_shown = shown.contains(&arg.get_id().to_string());
            arg.hide(!is_shown)
        });
    let text = if name.is_empty() {
        command
            .help_template(include_str!("help.txt"))
            .render_help()
    } else {
        command.help_template("{all-args}\n").render_long_help()
    };
    let has_color = match color {
        When::Always => true,
        When::Never => false,
        When::Auto => takes_color(stdio::OUT),
    };
    match has_color {
        true => Ok(text.ansi().to_string()),
        false => Ok(text.to_string()),
    }
}

/// Returns the IDs of the options that a topic selects: one option, those of a section, or all if the topic is empty.
/// Returns none if the topic is unknown. `name` is the normalized topic, `topic` the word as typed, because letters are
/// case-sensitive.
fn shown_options(topic: &str, name: &str) -> Vec<String> {
    let command = described();
    let arguments = || command.get_arguments().filter(|arg| !arg.is_positional());
    let letter = topic.trim_start_matches('-');
    let is_named = |arg: &&Arg| {
        let is_letter = arg
            .get_short()
            .is_some_and(|short| letter.chars().eq([short]));
        arg.get_long() == Some(name) || is_letter
    };
    if let Some(option) = arguments().find(is_named) {
        return vec![option.get_id().to_string()];
    }
    let is_in_section = |arg: &&Arg| {
        let heading = normal(arg.get_help_heading().unwrap_or_default());
        name.is_empty() || format!(" {heading} ").contains(&format!(" {name} "))
    };
    let of_sections = arguments().filter(is_in_section);
    of_sections.map(|arg| arg.get_id().to_string()).collect()
}

fn unknown_topic(topic: &str, name: &str) -> String {
    let command = described();
    let names = command.get_arguments().filter_map(Arg::get_long);
    let tip = tip_for_name(name, TOPICS.into_iter().chain(names));
    let topics = TOPICS.join(", ");
    format!("--help: {topic:?} is neither an option nor one of {topics}; nothing was run{tip}")
}

/// Returns the text of `-h`.
pub(super) fn summary() -> String {
    described()
        .mut_args(|arg| {
            let is_shown = SUMMARY.contains(&arg.get_id().as_str());
            arg.hide(!is_shown).help_heading(None::<&str>)
        })
        .max_term_width(80)
        .help_template(include_str!("summary.txt"))
        .render_help()
        .to_string()
}

/// Returns the text of `--version`. The first line is for programs, the rest for bug reports.
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
