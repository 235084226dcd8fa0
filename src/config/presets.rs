//! Presets (`--for`): the exit codes and texts of tools that are transient or permanent. `presets.tsv` has the facts
//! and explains its columns. A start reads only the lines of the presets that it uses.

mod table;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use crate::options::PresetList;
use crate::options::problem::{Parsed, Problem};
use crate::options::similar::tip;
use crate::options::values;
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;
use table::{SECTIONS, columns, expanded, lines_of, preset_lines, split_at_list, texts_of_list};

/// The tools that ran against failing servers, made from their recorded output: preset, tools with versions, and date.
const EVIDENCE: &str = include_str!("presets/evidence.tsv");

/// The preset of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preset {
    /// The name that `--for` takes.
    pub(crate) name: &'static str,
    /// A one-line description of the evidence that the preset uses.
    pub(crate) about: &'static str,
    /// File names of the programs for which `--for auto` picks the preset, separated by spaces; `-` for none.
    programs: &'static str,
    /// Names of included presets, separated by spaces; `-` for none. Their rows follow the preset's own.
    included: &'static str,
}

/// One fact: a failure with these codes and this text is transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) verdict: RowVerdict,
    /// Required exit codes; None matches any failure.
    pub(crate) codes: Option<CodeSet>,
    /// Regex that a line must match, ignoring case; None matches any output. `{NAME}` stands for the list of this name.
    pub(crate) text: Option<&'static str>,
    /// The source of the fact.
    pub(crate) source: &'static str,
}

/// The verdict on a failure that matches a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowVerdict {
    /// Transient, unless another row that matches says otherwise.
    Retry,
    /// Transient, and the request had no effect.
    Refused,
    /// Permanent, whatever other rows say.
    Stop,
    /// Permanent, unless `--before-retry` changes something before the next attempt: a branch is behind its remote.
    Behind,
}

impl RowVerdict {
    pub(crate) const ALL: [RowVerdict; 4] = [
        RowVerdict::Retry,
        RowVerdict::Refused,
        RowVerdict::Stop,
        RowVerdict::Behind,
    ];

    /// Explains the words, for users.
    pub(crate) const LEGEND: &str = "retry: transient; refused: transient, and had no effect (see --idempotent);\n\
                                     stop: permanent; behind: transient only with --before-retry";

    /// Returns the verdict's word in the table, and in lists of rules.
    pub(crate) fn word(self) -> &'static str {
        match self {
            RowVerdict::Retry => "retry",
            RowVerdict::Refused => "refused",
            RowVerdict::Stop => "stop",
            RowVerdict::Behind => "behind",
        }
    }
}

/// Formats the conditions of the row, `exit 35,56, match curl: \((35|56)\)`, for `-vv`.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.conditions().into_iter();
        let shown: Vec<String> = conditions
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        f.write_str(&shown.join(", "))
    }
}

impl Row {
    /// Returns the conditions of the row, each with its name, for people: lists stay short, as `{NAME}`.
    pub(crate) fn conditions(&self) -> Vec<(&'static str, String)> {
        let mut conditions = Vec::new();
        if let Some(codes) = self.codes {
            conditions.push(("exit", codes.to_string()));
        }
        if let Some(text) = self.text {
            conditions.push(("match", text.to_owned()));
        }
        conditions
    }

    /// Returns the expression with each `{NAME}` written out; None if the row has no text.
    pub(crate) fn expression(&self) -> Option<Cow<'static, str>> {
        self.text.map(expanded)
    }

    /// Returns the expression as a pattern; None if the row has no text.
    pub(crate) fn pattern(&self) -> Option<Pattern> {
        let expression = self.expression()?;
        Some(Pattern::of_preset(expression.into_owned()))
    }
}

/// Returns all presets, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = Preset> + Clone {
    preset_lines().filter_map(preset)
}

/// Returns the preset of a line, or None if the line is not that of a preset.
fn preset(line: &'static str) -> Option<Preset> {
    match columns(line)? {
        [name, "preset", programs, about, included] => Some(Preset {
            name,
            about,
            programs,
            included,
        }),
        _ => None,
    }
}

/// Returns the names in a column, which are separated by spaces; `-` stands for none.
fn list(column: &'static str) -> impl Iterator<Item = &'static str> + Clone {
    column.split(' ').filter(|name| *name != "-")
}

/// Returns the lists that the rows of a preset name, and those that these lists name in turn, each once, with its
/// expressions: `--list-presets NAME` shows them below the rows.
pub(crate) fn lists_of(preset: &Preset) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut to_search: VecDeque<&str> = preset.rows().filter_map(|row| row.text).collect();
    while let Some(text) = to_search.pop_front() {
        let Some((_, name, after)) = split_at_list(text) else {
            continue;
        };
        // The text may name another list further on.
        to_search.push_front(after);
        let is_new = lists.iter().all(|(known, _)| *known != name);
        if is_new {
            let expressions: Vec<&str> = texts_of_list(name).collect();
            to_search.extend(&expressions);
            lists.push((name, expressions));
        }
    }
    lists
}

/// The real output that a preset was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Output of these tools, which ran against failing servers; the last run was at this date.
    Run {
        tools: &'static str,
        date: &'static str,
    },
    /// Texts that others quoted.
    Quoted,
}

impl Preset {
    /// Returns the output by which the preset was judged, so that users can see how far to trust it.
    pub(crate) fn evidence(&self) -> Evidence {
        for line in EVIDENCE.lines() {
            let mut columns = line.split('\t');
            if columns.next() == Some(self.name)
                && let Some(tools) = columns.next()
                && let Some(date) = columns.next()
            {
                return Evidence::Run { tools, date };
            }
        }
        Evidence::Quoted
    }

    /// Returns the names of the included presets.
    pub(crate) fn included(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        list(self.included)
    }

    pub(crate) fn programs(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        list(self.programs)
    }

    /// Returns true if `--for auto` picks the preset for a program with this file name.
    pub(crate) fn is_for(&self, file_name: &str) -> bool {
        self.programs().any(|program| program == file_name)
    }

    /// Returns the preset's own rows, then those of the included presets.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        let presets = std::iter::once(self.name).chain(list(self.included));
        presets.flat_map(own_rows)
    }
}

/// Returns the rows of the preset with this name, without those of the presets that it includes.
fn own_rows(preset: &str) -> impl Iterator<Item = Row> + use<> {
    lines_of(preset).filter_map(row)
}

/// Returns the fact of a line. None for a comment, the line of a preset, and a malformed line, which a test finds.
fn row(line: &'static str) -> Option<Row> {
    let [_, verdict, codes, text, source] = columns(line)?;
    let verdict = RowVerdict::ALL
        .into_iter()
        .find(|known| known.word() == verdict)?;
    Some(Row {
        verdict,
        codes: match codes {
            "-" => None,
            codes => Some(values::codes(codes).ok()?),
        },
        text: Some(text).filter(|text| *text != "-"),
        source,
    })
}

/// Returns the preset for a program's file name, as `--for auto` picks it; None if no preset is for the program.
pub(crate) fn for_program(file_name: &str) -> Option<Preset> {
    // Only the few lines that hold the name at all are split into columns, as this is a part of the start.
    let mut candidates = preset_lines().filter(|line| line.contains(file_name));
    candidates.find_map(|line| preset(line).filter(|preset| preset.is_for(file_name)))
}

/// Returns the preset with this name, or else the preset for the program with this name, which users know better:
/// `podman` finds the preset `docker`.
fn find(name: &str) -> Option<Preset> {
    // The first section with the name of a preset is the line that describes it; a list begins with another line.
    let first_section = SECTIONS.iter().find(|section| section.name() == name);
    let named = first_section.and_then(|section| preset(section.first_line()));
    named.or_else(|| for_program(name))
}

/// Returns the preset that `--list-presets NAME` shows, or the problem of the name.
pub(crate) fn named(name: &str) -> Parsed<Preset> {
    find(name).ok_or_else(|| {
        let tip = tip(name, names_and_programs());
        Problem::new(format!("{name:?} is not a preset{tip}"))
    })
}

fn names_and_programs() -> impl Iterator<Item = &'static str> + Clone {
    all().flat_map(|preset| std::iter::once(preset.name).chain(preset.programs()))
}

/// A name in the list of `--for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PresetName {
    /// The preset of the command's program, if any.
    Auto,
    Named(Preset),
}

impl PresetName {
    /// Returns the presets of a list such as `curl,ssh` or `auto`.
    pub(crate) fn of_list(list: &PresetList) -> Parsed<Vec<PresetName>> {
        list.names()
            .map(|name| PresetName::parse(name, list.text()))
            .collect()
    }

    /// Parses a name that stands in a list; the problem quotes the name if the list has others, too.
    fn parse(name: &str, list: &str) -> Parsed<PresetName> {
        if name == "auto" {
            return Ok(PresetName::Auto);
        }
        match find(name) {
            Some(preset) => Ok(PresetName::Named(preset)),
            None => Err(Problem::new(unknown(name, list))),
        }
    }

    /// Returns true if the name selects a preset that is for the program with this file name. A named preset may also
    /// be selected for any other program (`--for curl ./script`): then this is false.
    pub(crate) fn is_for(self, program: &str) -> bool {
        match self {
            PresetName::Auto => for_program(program).is_some(),
            PresetName::Named(preset) => preset.is_for(program),
        }
    }

    /// Returns the preset that the name selects for the command's program: a named one for any program; None if the
    /// name is `auto`, and no preset is for the program. `program` is its file name, None if there is no command, as
    /// when the configuration file is checked.
    fn preset(self, program: Option<&str>) -> Option<Preset> {
        match self {
            PresetName::Auto => program.and_then(for_program),
            PresetName::Named(preset) => Some(preset),
        }
    }
}

/// Returns the problem of a name that is no preset, as the rest of a sentence that begins with the whole list.
fn unknown(name: &str, list: &str) -> String {
    let which = if name == list {
        String::new()
    } else {
        format!("holds {name:?}, which ")
    };
    // `help` is one typo away from the preset `helm`, but asks for the list of presets.
    let known = names_and_programs()
        .chain(["auto"])
        .filter(|_| name != "help");
    let tip = tip(name, known);
    format!("{which}is not a preset of --list-presets{tip}")
}

/// Returns the presets that the names of `--for` select for a command with this file name, each once, as `auto` may
/// select a named one. The rules of a preset that two of them include come twice, which does no harm. `program` is None
/// if there is no command.
pub(crate) fn chosen(names: &[PresetName], program: Option<&str>) -> Vec<Preset> {
    let mut chosen = Vec::new();
    for name in names {
        if let Some(preset) = name.preset(program)
            && !chosen.contains(&preset)
        {
            chosen.push(preset);
        }
    }
    chosen
}

#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod tests;
