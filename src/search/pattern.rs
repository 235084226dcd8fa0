//! A regular expression that is looked for in lines: one at a time, or many at once.
//!
//! Of each expression there is a second, looser one that can be run over a block of many lines at once: it
//! cannot match a `\n`, its anchors hold at every line's ends, and it has forgotten what would be slow there.
//! It matches in every line in which the true one does, and perhaps in others; so the true one is only run on
//! the lines that it points out.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition,
};

use super::lanes::Lanes;

/// The most memory that a compiled expression may take, in bytes.
pub const LARGEST_PATTERN: usize = 10 << 20;

/// How deep an expression's groups, brackets and repetitions may nest.
pub const DEEPEST_PATTERN: u32 = 250;

/// A regular expression, in the syntax of the crate `regex`, over bytes: `.` and classes are of
/// Unicode characters unless `(?-u)` says otherwise, and bytes that are not UTF-8 match none of them.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    /// For a block of lines: matches in every line in which `exact` does.
    loose: OnceLock<Option<Regex>>,
    /// For one line. Most runs never need it, and it takes as long to build as `loose`.
    exact: OnceLock<Option<Regex>>,
    /// For much output, where `loose` is slow.
    lanes: OnceLock<Option<Lanes>>,
    syntax: Hir,
}

impl Pattern {
    /// Reads an expression, without building what it takes to look for it: that is nearly all of the work. The
    /// error is the rest of a sentence about it, on one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let syntax = ParserBuilder::new()
            .utf8(false)
            .nest_limit(DEEPEST_PATTERN)
            .build()
            .parse(text)
            .map_err(|error| not_one(&error))?;
        Ok(Self {
            text: text.to_owned(),
            loose: OnceLock::new(),
            exact: OnceLock::new(),
            lanes: OnceLock::new(),
            syntax,
        })
    }

    /// Reads an expression and builds what it takes to look for it.
    pub fn compile(text: &str) -> Result<Self, String> {
        let pattern = Self::parse(text)?;
        pattern.build()?;
        Ok(pattern)
    }

    /// Builds what it takes to look for it. It may be too large.
    pub fn build(&self) -> Result<(), String> {
        match self.loose() {
            Some(_) => Ok(()),
            None => {
                let limit = LARGEST_PATTERN >> 20;
                Err(format!(
                    "is too large a regular expression (more than {limit} MiB when compiled); try smaller repetitions"
                ))
            }
        }
    }

    fn loose(&self) -> Option<&Regex> {
        let build = || build(&loosened(&self.syntax), Some(LARGEST_PATTERN));
        self.loose.get_or_init(build).as_ref()
    }

    /// What is faster than `loose`, where that does not go by the bytes of a literal.
    fn lanes(&self) -> Option<&Lanes> {
        let build = || match self.loose() {
            Some(loose) if !loose.is_accelerated() => Lanes::new(&loosened(&self.syntax)),
            _ => None,
        };
        self.lanes.get_or_init(build).as_ref()
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first match in a span of a line, given without its end.
    pub(super) fn find(&self, line: &[u8], span: Range<usize>) -> Option<Range<usize>> {
        // `loose` was within the limit, and this one is about its size: it needs none.
        let exact = self.exact.get_or_init(|| build(&self.syntax, None)).as_ref()?;
        Some(exact.find(Input::new(line).span(span))?.range())
    }

    /// The first match in a block of whole lines, given without the last `\n`. `is_much` says that it is one of many
    /// blocks.
    pub(super) fn find_in_lines(&self, block: &[u8], is_much: bool) -> Option<Range<usize>> {
        let loose = self.loose()?;
        if is_much && self.lanes().is_some_and(|lanes| !lanes.may_match(block)) {
            return None;
        }
        let mut from = 0;
        while from <= block.len() {
            let hint = loose.search_half(&Input::new(block).range(from..))?.offset();
            let begin = memrchr(b'\n', &block[..hint]).map_or(0, |at| at + 1);
            let end = memchr(b'\n', &block[hint..]).map_or(block.len(), |at| hint + at);
            let line = without_cr(&block[begin..end]);
            if let Some(found) = self.find(line, 0..line.len()) {
                return Some(begin + found.start..begin + found.end);
            }
            from = end + 1;
        }
        None
    }

    /// The first match in a span of one line, which may be long.
    pub(super) fn find_in_window(&self, line: &[u8], span: Range<usize>) -> Option<Range<usize>> {
        self.loose()?.search_half(&Input::new(line).span(span.clone()))?;
        self.find(line, span)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

/// The expressions to be looked for, each known by its index. Streams share one set: what has been
/// found in a stream is known to its [`Scanner`](super::scan::Scanner).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// A set in the order of its indices.
    pub fn new(patterns: Vec<Pattern>) -> Self {
        Self(patterns)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The expressions in the order of their indices.
    pub fn as_slice(&self) -> &[Pattern] {
        &self.0
    }
}

pub(super) fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `None` if it is larger than the limit.
fn build(syntax: &Hir, limit: Option<usize>) -> Option<Regex> {
    Regex::builder()
        // The lazy automaton alone: a whole one takes its time before the first line.
        .configure(Regex::config().utf8_empty(false).nfa_size_limit(limit).dfa(false))
        .build_from_hir(syntax)
        .ok()
}

fn not_one(error: &regex_syntax::Error) -> String {
    // Only the kind: the whole message draws the expression on several lines.
    let kind = match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "its syntax is unknown".to_owned(),
    };
    format!("is not a regular expression ({kind}); try 'connection (refused|reset)'")
}

/// An expression that matches in every line of a block in which the given one matches by itself. It
/// matches in others too: at a `\r` within a line, or at the one that belongs to the line's end, and
/// where a word boundary would have been asked for.
///
/// The nesting is limited by the parser, and so is the recursion.
fn loosened(syntax: &Hir) -> Hir {
    match syntax.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(look) => match look {
            Look::Start | Look::StartLF | Look::StartCRLF => Hir::look(Look::StartCRLF),
            Look::End | Look::EndLF | Look::EndCRLF => Hir::look(Look::EndCRLF),
            // The fast engines give up on these at the first byte that is not ASCII.
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode => Hir::empty(),
            // A `\n`, a `\r` and the end of the text are the same to these.
            Look::WordAscii
            | Look::WordAsciiNegate
            | Look::WordStartAscii
            | Look::WordEndAscii
            | Look::WordStartHalfAscii
            | Look::WordEndHalfAscii => Hir::look(*look),
        },
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(loosened(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(Capture { sub, .. }) => loosened(sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(loosened).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(loosened).collect()),
    }
}
