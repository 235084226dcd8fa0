//! A regular expression, and what it takes to look for it in lines: one at a time, or many at once.
//!
//! Of each expression there is a second, looser one that can be run over a block of many lines at once: it
//! cannot match a `\n`, its anchors hold at every line's ends, and it has forgotten what would be slow there.
//! It matches in every line in which the true one does, and perhaps in others; so the true one is only run on
//! the lines that it points out.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_automata::hybrid::dfa::Config;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::NFA;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

use super::fuel;
use super::lanes::Lanes;
use super::loosened::loosened;
use super::size;
use super::threads;
use super::walk::Walker;

/// The most memory that a compiled expression may take, in bytes.
const LARGEST_PATTERN: usize = 10 << 20;

/// One that takes more, in bytes, takes long to compile: nothing of it is left for later.
const LARGE_PATTERN: usize = 256 << 10;

/// One that takes no more than this for sure, in bytes, need not be built to know that it is within the limits.
pub(crate) const MAY_WAIT: usize = 512 << 10;

/// How deep an expression's groups, brackets and repetitions may nest.
const DEEPEST_PATTERN: u32 = 250;

/// The most memory of a set's lazy automata of one kind, in bytes, together and for one of them.
const STATES: [usize; 2] = [32 << 20, 2 << 20];

/// Where one has less than this, in bytes, it has to be seen whether it can work with it.
const ENOUGH_STATES: usize = 1 << 20;

/// The most memory of automata that are made whole. It bounds the time to build one, too: some ten milliseconds.
const LANES: [usize; 2] = [32 << 20, 512 << 10];

/// A regular expression, in the syntax of the crate `regex`, over bytes: `.` and classes are of
/// Unicode characters unless `(?-u)` says otherwise, and bytes that are not UTF-8 match none of them.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: Cow<'static, str>,
    /// Words of which each match contains one, in letters of any case, with a `|` between them. Only those that come with
    /// the program have some.
    pub(super) words: Option<&'static str>,
    /// One that is known to be right is read when there is something to search.
    syntax: OnceLock<Box<Syntax>>,
    /// How many expressions share the memory.
    pub(super) sharers: usize,
    /// Of most expressions none is ever needed.
    engines: OnceLock<Box<Engines>>,
}

/// What it takes to look for an expression, each built when it is first needed.
#[derive(Debug, Clone, Default)]
struct Engines {
    /// For a block of lines: matches in every line in which `exact` does.
    loose: OnceLock<Option<Regex>>,
    /// For one line. Most runs never need it, and it takes as long to build as `loose`.
    exact: OnceLock<Option<Regex>>,
    /// For much output, where `loose` is slow.
    lanes: OnceLock<Option<Lanes>>,
    /// For what would take `loose` long.
    walker: OnceLock<Option<Walker>>,
    /// For what would take `exact` long.
    threads: OnceLock<Option<NFA>>,
}

/// An expression that has been read.
#[derive(Debug, Clone)]
struct Syntax {
    hir: Hir,
    /// See [`fuel::places`].
    places: u64,
}

impl Syntax {
    fn new(hir: Hir) -> Syntax {
        let places = fuel::places(&hir);
        Syntax { hir, places }
    }
}

impl Pattern {
    /// Reads an expression, without building what it takes to look for it: that is nearly all of the work. The
    /// error is the rest of a sentence about it, on one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let hir = ParserBuilder::new()
            .utf8(false)
            .nest_limit(DEEPEST_PATTERN)
            .build()
            .parse(text)
            .map_err(|error| syntax_error(&error))?;
        let pattern = Self::of(text.to_owned().into(), None);
        let _ = pattern.syntax.set(Box::new(Syntax::new(hir)));
        Ok(pattern)
    }

    /// An expression that comes with the program, for letters of any case: it is read only when there is something to
    /// search. A test finds one that cannot be read; it matches nothing.
    pub(crate) fn known(text: &'static str, words: Option<&'static str>) -> Self {
        Self::of(text.into(), words)
    }

    fn of(text: Cow<'static, str>, words: Option<&'static str>) -> Self {
        Self {
            text,
            words,
            syntax: OnceLock::new(),
            sharers: 1,
            engines: OnceLock::new(),
        }
    }

    fn syntax(&self) -> &Syntax {
        self.syntax.get_or_init(|| {
            // Classes of Unicode are large, and texts of tools are ASCII.
            let is_unicode = !self.text.is_ascii();
            let parsed = ParserBuilder::new()
                .utf8(false)
                .case_insensitive(true)
                .unicode(is_unicode)
                .build()
                .parse(&self.text);
            Box::new(Syntax::new(parsed.unwrap_or_else(|_| Hir::fail())))
        })
    }

    fn hir(&self) -> &Hir {
        &self.syntax().hir
    }

    /// As if no engine could search it fast.
    #[cfg(test)]
    pub(super) fn seem_slow(&mut self) {
        let hir = self.hir().clone();
        let places = u64::MAX;
        self.syntax = OnceLock::from(Box::new(Syntax { hir, places }));
    }

    pub(super) fn places(&self) -> u64 {
        self.syntax().places
    }

    /// Reads an expression and builds what it takes to look for it.
    pub fn compile(text: &str) -> Result<Self, String> {
        let pattern = Self::parse(text)?;
        pattern.build()?;
        Ok(pattern)
    }

    /// The most memory that it may take when it is built, in bytes.
    pub(crate) fn most_size(&self) -> usize {
        size::most(self.hir())
    }

    /// Builds what it takes to look for it. It may be too large. How much memory it takes, in bytes.
    pub fn build(&self) -> Result<usize, String> {
        let Some(loose) = self.loose() else {
            let limit = LARGEST_PATTERN >> 20;
            return Err(format!(
                "is too large a regular expression (more than {limit}MiB when compiled); try smaller repetitions"
            ));
        };
        let size = loose.memory_usage();
        if size > LARGE_PATTERN {
            self.exact();
            self.walker();
            self.threads();
        }
        Ok(size)
    }

    fn engines(&self) -> &Engines {
        self.engines.get_or_init(Box::default)
    }

    pub(super) fn loose(&self) -> Option<&Regex> {
        let build = || self.regex(&loosened(self.hir()), Some(LARGEST_PATTERN));
        self.engines().loose.get_or_init(build).as_ref()
    }

    pub(super) fn exact(&self) -> Option<&Regex> {
        // `loose` was within the limit, and this one is about its size: it needs none.
        self.engines()
            .exact
            .get_or_init(|| self.regex(self.hir(), None))
            .as_ref()
    }

    /// `None` if it is larger than the limit.
    fn regex(&self, syntax: &Hir, limit: Option<usize>) -> Option<Regex> {
        let config = Regex::config()
            .utf8_empty(false)
            .nfa_size_limit(limit)
            .hybrid_cache_capacity(self.room_for_states(syntax))
            // The lazy automaton alone: a whole one takes its time before the first line.
            .dfa(false);
        Regex::builder().configure(config).build_from_hir(syntax).ok()
    }

    /// For a lazy automaton of this form. It is not used if it has not room for a few states.
    fn room_for_states(&self, syntax: &Hir) -> usize {
        let share = self.share(STATES);
        if share >= ENOUGH_STATES {
            return share;
        }
        let config = Config::new().unicode_word_boundary(true);
        let least = threads::automaton(syntax, Some(LARGEST_PATTERN))
            .and_then(|automaton| config.get_minimum_cache_capacity(&automaton).ok());
        // It is one for each direction.
        share.max(2 * least.unwrap_or(0))
    }

    /// What is faster than `loose`, where that does not go by the bytes of a literal.
    pub(super) fn lanes(&self) -> Option<&Lanes> {
        let build = || match self.loose() {
            Some(loose) if !loose.is_accelerated() => Lanes::new(&loosened(self.hir()), self.share(LANES)),
            _ => None,
        };
        self.engines().lanes.get_or_init(build).as_ref()
    }

    pub(super) fn walker(&self) -> Option<&Walker> {
        let build = || Walker::new(&loosened(self.hir()), self.places(), self.share(STATES));
        self.engines().walker.get_or_init(build).as_ref()
    }

    pub(super) fn threads(&self) -> Option<&NFA> {
        self.engines()
            .threads
            .get_or_init(|| threads::automaton(self.hir(), None))
            .as_ref()
    }

    /// Whether the lanes have still to be built, which takes some time.
    pub(super) fn is_without_lanes(&self) -> bool {
        self.engines().lanes.get().is_none()
    }

    /// Whether the true one has still to be built, which takes some time.
    pub(super) fn is_without_exact(&self) -> bool {
        self.engines().exact.get().is_none()
    }

    /// Its share of the memory of a set.
    fn share(&self, [all, most]: [usize; 2]) -> usize {
        (all / self.sharers.max(1)).min(most)
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

fn syntax_error(error: &regex_syntax::Error) -> String {
    // Only the kind: the whole message draws the expression on several lines.
    let kind = match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "its syntax is unknown".to_owned(),
    };
    format!("is not a regular expression ({kind}); try 'connection (refused|reset)'")
}

#[cfg(test)]
mod tests;
