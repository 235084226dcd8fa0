//! Regular expressions, each in two forms: one for a block of many lines, searched by one engine for all patterns, and
//! one for a single line, which decides. The form for blocks may find too much, but never too little. For the program's
//! own expressions, which are many, the sieve (`super::sieve`) builds only a part of the second form for each line.
//!
//! An expression is a tree (`Hir`, of the crate `regex-syntax`), so that both forms can be made by changing its leaves:
//! the literals, classes and assertions.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange,
};
use regex_syntax::hir::{Hir, HirKind, Look, LookSet, Repetition};

use super::clean::blanks::{BLANKS, spaces_for_blanks};

/// A function that returns the expression of the list with this name.
pub(crate) type Lists = fn(&str) -> String;

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
    lists: Option<Lists>,
    /// As it is written, but without groups and with spaces for other blanks if it is the user's. Parsed on first use
    /// if it is one of the program's own.
    written: OnceLock<Box<Hir>>,
    /// With both cases of each letter, if case is ignored.
    folded: OnceLock<Box<Hir>>,
    /// None if it would be too large.
    for_line: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Parses an expression of the user. In the cleaned output each blank of Unicode is a space ([`super::clean`]), so
    /// blanks in the expression become spaces, too, typed or named by an escape (`\u{a0}`): only once it is parsed, as
    /// a blank may be the end of a range. Returns the parser's error, which shows the place of the mistake.
    pub fn parse(text: &str) -> Result<Self, Box<regex_syntax::Error>> {
        let hir = parse(text)?;
        let written = OnceLock::from(Box::new(map_leaves(&hir, &with_spaces)));
        Ok(Self::new(Cow::Owned(text.to_owned()), None, written))
    }

    /// Returns true if an expression names ESC: `\x1b`, `\u{1b}`, the byte itself, or `\e` and `\033`, which the syntax
    /// does not know. The caller refuses such an expression: no cleaned line holds ESC, so that it could never match,
    /// or the name is of no use, as in `[^\x1b]`.
    pub fn names_escape(text: &str) -> bool {
        let mut unread = text;
        while let Some(found) = unread.find(['\\', '\x1b']) {
            let Some(after_backslash) = unread[found..].strip_prefix('\\') else {
                // ESC itself.
                return true;
            };
            if is_name_of_escape(after_backslash) {
                return true;
            }
            // The next character belongs to the backslash: `\\` names one.
            let mut characters = after_backslash.chars();
            characters.next();
            unread = characters.as_str();
        }
        false
    }

    /// Makes a case-insensitive pattern that is known to parse. If it names a list, as in `{HTTP}`, `lists` has the
    /// expression. Both are parsed on first use, as most runs print nothing.
    pub(crate) fn known(text: &'static str, lists: Lists) -> Self {
        Self::new(Cow::Borrowed(text), Some(lists), OnceLock::new())
    }

    /// Returns a pattern whose forms are made on first use. `written` is the parsed expression, or empty for one of the
    /// program's own, which is parsed on first use as well.
    fn new(text: Cow<'static, str>, lists: Option<Lists>, written: OnceLock<Box<Hir>>) -> Self {
        Self {
            text,
            lists,
            written,
            folded: OnceLock::new(),
            for_line: OnceLock::new(),
        }
    }

    /// Returns the function that has the lists which one of the program's own expressions names. None for an expression
    /// of the user, by which callers also tell the two apart: only the program's own ignore case whatever their text.
    pub(super) fn lists(&self) -> Option<Lists> {
        self.lists
    }

    /// Returns the expression as it is written (see the field): one of the program's own still with groups for its
    /// lists, and without both cases of each letter.
    pub(super) fn written(&self) -> &Hir {
        self.written
            .get_or_init(|| Box::new(parse_known(&self.text)))
    }

    /// Returns the expression that is searched for. One of the program's own, which has lists and ignores case, gets
    /// its lists and both cases of each letter; one of the user stays as it is: it names no list, and the parser has
    /// followed its `(?i)`.
    fn folded(&self) -> &Hir {
        let Some(lists) = self.lists else {
            return self.written();
        };
        self.folded
            .get_or_init(|| Box::new(ignoring_case(&with_lists(self.written(), lists))))
    }

    /// Returns how many places of the expression a search can be in at once: the work for a byte in the worst case. The
    /// more there are in all patterns, the fewer bytes the scanner searches at once, so that signals are heard soon;
    /// over `patterns::MOST_PLACES`, the patterns are refused.
    pub fn places(&self) -> usize {
        // Few places of the program's own expressions, words and `.*`, are active at once: about one in 32 characters.
        // Lists count as their names: of their many branches, few are active, too.
        if self.lists.is_some() {
            self.text.len() / 32 + 1
        } else {
            count_places(self.written())
        }
    }

    /// Returns the form for a block of lines, whose text is searched in this case. The form matches in every line in
    /// which the expression matches, and perhaps in others.
    pub(super) fn for_block(&self, case: TextCase) -> Hir {
        block_form(self.folded(), case)
    }

    /// Returns the form whose literals are looked for, in any case: that for a block in lowercase. Made from the
    /// expression as it is written, where a letter is a literal and no class of both cases.
    pub(crate) fn for_literals(&self) -> Hir {
        let written = match self.lists {
            Some(lists) => with_lists(self.written(), lists),
            None => self.written().clone(),
        };
        block_form(&written, TextCase::Lowercase)
    }

    /// Returns true if the user ignores case, so that blocks are better searched in lowercase: with both cases of each
    /// letter, there are too many texts to look for fast. Expressions of presets ignore case, too, but do not count, as
    /// their words are too common for that to pay off. A wrong answer costs only time.
    pub(super) fn user_ignores_case(&self) -> bool {
        self.text.contains("(?i")
    }

    /// Returns the engine that decides if one line, without its line ending, matches; not asked if there is a sieve. It
    /// is built at the first call. None if it would be too large, which the limit on [`Pattern::places`] prevents: the
    /// pattern would then never match.
    pub(super) fn for_line(&self) -> Option<&Regex> {
        self.for_line
            .get_or_init(|| engine_for_line(self.folded()))
            .as_ref()
    }
}

/// Builds an engine that searches one line; None if it would be too large for the crate. It has no lazy automaton,
/// which costs memory and pays off only on long texts. It sets no limit on the size itself: a run with too many
/// [`Pattern::places`] was refused before.
pub(super) fn engine_for_line(hir: &Hir) -> Option<Regex> {
    let config = Regex::config()
        // The text may be no UTF-8.
        .utf8_empty(false)
        .nfa_size_limit(None)
        .hybrid(false);
    Regex::builder().configure(config).build_from_hir(hir).ok()
}

/// Parses an expression: if its text has only ASCII, first without Unicode, whose tables make large and slow engines:
/// `\w` is then that of ASCII. If that fails, as for `\p{Greek}`, with Unicode. The error is that of the last try.
fn parse(text: &str) -> Result<Hir, Box<regex_syntax::Error>> {
    let plain = ParserBuilder::new()
        // The expression may match bytes that are no UTF-8, as output may have them.
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

/// Parses an expression of the program's own. The name of a list, as in `{HTTP}`, becomes an empty group with this
/// name, in whose place [`with_lists`] puts the list. So `\p{Greek}` would be taken for a list, and `{HTTP}{3}` would
/// match once, as the parser takes an empty group for the same however often it is repeated. An expression that does
/// not parse matches nothing; tests make sure that each one parses.
pub(super) fn parse_known(text: &str) -> Hir {
    let mut with_groups = String::with_capacity(text.len());
    let mut unread = text;
    let mut lists = 0;
    while let Some((before, after_brace)) = unread.split_once('{') {
        with_groups.push_str(before);
        unread = after_brace;
        match after_brace.split_once('}') {
            Some((name, after)) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                // No two groups may have the same name, but a list may be named twice.
                lists += 1;
                with_groups += &format!("(?P<{name}.{lists}>)");
                unread = after;
            }
            // A repetition such as `{2}`.
            _ => with_groups.push('{'),
        }
    }
    with_groups.push_str(unread);
    parse(&with_groups).unwrap_or_else(|_| Hir::fail())
}

/// Returns the name of the list that a group of [`parse_known`] stands for; None for any other group.
pub(super) fn name_of_list(group: &Capture) -> Option<&str> {
    Some(group.name.as_ref()?.split_once('.')?.0)
}

/// Returns the expression with each list in the place of the group that [`parse_known`] has made for its name, and
/// without other groups, which no search needs. A list may name other lists, but not itself: this would never end.
pub(super) fn with_lists(hir: &Hir, lists: Lists) -> Hir {
    let completed = |part: &Hir| with_lists(part, lists);
    match hir.kind() {
        HirKind::Capture(group) => match name_of_list(group) {
            Some(name) => completed(&parse_known(&lists(name))),
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

/// Returns true if ESC is what this text, which follows a backslash in an expression, names at its beginning: `x1B`,
/// `x{1b}`, `e`, `033`.
fn is_name_of_escape(after_backslash: &str) -> bool {
    let number = after_backslash.strip_prefix(['x', 'u', 'U']);
    let in_braces = number.and_then(|number| number.strip_prefix('{')?.split_once('}'));
    let is_number =
        in_braces.is_some_and(|(digits, _)| u32::from_str_radix(digits, 16) == Ok(0x1b));
    let is_fixed = ["x1b", "u001b", "U0000001b"].iter().any(|fixed| {
        // The case of the letter counts, as it tells how many digits follow; that of the digits does not.
        let begin = after_backslash.get(..fixed.len()).unwrap_or_default();
        begin.starts_with(&fixed[..1]) && begin.eq_ignore_ascii_case(fixed)
    });
    is_number || is_fixed || after_backslash.starts_with('e') || after_backslash.starts_with("033")
}

/// Rewrites an expression for the search in a block of lines; see [`leaf_for_block`].
fn block_form(hir: &Hir, case: TextCase) -> Hir {
    map_leaves(hir, &|leaf| leaf_for_block(leaf, case))
}

/// Rewrites a literal, class or assertion for the search in a block, so that no match reaches into the next line:
/// nothing matches `\n`, and `^` and `$` hold at each line, as `\A` and `\z` do, also at a CR, as the scanner searches
/// blocks before the cleaner has made an LF of it. For text in lowercase, letters are lowercase. Word boundaries of
/// Unicode, which no fast engine has, hold everywhere: a line that is found by mistake is searched once more.
fn leaf_for_block(leaf: &Hir, case: TextCase) -> Hir {
    match leaf.kind() {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) if case == TextCase::Lowercase => {
            Hir::literal(literal.0.to_ascii_lowercase())
        }
        HirKind::Class(class) => Hir::class(class_for_block(class.clone(), case)),
        HirKind::Look(Look::Start | Look::StartLF | Look::StartCRLF) => Hir::look(Look::StartCRLF),
        HirKind::Look(Look::End | Look::EndLF | Look::EndCRLF) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) if LookSet::singleton(*look).contains_word_unicode() => Hir::empty(),
        _ => leaf.clone(),
    }
}

/// Returns the expression with each leaf (literal, class, assertion or nothing) replaced by what `map` makes of it, and
/// without groups: lists, whose names are groups at first, have to be in place before. The parser limits the nesting,
/// and so the recursion.
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

/// Returns the expression that matches both cases of each letter of ASCII. `(?i)` in the text would make the parser do
/// that, but the program's own expressions are parsed only once, as they are written, for the sieve (`super::sieve`),
/// which looks for their words. The parser has turned `[^a]` into a class with an `A`, which gets its `a` back here: an
/// expression has to say `[^aA]`.
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

/// Returns an expression that matches both cases of a byte, or the byte itself if it is no letter of ASCII.
fn both_cases(byte: u8) -> Hir {
    let cases = [byte.to_ascii_uppercase(), byte.to_ascii_lowercase()];
    if cases[0] == cases[1] {
        return Hir::literal([byte]);
    }
    let ranges = cases.map(|case| ClassBytesRange::new(case, case));
    Hir::class(Class::Bytes(ClassBytes::new(ranges)))
}

/// Makes each blank of Unicode in a literal a space, and adds a space to a class with such a blank: in the cleaned
/// output, each of them is a space. A class keeps its blanks, which match nothing there. Other leaves stay.
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

/// Removes from a class what a match in a block must not hold: `\n`, which would lead into the next line, and, if the
/// text is in lowercase, uppercase letters of ASCII. For such a text the class first gets both cases of each letter, so
/// that `[A-F]` becomes `[a-f]`.
fn class_for_block(mut class: Class, case: TextCase) -> Class {
    // Ranges, each from its first byte to its last.
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

/// Counts the bytes, classes and assertions of an expression, times the limit of each repetition: about the states that
/// its engine has. Saturates, so that `(x{1000}){1000}` and more cannot overflow, and is refused as any other that is
/// too large ([`Pattern::places`]).
fn count_places(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        // One for each byte of a character, and more for a large table, which takes long to build.
        HirKind::Class(Class::Unicode(class)) => 4 + class.ranges().len() / 64,
        HirKind::Repetition(repetition) => {
            // `x{2,}` is two copies and a loop.
            let copies = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            count_places(&repetition.sub).saturating_mul(copies as usize)
        }
        HirKind::Capture(capture) => count_places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .map(count_places)
            .fold(0, usize::saturating_add),
    }
}
