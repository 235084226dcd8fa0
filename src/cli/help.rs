//! `-h`, `--help` and `--version`.

use std::ffi::OsStr;

use clap::builder::styling::{AnsiColor, Style, Styles};

use super::declare::{SUMMARY_ID, described};
use super::suggest::closest;
use super::table::{OPTIONS, Opt, SECTIONS};
use crate::process::sys::{environment, stdio};

/// The text of `-h`.
pub(super) const SUMMARY: &str = include_str!("summary.txt");

impl Opt {
    /// Returns true if the option's section has this name.
    pub(super) fn is_in_section(&self, section: &str) -> bool {
        self.heading.to_lowercase().split(' ').any(|word| word == section)
    }
}

/// Returns the help on a section or an option, or on everything if the topic is empty.
pub(super) fn help(topic: &str, color: Option<&OsStr>) -> Result<String, String> {
    let topic = topic.trim_start_matches('-');
    let is_letter = |opt: &&Opt| opt.short.is_some_and(|short| topic.chars().eq([short]));
    let topic = OPTIONS.iter().find(is_letter).map_or(topic, |opt| opt.long);
    let is_named = OPTIONS.iter().any(|opt| opt.long == topic);
    let is_meant = |opt: &&Opt| match is_named {
        true => opt.long == topic,
        false => topic.is_empty() || opt.is_in_section(topic),
    };
    if !OPTIONS.iter().any(|opt| is_meant(&opt)) {
        let hint = closest(topic, SECTIONS.into_iter().chain(OPTIONS.iter().map(|opt| opt.long)));
        return Err(format!(
            "--help: {topic:?} is neither an option nor one of {}; nothing was run, and --help alone shows all{hint}",
            SECTIONS.join(", ")
        ));
    }
    let bold = Style::new().bold();
    let styles = Styles::plain()
        .header(bold)
        .usage(bold)
        .literal(AnsiColor::Cyan.on_default());
    let command = described(OPTIONS.iter().filter(is_meant))
        .styles(styles)
        .next_line_help(true)
        .max_term_width(80);
    let text = match topic {
        "" => command.help_template(include_str!("help.txt")).render_help(),
        _ => command
            .mut_arg(SUMMARY_ID, |arg| arg.hide(topic != "other"))
            .help_template("{all-args}\n")
            .render_long_help(),
    };
    let variables = environment::backoff_variables();
    let variable = variables.iter().find(|(name, _)| name == "BACKOFF_COLOR");
    let color = color.or(variable.map(|(_, when)| &**when));
    let is_coloured = match color.and_then(OsStr::to_str) {
        Some("always") => true,
        Some("never") => false,
        _ => stdio::takes_colour(stdio::OUT),
    };
    Ok(if is_coloured {
        text.ansi().to_string()
    } else {
        text.to_string()
    })
}

/// Returns the text of `--version`: a first line for programs, then details for bug reports.
pub(super) fn version() -> String {
    let libc = if cfg!(target_env = "musl") {
        "musl"
    } else {
        "the system's"
    };
    let linked = if cfg!(target_feature = "crt-static") {
        "static"
    } else {
        "dynamic"
    };
    let redis = if cfg!(feature = "redis") { "redis" } else { "none" };
    format!(
        "backoff {}\ntarget: {}\nlibc: {libc}, {linked}\nfeatures: {redis}\n",
        env!("CARGO_PKG_VERSION"),
        env!("BUILD_TARGET")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_agrees_with_the_table() {
        for line in SUMMARY
            .lines()
            .filter(|line| line.contains(" --") && !line.contains("backoff "))
        {
            let name = line.split("--").nth(1).and_then(|rest| rest.split(' ').next());
            let opt = OPTIONS.iter().find(|opt| Some(opt.long) == name).expect(line);
            assert!(
                opt.kind.is_switch() || line.contains(&format!(" <{}> ", opt.kind.placeholder())),
                "{line}"
            );
            let default = opt.default().and_then(|default| default.split(';').next());
            let shown = line
                .split_once("[default: ")
                .map(|(_, rest)| rest.trim_end_matches(']'));
            assert_eq!(shown, default, "{line}");
        }
    }
}
