//! What is known of tools' failures: which exit codes and texts are transient, which are permanent.
//!
//! One data file per tool, `NAME.preset`: header lines (`about:` one line, `include:` another preset whose rows
//! follow), `#` comments, and one row per fact, its four fields separated by tabs: verdict (`retry`, `refused`, `stop`),
//! codes (the CODES grammar, `-` for any), text (a regex, looked for in each line whatever its case, `-` for none), source.
//! A row with codes and text needs both. A stop row wins over every other row. `refused` is a `retry` of which more is
//! known: the failure came before any work (no connection, no lock, turned away with 429; a 503 proves nothing, as a router
//! sends it while the server still works), so that even with `--idempotent no` it is retried. If a tool makes several
//! requests in one run, that holds only if what it did before is harmless, as downloads are; `plan/request.rs` tells it
//! for curl and redis-cli, and wget, which tries and follows by itself, has no such row. One such row is enough,
//! whatever `retry` rows match with it. `behind` is a `stop`, as the same command will fail again; but a `retry` where
//! `--before-retry` does something about it first.

mod files;

use std::fmt;

use files::{FILES, File};

use super::values::{self, Parsed};
use crate::cli::suggest::closest;
use crate::policy::sets::CodeSet;

/// How deep presets may include one another.
const DEEPEST: usize = 4;

/// What is known of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preset {
    /// Its name, as `--for` takes it.
    pub(crate) name: &'static str,
    /// One line on what it goes by.
    pub(crate) about: &'static str,
    /// The file names of the programs it is for.
    pub(crate) programs: &'static [&'static str],
    /// Its facts, then those of the presets it includes.
    pub(crate) rows: Vec<Row>,
}

/// One fact: a failure with these codes and this text is transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// What such a failure is.
    pub(crate) verdict: RowVerdict,
    /// The exit codes it needs; None: any failure.
    pub(crate) codes: Option<CodeSet>,
    /// The regex some line must match, whatever the case; None: any output.
    pub(crate) text: Option<&'static str>,
    /// Where this is known from.
    pub(crate) source: &'static str,
}

/// What a row says of a failure it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowVerdict {
    /// It is transient.
    Retry,
    /// It is transient, and nothing was done.
    Refused,
    /// It is permanent, whatever other rows say.
    Stop,
    /// It is permanent, unless something is done before the next attempt.
    Behind,
}

impl RowVerdict {
    /// The word for it, and what it means.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            RowVerdict::Retry => ("retry", "the failure is transient"),
            RowVerdict::Refused => (
                "refused",
                "transient, and nothing was done: even --idempotent no retries it",
            ),
            RowVerdict::Stop => ("stop", "the failure is permanent, whatever other rules say"),
            RowVerdict::Behind => ("behind", "permanent as stop is, but transient with --before-retry"),
        }
    }
}

/// `exit 35,56, match curl: \((35|56)\)`
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = self.codes.map(|codes| format!("exit {codes}"));
        let text = self.text.map(|text| format!("match {text}"));
        let parts: Vec<String> = codes.into_iter().chain(text).collect();
        f.write_str(&parts.join(", "))
    }
}

/// A name that `--for` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PresetName {
    /// The one for the command, if there is one.
    Auto,
    /// The preset at this index.
    Named(usize),
}

impl PresetName {
    /// `curl,ssh`, `auto`
    pub(crate) fn parse_list(text: &str) -> Parsed<Vec<PresetName>> {
        let names = text.split(',').map(str::trim);
        names
            .map(|name| match name {
                "auto" => Ok(PresetName::Auto),
                name => index(name).map(PresetName::Named).ok_or_else(|| {
                    let which = if name == text {
                        String::new()
                    } else {
                        format!(" with {name:?}")
                    };
                    let hint = match name {
                        "list" | "help" => "; did you mean --list-presets?".to_owned(),
                        _ => closest(name, names_and_programs().chain(["auto"])),
                    };
                    format!("names no preset{which}; --list-presets shows them, and auto goes by the command{hint}")
                }),
            })
            .collect()
    }

    /// Whether it is the one for the program with this file name.
    pub(crate) fn is_for(self, program: &str) -> bool {
        match self {
            PresetName::Auto => is_known(program),
            PresetName::Named(index) => index_for_program(program) == Some(index),
        }
    }

    /// The preset, for a command with this file name.
    fn preset(self, program: Option<&str>) -> Option<Preset> {
        match self {
            PresetName::Auto => program.and_then(for_program),
            PresetName::Named(index) => FILES.get(index).map(parsed),
        }
    }
}

/// The presets of these names for a command with this file name, each once.
pub(crate) fn chosen(names: &[PresetName], program: Option<&str>) -> Vec<(PresetName, Preset)> {
    let mut chosen: Vec<(PresetName, Preset)> = Vec::new();
    for name in names {
        let preset = name.preset(program);
        let is_new = |preset: &Preset| chosen.iter().all(|(_, other)| other.name != preset.name);
        chosen.extend(preset.filter(is_new).map(|preset| (*name, preset)));
    }
    chosen
}

/// The preset that `--for` takes by this name, or what is wrong with it.
pub(crate) fn named(name: &str) -> Result<Preset, String> {
    let found = index(name).map(|index| parsed(&FILES[index]));
    found.ok_or_else(|| {
        let hint = closest(name, names_and_programs());
        format!("{name:?} names no preset; --list-presets alone shows them{hint}")
    })
}

fn names_and_programs() -> impl Iterator<Item = &'static str> {
    let programs = FILES.iter().flat_map(|file| file.programs).copied();
    names().chain(programs)
}

/// Where the preset of this name stands, or else the one for the program of this name.
fn index(name: &str) -> Option<usize> {
    let named = FILES.iter().position(|file| file.name == name);
    named.or_else(|| index_for_program(name))
}

fn index_for_program(file_name: &str) -> Option<usize> {
    FILES.iter().position(|file| file.programs.contains(&file_name))
}

/// The preset for the program with this file name.
pub(crate) fn for_program(file_name: &str) -> Option<Preset> {
    index_for_program(file_name).map(|index| parsed(&FILES[index]))
}

/// What `--for` takes, besides auto.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|file| file.name)
}

/// Every preset, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = Preset> {
    FILES.iter().map(parsed)
}

fn parsed(file: &File) -> Preset {
    let mut rows = Vec::new();
    add_rows(file.text, DEEPEST, &mut rows);
    Preset {
        name: file.name,
        about: values_of(file.text, "about").next().unwrap_or_default(),
        programs: file.programs,
        rows,
    }
}

fn add_rows(text: &'static str, deepest: usize, rows: &mut Vec<Row>) {
    rows.extend(text.lines().filter_map(row));
    if deepest == 0 {
        return;
    }
    for included in values_of(text, "include") {
        if let Some(file) = FILES.iter().find(|file| file.name == included) {
            add_rows(file.text, deepest - 1, rows);
        }
    }
}

/// Whether there is one for the program with this file name.
pub(crate) fn is_known(file_name: &str) -> bool {
    index_for_program(file_name).is_some()
}

/// The values of the header lines with this key, which come before all rows.
fn values_of(text: &'static str, key: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .take_while(|line| !line.contains('\t'))
        .filter_map(move |line| line.strip_prefix(key)?.strip_prefix(": "))
}

/// The row a line holds. What cannot be read is left out here; a test finds it.
fn row(line: &'static str) -> Option<Row> {
    let mut fields = line.split('\t');
    let verdict = match fields.next()? {
        "retry" => RowVerdict::Retry,
        "refused" => RowVerdict::Refused,
        "stop" => RowVerdict::Stop,
        "behind" => RowVerdict::Behind,
        _ => return None,
    };
    let codes = match fields.next()? {
        "-" => None,
        codes => Some(values::codes(codes).ok()?),
    };
    let text = Some(fields.next()?).filter(|text| *text != "-");
    let source = fields.next()?;
    let says_something = (codes.is_some() || text.is_some()) && !source.is_empty();
    (fields.next().is_none() && says_something).then_some(Row {
        verdict,
        codes,
        text,
        source,
    })
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
