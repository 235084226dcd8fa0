//! `-h`, `--help` and `--version`.

use std::ffi::{OsStr, OsString};

use clap::builder::styling::{AnsiColor, Style, Styles};

use super::UsageError;
use super::declare::{SUMMARY_ID, described};
use super::suggest::tip_for_option;
use super::table::{EXAMPLES, OPTIONS, Opt, SECTIONS};
use crate::process::sys::color::takes_color;
use crate::process::sys::{environment, stdio};

/// The text of `-h`.
pub(super) const SUMMARY: &str = include_str!("summary.txt");

/// The text of `--help examples`.
const EXAMPLES_TEXT: &str = include_str!("examples.txt");

/// Returns the help on a section or an option, or on everything if the topic is empty. `color` is the text of
/// `--color`.
pub(super) fn help(topic: &str, color: Option<&OsString>) -> Result<String, UsageError> {
    let word = topic.trim_start_matches('-');
    let name = word.to_lowercase().replace('_', "-");
    // A variable: `BACKOFF_TIMEOUT`.
    let name = name.strip_prefix("backoff-").unwrap_or(&name);
    if name == EXAMPLES {
        return Ok(EXAMPLES_TEXT.to_owned());
    }
    let is_letter = |opt: &Opt| opt.short.is_some_and(|short| word.chars().eq([short]));
    let option = OPTIONS
        .iter()
        .find(|opt| opt.long == name || is_letter(opt));
    // A section is named by whole words of its heading.
    let is_in =
        |heading: &str| format!(" {} ", heading.to_lowercase()).contains(&format!(" {name} "));
    let is_shown = |opt: &&Opt| match option {
        Some(option) => *opt == option,
        None => name.is_empty() || is_in(opt.heading),
    };
    if !OPTIONS.iter().any(|opt| is_shown(&opt)) {
        let known = SECTIONS
            .into_iter()
            .chain([EXAMPLES])
            .chain(OPTIONS.iter().map(|opt| opt.long));
        let tip = tip_for_option(name, known, "--help alone");
        let sections = SECTIONS.join(", ");
        let why = format!(
            "--help: {topic:?} is neither an option nor one of {sections}, {EXAMPLES}; nothing was run{tip}"
        );
        return Err(why.into());
    }
    let bold = Style::new().bold();
    let styles = Styles::plain()
        .header(bold)
        .usage(bold)
        .literal(AnsiColor::Cyan.on_default());
    let command = described(OPTIONS.iter().filter(is_shown))
        .styles(styles)
        .next_line_help(true)
        .max_term_width(80);
    let text = match name {
        "" => command
            .help_template(include_str!("help.txt"))
            .render_help(),
        _ => command
            // The section Other lists `-h`, too.
            .mut_arg(SUMMARY_ID, |arg| arg.hide(name != "other"))
            .help_template("{all-args}\n")
            .render_long_help(),
    };
    let color = color
        .cloned()
        .or_else(|| environment::variable("BACKOFF_COLOR"));
    Ok(match color.as_deref().and_then(OsStr::to_str) {
        Some("always") => text.ansi().to_string(),
        Some("never") => text.to_string(),
        _ if takes_color(stdio::OUT) => text.ansi().to_string(),
        _ => text.to_string(),
    })
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
        "backoff {}\ntarget: {}\nlibc: {libc}\nfeatures: {redis}\n",
        env!("CARGO_PKG_VERSION"),
        env!("BUILD_TARGET")
    )
}

#[cfg(test)]
mod tests;
