//! Output of `--list-presets` and `--list-policies`, line by line.

use std::ffi::{OsStr, OsString};

use super::policies::{Config, Policy};
use super::presets::{self, Preset, RowVerdict};
use super::setting::UsageError;
use crate::run::text::printable;

/// Lists presets by name, with descriptions and the programs that `auto` matches.
pub(crate) fn presets() -> impl Iterator<Item = String> {
    let lines = presets::all().map(|preset| {
        let others: Vec<&str> = preset
            .programs()
            .filter(|program| *program != preset.name)
            .collect();
        let also = Some(others.join(", ")).filter(|others| !others.is_empty());
        let also = also
            .map(|others| format!(" (also for {others})"))
            .unwrap_or_default();
        format!("{:<18}{}{also}\n", preset.name, preset.about)
    });
    lines.chain(["\n--list-presets NAME shows the rules of one.\n".to_owned()])
}

/// Lists the rules of each named preset.
pub(crate) fn presets_named(names: &[OsString]) -> Result<Vec<String>, UsageError> {
    names.iter().map(|name| preset_named(name)).collect()
}

fn preset_named(name: &OsStr) -> Result<String, UsageError> {
    match presets::named(&name.to_string_lossy()) {
        Ok(preset) => Ok(rules(&preset)),
        Err(problem) => Err(UsageError(format!("--list-presets: {problem}"))),
    }
}

fn rules(preset: &Preset) -> String {
    let mut text = format!("{}: {}\n", preset.name, preset.about);
    let programs = preset.programs().collect::<Vec<_>>().join(", ");
    if !programs.is_empty() {
        text += &format!("--for auto picks it for {programs}\n");
    }
    text += &format!("{}\n", RowVerdict::LEGEND);
    for row in preset.rows() {
        let codes = row.codes.map(|codes| format!("exit   {codes}"));
        let pattern = row.text.map(|pattern| format!("match  {pattern}"));
        let source = format!("from   {}", row.source);
        let unless = row
            .unless
            .map(|word| format!("unless the command has {word}"));
        let lines: Vec<String> = [codes, pattern, unless, Some(source)]
            .into_iter()
            .flatten()
            .collect();
        text += &format!(
            "\n{:<10}{}\n",
            row.verdict.word(),
            lines.join("\n          ")
        );
    }
    for (name, lines) in presets::lists_of(preset) {
        text += &format!(
            "\n{{{name}}} is one of\n          {}\n",
            lines.join("\n          ")
        );
    }
    text + "\n"
}

/// Returns the lines of `--list-policies`: for each policy its name and source, then an indented line for each option
/// set.
pub(crate) fn policies(config: &Config) -> Result<Vec<String>, UsageError> {
    Ok(config.all_policies()?.iter().map(listed).collect())
}

fn listed(policy: &Policy) -> String {
    // FILE:LINE, without the column.
    let line = policy
        .position
        .rsplit_once(':')
        .map_or("", |(line, _)| line);
    let from = match &policy.about {
        Some(about) => format!("built in ({about})"),
        None => line.to_owned(),
    };
    let mut text = format!("{:<18} {from}\n", policy.name);
    for setting in &policy.settings {
        text += &format!("  {} = {}\n", setting.opt.long, printable(&setting.shown()));
    }
    text
}
