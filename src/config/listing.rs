//! Output of `--list-presets` and `--list-policies`, line by line.

use std::ffi::OsString;

use super::document::Policy;
use super::policies::{Config, built_in};
use super::presets::{self, Preset, RowVerdict};
use super::said::UsageError;
use crate::cli::wrap::wrap;
use crate::run::text::printable;

/// Fits every terminal.
const WIDTH: usize = 80;
/// The second column's position.
const COLUMN: usize = 18;

/// Lists presets by name, with descriptions and the programs that `auto` matches.
pub(crate) fn presets() -> impl Iterator<Item = String> {
    let rest = "--list-presets NAME shows the rules of one.".to_owned();
    let lines = presets::all().map(|preset| {
        let programs: Vec<&str> = preset.programs().filter(|program| *program != preset.name).collect();
        let also = if programs.is_empty() {
            String::new()
        } else {
            format!(" (also for {})", programs.join(", "))
        };
        let about = wrap(&format!("{}{also}", preset.about), COLUMN, COLUMN, WIDTH);
        format!("{:<1$}{about}", preset.name, COLUMN)
    });
    lines.chain(["\n".to_owned(), rest + "\n"])
}

/// Lists the rules of each named preset.
pub(crate) fn presets_named(names: &[OsString]) -> Result<Vec<String>, UsageError> {
    names
        .iter()
        .map(|name| {
            let preset = presets::named(&name.to_string_lossy());
            let preset = preset.map_err(|problem| UsageError(format!("--list-presets: {problem}")))?;
            Ok(rules(&preset))
        })
        .collect()
}

fn rules(preset: &Preset) -> String {
    let mut text = wrap(&format!("{}: {}", preset.name, preset.about), 0, 4, WIDTH);
    let programs = preset.programs().collect::<Vec<_>>().join(", ");
    if !programs.is_empty() {
        text.push_str(&wrap(&format!("--for auto picks it for {programs}"), 0, 4, WIDTH));
    }
    let mut verdicts: Vec<RowVerdict> = Vec::new();
    for row in &preset.rows() {
        if !verdicts.contains(&row.verdict) {
            verdicts.push(row.verdict);
        }
        // Patterns are not wrapped, so that they can be copied.
        let conditions = [
            row.codes.map(|codes| format!("exit   {codes}\n")),
            row.text.map(|pattern| format!("match  {pattern}\n")),
            Some(format!("from   {}", wrap(row.source, 17, 17, WIDTH))),
        ];
        text.push('\n');
        let mut verdict = row.verdict.words().0;
        for condition in conditions.into_iter().flatten() {
            text.push_str(&format!("{verdict:<10}{condition}"));
            verdict = "";
        }
    }
    text.push('\n');
    for (word, meaning) in verdicts.into_iter().map(RowVerdict::words) {
        text.push_str(&format!("{word:<10}{}", wrap(meaning, 10, 10, WIDTH)));
    }
    text.push('\n');
    text
}

/// Returns the lines of `--list-policies`: for each policy its name and source, then an indented line for each option
/// set.
pub(crate) fn policies(config: &Config) -> Result<Vec<String>, UsageError> {
    let replaced: Vec<String> = built_in()?.into_iter().map(|policy| policy.name).collect();
    let all = config.all_policies()?.into_iter();
    Ok(all.map(|policy| listed(&policy, &replaced)).collect())
}

fn listed(policy: &Policy, replaced: &[String]) -> String {
    let from = match &policy.about {
        Some(about) => wrap(&format!("built in ({about})"), COLUMN + 1, COLUMN + 1, WIDTH),
        None => {
            let note = match replaced.contains(&policy.name) {
                true => " (in place of the built-in one)",
                false => "",
            };
            // Not wrapped, so that it can be copied; neither are the values below.
            let line = policy.position.rsplit_once(':').map_or("", |(line, _)| line);
            format!("{line}{note}\n")
        }
    };
    let mut text = format!("{:<COLUMN$} {from}", policy.name);
    for said in &policy.said {
        text.push_str(&format!("  {} = {}\n", said.opt.long, printable(&said.shown())));
    }
    text
}
