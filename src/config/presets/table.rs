//! The table `presets.tsv` as text: its sections, columns and lists. Nothing here knows what a row means. A start must
//! be fast, so the compiler finds the sections, and only the lines of those that are used are read.

use std::borrow::Cow;

pub(super) const TABLE: &str = include_str!("../presets.tsv");

/// Lines of the table with the same name in the first column, which stand together, perhaps with comments between and
/// after them. The fields are offsets in [`TABLE`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// The first letter of the name, at which the first line begins.
    begin: usize,
    /// The tab after the name.
    name_end: usize,
    /// After the line break of the first line.
    first_line_end: usize,
    /// After the line break of the last line.
    end: usize,
}

/// All sections. The compiler finds them, as reading the whole table would slow down each start.
pub(super) static SECTIONS: [Section; count_sections()] = sections();

impl Section {
    const EMPTY: Section = Section {
        begin: 0,
        name_end: 0,
        first_line_end: 0,
        end: 0,
    };

    /// Returns the section that begins at this offset, or after the comments there; an empty one at the end of the
    /// table. Loops over bytes, as the compiler can run neither iterators nor searches of `str`.
    const fn at(offset: usize) -> Section {
        let table = TABLE.as_bytes();
        let mut begin = offset;
        while begin < table.len() && table[begin] == b'#' {
            begin = next_line(begin);
        }
        let mut name_end = begin;
        while name_end < table.len() && table[name_end] != b'\t' {
            name_end += 1;
        }
        let mut section = Section {
            begin,
            name_end,
            first_line_end: next_line(begin),
            // Grows line by line; the first line begins with the name, too.
            end: begin,
        };
        while section.continues() {
            section.end = next_line(section.end);
        }
        section
    }

    /// Returns true if the line at `end`, up to which the section is known so far, also belongs to the section: if the
    /// line is a comment, or begins with the section's name and a tab. False at the end of the table.
    const fn continues(&self) -> bool {
        let table = TABLE.as_bytes();
        let mut in_line = self.end;
        if in_line < table.len() && table[in_line] == b'#' {
            return true;
        }
        let mut in_name = self.begin;
        while in_name <= self.name_end && in_line < table.len() && table[in_line] == table[in_name]
        {
            in_name += 1;
            in_line += 1;
        }
        in_name > self.name_end
    }

    pub(super) fn name(&self) -> &'static str {
        &TABLE[self.begin..self.name_end]
    }

    pub(super) fn first_line(&self) -> &'static str {
        TABLE[self.begin..self.first_line_end].trim_end()
    }

    fn lines(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        TABLE[self.begin..self.end].lines()
    }
}

/// Returns the offset at which the next line begins, after the line that holds this offset. Each line of the table, the
/// last one too, must end with a line break.
const fn next_line(mut offset: usize) -> usize {
    let table = TABLE.as_bytes();
    while offset < table.len() && table[offset] != b'\n' {
        offset += 1;
    }
    offset + 1
}

/// Returns the number of sections, which the type of [`SECTIONS`] needs.
const fn count_sections() -> usize {
    let mut count = 0;
    let mut section = Section::at(0);
    while section.begin < section.end {
        count += 1;
        section = Section::at(section.end);
    }
    count
}

/// Returns all sections, in the order of the table.
const fn sections() -> [Section; count_sections()] {
    let mut all = [Section::EMPTY; count_sections()];
    let mut offset = 0;
    let mut count = 0;
    while count < all.len() {
        all[count] = Section::at(offset);
        offset = all[count].end;
        count += 1;
    }
    all
}

/// Returns the lines that describe presets. Each is a section of its own, before all lists; the rows of a preset are a
/// later section with the same name.
pub(super) fn preset_lines() -> impl Iterator<Item = &'static str> + Clone {
    let of_presets = SECTIONS
        .iter()
        .take_while(|section| TABLE[section.name_end..].starts_with("\tpreset\t"));
    of_presets.map(Section::first_line)
}

/// Returns the five columns of a line without its line feed, or None if it has fewer, as a comment has. A start with a
/// preset reads many lines, so this only looks for the four tabs, and copies nothing.
pub(super) fn columns(line: &'static str) -> Option<[&'static str; 5]> {
    let mut tabs = line.bytes().enumerate().filter(|(_, byte)| *byte == b'\t');
    let first = tabs.next()?.0;
    let second = tabs.next()?.0;
    let third = tabs.next()?.0;
    let fourth = tabs.next()?.0;
    Some([
        &line[..first],
        &line[first + 1..second],
        &line[second + 1..third],
        &line[third + 1..fourth],
        &line[fourth + 1..],
    ])
}

/// Returns the lines of a list, or the rows of a preset, perhaps with comments; none if there is no such name.
pub(super) fn lines_of(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    // From the end, as the line that describes a preset has the same name as its rows, and stands before them.
    let section = SECTIONS.iter().rev().find(|section| section.name() == name);
    section.unwrap_or(&Section::EMPTY).lines()
}

/// Returns the expression with each `{NAME}` replaced by the list of this name, as an alternation, and so on for the
/// lists that it names. `{2}` is a repetition, and stays. A list that is missing would match every line: a test checks
/// that all are there.
pub(super) fn expanded(text: &'static str) -> Cow<'static, str> {
    let Some((before, name, after)) = split_at_list(text) else {
        return text.into();
    };
    let parts: Vec<_> = texts_of_list(name).map(expanded).collect();
    format!("{before}(?:{}){}", parts.join("|"), expanded(after)).into()
}

/// Returns the expressions of the list with this name, one for each line.
pub(super) fn texts_of_list(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    lines_of(name).filter_map(columns).map(|columns| columns[3])
}

/// Returns what stands before the first name of a list in a text, the name, and what stands after it; None if the text
/// names none. Names begin with a capital letter, repetitions such as `{2}` with a digit.
pub(super) fn split_at_list(
    text: &'static str,
) -> Option<(&'static str, &'static str, &'static str)> {
    for (brace, _) in text.match_indices('{') {
        let (name, after) = text[brace + 1..].split_once('}')?;
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Some((&text[..brace], name, after));
        }
    }
    None
}
