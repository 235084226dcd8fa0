//! Output of `--list-presets`, for people and as JSON.

use std::collections::VecDeque;
use std::ffi::OsString;

use serde::Serialize;

use super::names::named;
use super::rules::{Row, RowVerdict, list, split_at_list};
use super::{Preset, all};
use crate::report::json;

/// Lists presets by name, with descriptions and the other programs for which `--for auto` picks them, and a line on how
/// to see more.
pub(crate) fn presets() -> String {
    let lines = all().iter().map(|preset| {
        let others: Vec<&str> = preset
            .programs()
            .filter(|program| *program != preset.name)
            .collect();
        let also = if others.is_empty() {
            String::new()
        } else {
            format!(" (also for {})", others.join(", "))
        };
        format!("{:<18}{}{also}\n", preset.name, preset.read().about)
    });
    lines.collect::<String>() + "\n--list-presets NAME shows the rules of one.\n"
}

/// Returns texts about the presets with these names or for these programs (`podman`). An unknown name is an error.
pub(crate) fn presets_named(names: &[OsString]) -> Result<String, String> {
    let texts = names.iter().map(|name| Ok(listed_preset(&named(name)?)));
    texts.collect()
}

/// Lists the presets for these names (as in [`presets_named`]), or all if there are none, with their rules: one JSON
/// object per line. An unknown name is an error.
pub(crate) fn presets_as_json(names: &[OsString]) -> Result<String, String> {
    let line = |preset: &Preset| json::line(&Listed::new(preset));
    if names.is_empty() {
        return Ok(all().iter().map(line).collect());
    }
    names.iter().map(|name| Ok(line(&named(name)?))).collect()
}

/// A preset as data.
#[derive(Serialize)]
struct Listed {
    preset: &'static str,
    about: String,
    /// Programs for which `--for auto` picks it.
    programs: Vec<&'static str>,
    /// Presets whose rules follow its own.
    includes: Vec<String>,
    rules: Vec<ListedRule>,
}

/// A rule of a preset as data.
#[derive(Serialize)]
struct ListedRule {
    verdict: &'static str,
    /// Exit codes as in `--retry-exit`, null for any.
    exit: Option<String>,
    /// Case-insensitive expression for a line, null for any output.
    #[serde(rename = "match")]
    text: Option<String>,
    from: String,
}

impl Listed {
    /// Returns a preset as data, with the rules of the presets that it includes.
    fn new(preset: &Preset) -> Listed {
        let file = preset.read();
        Listed {
            preset: preset.name,
            about: file.about,
            programs: preset.programs().collect(),
            includes: file.include,
            rules: preset.rows().into_iter().map(ListedRule::new).collect(),
        }
    }
}

impl ListedRule {
    /// Returns a rule as data, with the lists in its expression expanded.
    fn new(row: Row) -> ListedRule {
        ListedRule {
            verdict: row.verdict.word(),
            exit: row.codes.map(|codes| codes.to_string()),
            text: row.expression(),
            from: row.source,
        }
    }
}

/// Returns the text about one preset: its purpose, its rules, and the lists that their expressions name. Ends with an
/// empty line, because another preset may follow.
fn listed_preset(preset: &Preset) -> String {
    let mut text = format!("{}: {}\n", preset.name, preset.read().about);
    let programs = preset.programs().collect::<Vec<_>>().join(", ");
    if !programs.is_empty() {
        text += &format!("--for auto picks it for {programs}\n");
    }
    text += &format!("{}\n", RowVerdict::LEGEND);
    let rows = preset.rows();
    for row in &rows {
        let conditions = row.conditions().into_iter();
        let mut lines: Vec<String> = conditions
            .map(|(name, value)| format!("{name:<6} {value}"))
            .collect();
        lines.push(format!("from   {}", row.source));
        text += &format!(
            "\n{:<10}{}\n",
            row.verdict.word(),
            lines.join("\n          ")
        );
    }
    for name in lists_of(&rows) {
        text += &format!(
            "\n{{{name}}} is one of\n          {}\n",
            list(&name).join("\n          ")
        );
    }
    text + "\n"
}

/// Returns the names of the lists that rows name, directly or through other lists, each once.
fn lists_of(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut to_search: VecDeque<&str> = rows.iter().filter_map(|row| row.text.as_deref()).collect();
    while let Some(text) = to_search.pop_front() {
        let Some((_, name, after)) = split_at_list(text) else {
            continue;
        };
        // The text may name another list further on.
        to_search.push_front(after);
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
            to_search.extend(list(name).iter().map(String::as_str));
        }
    }
    names
}
