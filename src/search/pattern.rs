//! Regular expressions, each in two forms: one for a block of many lines, searched by one engine for all patterns, and
//! one for a single line.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange,
};
use regex_syntax::hir::{Hir, HirKind, Look, LookSet, Repetition};

use super::clean::{BLANKS, spaces_for_blanks};

/// Returns the expression of the list with this name.
pub(crate) type List = fn(&str) -> String;

/// The case of the text that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextCase {
    AsPrinted,
    /// ASCII letters are made lowercase before the search.
    Lowercase,
}

/// A regular expression over bytes, in the syntax of the crate `regex`. `.`, classes and `\b` are those of ASCII,
/// unless the expression has characters or classes of Unicode, or says `(?u)`.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: Cow<'static, str>,
    /// Returns the expression of a list, if the expression is one of the program's own, which name lists in braces.
    list: Option<List>,
    /// As it is written. Parsed on first use if the expression is one of the program's own.
    written: OnceLock<Box<Hir>>,
    /// With both cases of each letter, if case is ignored.
    folded: OnceLock<Box<Hir>>,
    for_line: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Parses an expression of the user. Blanks of Unicode in it are spaces, as in the output ([`super::clean`]).
    pub fn parse(text: &str) -> Result<Self, Box<regex_syntax::Error>> {
        let hir = parse(&text.replace(|c: char| !c.is_ascii() && c.is_whitespace(), " "))?;
        let written = OnceLock::from(Box::new(map_leaves(&hir, &with_spaces)));
        Ok(Self::new(Cow::Owned(text.to_owned()), None, written))
    }

    /// Returns true if an expression names ESC, which no cleaned line holds: `\x1b`, `\u{1b}`, the byte itself, or `\e`
    /// and `\033`, which the syntax does not know.
    pub fn names_escape(text: &str) -> bool {
        let mut rest = text;
        while let Some(at) = rest.find(['\\', '\x1b']) {
            let Some(name) = rest[at..].strip_prefix('\\') else {
                return true;
            };
            if is_name_of_escape(name) {
                return true;
            }
            // `\\` names a backslash.
            let mut after = name.chars();
            after.next();
            rest = after.as_str();
        }
        false
    }

    /// Makes a case-insensitive pattern that is known to parse. Where it names a list, as in `{HTTP}`, `list` has the
    /// expression. Both are parsed on first use, as most runs print nothing.
    pub(crate) fn known(text: &'static str, list: List) -> Self {
        Self::new(Cow::Borrowed(text), Some(list), OnceLock::new())
    }

    fn new(text: Cow<'static, str>, list: Option<List>, written: OnceLock<Box<Hir>>) -> Self {
        Self {
            text,
            list,
            written,
            folded: OnceLock::new(),
            for_line: OnceLock::new(),
        }
    }

    /// Returns how the program's own expressions complete theirs, which ignore case.
    pub(super) fn list(&self) -> Option<List> {
        self.list
    }

    /// Returns the expression as it is written.
    pub(super) fn written(&self) -> &Hir {
        self.written
            .get_or_init(|| Box::new(parse_known(&self.text)))
    }

    /// Returns the expression with its lists and, if case is ignored, with both cases of each letter.
    fn folded(&self) -> &Hir {
        let Some(list) = self.list else {
            return self.written();
        };
        self.folded
            .get_or_init(|| Box::new(ignoring_case(&with_lists(self.written(), list))))
    }

    /// Returns how many places of the expression a search can be in at once: the work for a byte in the worst case.
    pub fn places(&self) -> usize {
        // Few places of the program's own expressions, words and `.*`, are active at once.
        if self.list.is_some() {
            self.text.len() / 32 + 1
        } else {
            count_places(self.written())
        }
    }

    /// Returns the form for a block of lines, whose text is searched in this case. The form matches in every line in which
    /// the expression matches, and perhaps in others.
    pub(super) fn for_block(&self, case: TextCase) -> Hir {
        block_form(self.folded(), case)
    }

    /// Returns true if the user ignores case, so that a search in lowercase pays off. Texts of presets are too common.
    pub(super) fn user_ignores_case(&self) -> bool {
        self.text.contains("(?i")
    }

    /// Returns the engine for one line without a line ending; None if it would be too large.
    pub(super) fn for_line(&self) -> Option<&Regex> {
        self.for_line
            .get_or_init(|| engine_for_line(self.folded()))
            .as_ref()
    }
}

/// Builds an engine for one line; None if it would be too large. It has no lazy automaton, as few lines need one.
pub(super) fn engine_for_line(hir: &Hir) -> Option<Regex> {
    let config = Regex::config()
        .utf8_empty(false)
        .nfa_size_limit(None)
        .hybrid(false);
    Regex::builder().configure(config).build_from_hir(hir).ok()
}

/// Parses an expression without Unicode, whose tables are large, unless parsing fails or the expression has characters
/// beyond ASCII.
fn parse(text: &str) -> Result<Hir, Box<regex_syntax::Error>> {
    let plain = ParserBuilder::new()
        .utf8(false)
        .unicode(!text.is_ascii())
        .build()
        .parse(text);
    if let Ok(hir) = plain {
        return Ok(hir);
    }
    ParserBuilder::new()
        .utf8(false)
        .build()
        .parse(text)
        .map_err(Box::new)
}

/// Parses an expression of the program's own. The name of a list becomes an empty group with this name.
pub(super) fn parse_known(text: &str) -> Hir {
    let mut with_groups = String::with_capacity(text.len());
    let mut rest = text;
    let mut count = 0;
    while let Some((before, after)) = rest.split_once('{') {
        with_groups.push_str(before);
        rest = after;
        match after.split_once('}') {
            Some((name, after)) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                // No two groups may have the same name.
                count += 1;
                with_groups += &format!("(?P<{name}.{count}>)");
                rest = after;
            }
            _ => with_groups.push('{'),
        }
    }
    with_groups.push_str(rest);
    parse(&with_groups).unwrap_or_else(|_| Hir::fail())
}

/// Returns the name of the list that a group of [`parse_known`] stands for.
pub(super) fn name_of_list(group: &Capture) -> Option<&str> {
    Some(group.name.as_ref()?.split_once('.')?.0)
}

/// Puts each list in its place.
fn with_lists(hir: &Hir, list: List) -> Hir {
    let completed = |part: &Hir| with_lists(part, list);
    match hir.kind() {
        HirKind::Capture(group) => match name_of_list(group) {
            Some(name) => completed(&parse_known(&list(name))),
            None => completed(&group.sub),
        },
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(completed(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(completed).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(completed).collect()),
        _ => hir.clone(),
    }
}

/// Returns true if what follows a backslash names ESC.
fn is_name_of_escape(name: &str) -> bool {
    let number = name.strip_prefix(['x', 'u', 'U']);
    let in_braces = number.and_then(|number| number.strip_prefix('{')?.split_once('}'));
    let is_number =
        in_braces.is_some_and(|(digits, _)| u32::from_str_radix(digits, 16) == Ok(0x1b));
    let is_fixed = ["x1b", "u001b", "U0000001b"].iter().any(|fixed| {
        // The letter's case tells how many digits follow.
        let start = name.get(..fixed.len()).unwrap_or_default();
        start.starts_with(&fixed[..1]) && start.eq_ignore_ascii_case(fixed)
    });
    is_number || is_fixed || name.starts_with('e') || name.starts_with("033")
}

/// Rewrites an expression for blocks: nothing matches a `\n`, anchors hold at the ends of each line, and Unicode's word
/// boundaries, which no fast engine has, hold everywhere.
fn block_form(hir: &Hir, case: TextCase) -> Hir {
    map_leaves(hir, &|leaf| leaf_for_block(leaf, case))
}

/// Rewrites a literal, class or assertion for blocks.
fn leaf_for_block(leaf: &Hir, case: TextCase) -> Hir {
    match leaf.kind() {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) if case == TextCase::Lowercase => {
            Hir::literal(literal.0.to_ascii_lowercase())
        }
        HirKind::Class(class) => Hir::class(class_for_block(class.clone(), case)),
        HirKind::Look(Look::Start | Look::StartLF | Look::StartCRLF) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End | Look::EndLF | Look::EndCRLF) => Hir::look(Look::EndLF),
        HirKind::Look(look) if LookSet::singleton(*look).contains_word_unicode() => Hir::empty(),
        _ => leaf.clone(),
    }
}

/// Rewrites each literal, class and assertion of an expression. The parser limits the nesting, and so the recursion.
fn map_leaves(hir: &Hir, map: &dyn Fn(&Hir) -> Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => map(hir),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(map_leaves(&repetition.sub, map)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => map_leaves(&capture.sub, map),
        HirKind::Concat(parts) => {
            Hir::concat(parts.iter().map(|part| map_leaves(part, map)).collect())
        }
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(|part| map_leaves(part, map)).collect())
        }
    }
}

/// Returns the expression that matches both cases of each letter of ASCII. A negated class has to name both.
pub(super) fn ignoring_case(hir: &Hir) -> Hir {
    map_leaves(hir, &|leaf| match leaf.kind() {
        HirKind::Literal(literal) => {
            Hir::concat(literal.0.iter().map(|byte| both_cases(*byte)).collect())
        }
        HirKind::Class(class) => {
            let mut class = class.clone();
            class.case_fold_simple();
            Hir::class(class)
        }
        _ => leaf.clone(),
    })
}

/// Returns an expression that matches both cases of a byte.
fn both_cases(byte: u8) -> Hir {
    let cases = [byte.to_ascii_uppercase(), byte.to_ascii_lowercase()];
    if cases[0] == cases[1] {
        return Hir::literal([byte]);
    }
    let ranges = cases.map(|case| ClassBytesRange::new(case, case));
    Hir::class(Class::Bytes(ClassBytes::new(ranges)))
}

/// Makes each blank of Unicode in a literal a space, and adds a space to a class with such a blank.
fn with_spaces(leaf: &Hir) -> Hir {
    match leaf.kind() {
        HirKind::Literal(literal) => Hir::literal(spaces_for_blanks(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            let mut blanks =
                ClassUnicode::new(BLANKS.map(|(first, last)| ClassUnicodeRange::new(first, last)));
            blanks.intersect(&class);
            if !blanks.ranges().is_empty() {
                class.push(ClassUnicodeRange::new(' ', ' '));
            }
            Hir::class(Class::Unicode(class))
        }
        _ => leaf.clone(),
    }
}

/// Removes from a class what the text of a block never holds: `\n`, and uppercase letters of ASCII if the text is in
/// lowercase. Lowercase letters then stand for both cases.
fn class_for_block(mut class: Class, case: TextCase) -> Class {
    let mut absent = vec![(b'\n', b'\n')];
    if case == TextCase::Lowercase {
        class.case_fold_simple();
        absent.push((b'A', b'Z'));
    }
    let absent = absent.into_iter();
    match &mut class {
        Class::Unicode(class) => {
            let ranges =
                absent.map(|(first, last)| ClassUnicodeRange::new(first.into(), last.into()));
            class.difference(&ClassUnicode::new(ranges));
        }
        Class::Bytes(class) => {
            let ranges = absent.map(|(first, last)| ClassBytesRange::new(first, last));
            class.difference(&ClassBytes::new(ranges));
        }
    }
    class
}

/// Counts the bytes, classes and assertions of an expression, times the limit of each repetition.
fn count_places(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        // One for each byte of a character, and more for a large table, which takes long to build.
        HirKind::Class(Class::Unicode(class)) => 4 + class.ranges().len() / 64,
        HirKind::Repetition(repetition) => {
            // `x{2,}` is two copies and a loop.
            let copies = repetition
                .max
                .unwrap_or(repetition.min.saturating_add(1))
                .max(1);
            count_places(&repetition.sub).saturating_mul(copies as usize)
        }
        HirKind::Capture(capture) => count_places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .map(count_places)
            .fold(0, usize::saturating_add),
    }
}
