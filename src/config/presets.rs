//! Presets: the exit codes and texts of tools that are transient or permanent. `presets.tsv` has the facts and explains
//! its columns. A start reads only the lines of the presets that it uses.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use crate::options::PresetList;
use crate::options::problem::{Parsed, Problem};
use crate::options::similar::tip;
use crate::options::values;
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;

const TABLE: &str = include_str!("presets.tsv");

/// The tools that ran against failing servers, made from their recorded output: preset, tools with versions, and date.
const EVIDENCE: &str = include_str!("presets/evidence.tsv");

/// The preset of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preset {
    /// The name that `--for` takes.
    pub(crate) name: &'static str,
    /// A one-line description of the evidence that the preset uses.
    pub(crate) about: &'static str,
    /// File names of the programs for which `--for auto` picks the preset, separated by spaces.
    programs: &'static str,
    /// Names of included presets, separated by spaces; their rows follow the preset's own.
    included: &'static str,
}

/// One fact: a failure with these codes and this text is transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) verdict: RowVerdict,
    /// With this word among its arguments, a command's failure does not meet the row.
    pub(crate) unless: Option<&'static str>,
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
    Retry,
    /// Transient, and the request had no effect.
    Refused,
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

    /// Returns the verdict's word in the table.
    pub(crate) fn word(self) -> &'static str {
        match self {
            RowVerdict::Retry => "retry",
            RowVerdict::Refused => "refused",
            RowVerdict::Stop => "stop",
            RowVerdict::Behind => "behind",
        }
    }
}

/// Formats as `exit 35,56, match curl: \((35|56)\)`.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = self.codes.map(|codes| format!("exit {codes}"));
        let text = self.text.map(|text| format!("match {text}"));
        let unless = self
            .unless
            .map(|word| format!("unless the command has {word}"));
        let parts: Vec<String> = [codes, text, unless].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

impl Row {
    /// Returns the expression with the lists that it names.
    pub(crate) fn expression(&self) -> Option<Cow<'static, str>> {
        self.text.map(expanded)
    }

    /// Returns the expression as a pattern, which reads the lists on first use.
    pub(crate) fn pattern(&self) -> Option<Pattern> {
        self.text.map(|text| Pattern::known(text, list_of_texts))
    }
}

/// Lines of the table with the same name in the first column, which stand together, perhaps with comments.
#[derive(Debug, Clone, Copy)]
struct Section {
    /// Places in [`TABLE`].
    begin: usize,
    name_end: usize,
    first_line_end: usize,
    end: usize,
}

/// All sections. The compiler finds them, as reading the whole table would slow down each start.
static SECTIONS: [Section; count_sections()] = sections();

impl Section {
    const EMPTY: Section = Section {
        begin: 0,
        name_end: 0,
        first_line_end: 0,
        end: 0,
    };

    /// Returns the section that begins at or after this place; an empty one at the end of the table.
    const fn at(place: usize) -> Section {
        let table = TABLE.as_bytes();
        let mut begin = place;
        while begin < table.len() && table[begin] == b'#' {
            begin = end_of_line(begin);
        }
        let mut name_end = begin;
        while name_end < table.len() && table[name_end] != b'\t' {
            name_end += 1;
        }
        let mut section = Section {
            begin,
            name_end,
            first_line_end: end_of_line(begin),
            end: begin,
        };
        while section.continues() {
            section.end = end_of_line(section.end);
        }
        section
    }

    /// Returns true if the line at the end of the section belongs to it.
    const fn continues(&self) -> bool {
        let table = TABLE.as_bytes();
        let mut at = self.end;
        if at < table.len() && table[at] == b'#' {
            return true;
        }
        let mut in_name = self.begin;
        while in_name <= self.name_end && at < table.len() && table[at] == table[in_name] {
            in_name += 1;
            at += 1;
        }
        in_name > self.name_end
    }

    fn name(&self) -> &'static str {
        &TABLE[self.begin..self.name_end]
    }

    fn first_line(&self) -> &'static str {
        TABLE[self.begin..self.first_line_end].trim_end()
    }

    fn lines(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        TABLE[self.begin..self.end].lines()
    }
}

/// Returns the place after the line that holds this one.
const fn end_of_line(mut place: usize) -> usize {
    let table = TABLE.as_bytes();
    while place < table.len() && table[place] != b'\n' {
        place += 1;
    }
    place + 1
}

const fn count_sections() -> usize {
    let mut count = 0;
    let mut section = Section::at(0);
    while section.begin < section.end {
        count += 1;
        section = Section::at(section.end);
    }
    count
}

const fn sections() -> [Section; count_sections()] {
    let mut all = [Section::EMPTY; count_sections()];
    let mut place = 0;
    let mut count = 0;
    while count < all.len() {
        all[count] = Section::at(place);
        place = all[count].end;
        count += 1;
    }
    all
}

/// Returns the lines of presets, which come first.
fn heads() -> impl Iterator<Item = &'static str> + Clone {
    let heads = SECTIONS
        .iter()
        .take_while(|section| TABLE[section.name_end..].starts_with("\tpreset\t"));
    heads.map(Section::first_line)
}

/// Returns all presets, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = Preset> + Clone {
    heads().filter_map(preset)
}

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

/// Returns the five columns of a line, or None if it has fewer.
fn columns(line: &'static str) -> Option<[&'static str; 5]> {
    let mut ends = line.bytes().enumerate().filter(|(_, byte)| *byte == b'\t');
    let mut next_end = || ends.next().map(|(at, _)| at);
    let [first, second, third, fourth] = [next_end()?, next_end()?, next_end()?, next_end()?];
    Some([
        &line[..first],
        &line[first + 1..second],
        &line[second + 1..third],
        &line[third + 1..fourth],
        &line[fourth + 1..],
    ])
}

fn list(column: &'static str) -> impl Iterator<Item = &'static str> + Clone {
    column.split(' ').filter(|name| *name != "-")
}

/// Returns the lines of a list, or the rows of a preset, perhaps with comments.
fn lines_of(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    // The line of a preset has the same name as the rows, and comes first.
    let section = SECTIONS.iter().rev().find(|section| section.name() == name);
    section.unwrap_or(&Section::EMPTY).lines()
}

/// Replaces each `{NAME}` by the list of this name. `{2}` is a repetition.
fn expanded(text: &'static str) -> Cow<'static, str> {
    let Some((before, name, after)) = name_of_list(text) else {
        return text.into();
    };
    let parts: Vec<_> = texts_of_list(name).map(expanded).collect();
    format!("{before}(?:{}){}", parts.join("|"), expanded(after)).into()
}

/// Returns the expression of the list with this name, which may name others.
fn list_of_texts(name: &str) -> String {
    texts_of_list(name).collect::<Vec<_>>().join("|")
}

/// Returns the expressions of the list with this name, one for each line.
fn texts_of_list(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    lines_of(name).filter_map(columns).map(|columns| columns[3])
}

/// Returns the lists that the rows of a preset name, and those that these name, with their lines.
pub(crate) fn lists_of(preset: &Preset) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut texts: VecDeque<&str> = preset.rows().filter_map(|row| row.text).collect();
    while let Some(text) = texts.pop_front() {
        let Some((_, name, after)) = name_of_list(text) else {
            continue;
        };
        texts.push_front(after);
        if lists.iter().all(|(known, _)| *known != name) {
            lists.push((name, texts_of_list(name).collect()));
            texts.extend(&lists[lists.len() - 1].1);
        }
    }
    lists
}

/// Returns the first name of a list in a text, with what stands before and after it.
pub(crate) fn name_of_list(
    text: &'static str,
) -> Option<(&'static str, &'static str, &'static str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (name, after) = text[at + 1..].split_once('}')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase());
        is_name.then_some((&text[..at], name, after))
    })
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
    pub(crate) fn evidence(&self) -> Evidence {
        let of_preset = |line: &'static str| {
            let mut columns = line.split('\t');
            let [name, tools, date] = std::array::from_fn(|_| columns.next());
            (name? == self.name).then_some(Evidence::Run {
                tools: tools?,
                date: date?,
            })
        };
        EVIDENCE
            .lines()
            .find_map(of_preset)
            .unwrap_or(Evidence::Quoted)
    }

    /// Returns the names of the included presets.
    pub(crate) fn included(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        list(self.included)
    }

    pub(crate) fn programs(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        list(self.programs)
    }

    /// Returns true if `--for auto` picks the preset for a program with this file name.
    fn is_for(&self, file_name: &str) -> bool {
        self.programs().any(|program| program == file_name)
    }

    /// Returns the rows without those of the included presets.
    #[cfg(test)]
    pub(crate) fn own_rows(&self) -> Vec<Row> {
        own_rows(self.name).collect()
    }

    /// Returns the preset's own rows, then those of the included presets.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        let presets = std::iter::once(self.name).chain(list(self.included));
        presets.flat_map(own_rows)
    }
}

/// Returns the rows of a preset.
fn own_rows(preset: &str) -> impl Iterator<Item = Row> + use<> {
    lines_of(preset).filter_map(row)
}

/// Returns the fact of a line, or None if the line is malformed; a test finds malformed lines.
fn row(line: &'static str) -> Option<Row> {
    let [_, verdict, codes, text, source] = columns(line)?;
    let (verdict, unless) = match verdict.split_once(' ') {
        Some((verdict, condition)) => (verdict, Some(condition.strip_prefix("unless ")?)),
        None => (verdict, None),
    };
    let is_named = |known: &RowVerdict| known.word() == verdict;
    Some(Row {
        unless,
        verdict: RowVerdict::ALL.into_iter().find(is_named)?,
        codes: match codes {
            "-" => None,
            codes => Some(values::codes(codes).ok()?),
        },
        text: Some(text).filter(|text| *text != "-"),
        source,
    })
}

/// Returns the preset for a program's file name.
pub(crate) fn for_program(file_name: &str) -> Option<Preset> {
    // Few lines hold the name at all, and have to be read.
    let mut candidates = heads().filter(|line| line.contains(file_name));
    candidates.find_map(|line| preset(line).filter(|preset| preset.is_for(file_name)))
}

/// Returns the preset with this name, or else the preset for the program with this name.
fn find(name: &str) -> Option<Preset> {
    let head = SECTIONS.iter().find(|section| section.name() == name);
    let named = head.and_then(|section| preset(section.first_line()));
    named.or_else(|| for_program(name))
}

/// Returns the preset that `--list-presets NAME` shows, or an error message.
pub(crate) fn named(name: &str) -> Parsed<Preset> {
    find(name).ok_or_else(|| {
        let tip = tip(name, names_and_programs(), "--list-presets alone");
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

    /// Parses a name that stands in a list.
    fn parse(name: &str, list: &str) -> Parsed<PresetName> {
        if name == "auto" {
            return Ok(PresetName::Auto);
        }
        match find(name) {
            Some(preset) => Ok(PresetName::Named(preset)),
            None => Err(Problem::new(unknown(name, list))),
        }
    }

    /// Returns true if the name selects the preset of the program with this file name.
    pub(crate) fn is_for(self, program: &str) -> bool {
        match self {
            PresetName::Auto => for_program(program).is_some(),
            PresetName::Named(preset) => preset.is_for(program),
        }
    }

    /// Returns the selected preset for a command with this file name.
    fn preset(self, program: Option<&str>) -> Option<Preset> {
        match self {
            PresetName::Auto => program.and_then(for_program),
            PresetName::Named(preset) => Some(preset),
        }
    }
}

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
    let tip = tip(name, known, "--list-presets");
    format!("{which}is not a preset{tip}")
}

/// Returns the selected presets for a command with this file name, without duplicates. Each preset comes with the
/// first name that selects it.
pub(crate) fn chosen(names: &[PresetName], program: Option<&str>) -> Vec<(PresetName, Preset)> {
    let mut chosen: Vec<(PresetName, Preset)> = Vec::new();
    for name in names {
        let preset = name.preset(program);
        let is_new = |preset: &Preset| chosen.iter().all(|(_, other)| other != preset);
        chosen.extend(preset.filter(is_new).map(|preset| (*name, preset)));
    }
    chosen
}

#[cfg(test)]
#[cfg(recorded)]
mod recorded_tests;
#[cfg(test)]
mod tests;
