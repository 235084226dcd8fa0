//! One regular expression for all patterns of a run, which finds the parts of a text where one of them may match.
//!
//! `patterns` builds it; the scanner calls it for blocks of lines, or with presets for the lines that the grams choose,
//! once it is past the bytes that the sieve alone searches.

use std::ops::Range;

use regex_automata::{Input, meta::Regex, nfa::thompson::WhichCaptures};
use regex_syntax::hir::Hir;

use super::pattern::{Pattern, TextCase};

/// Limit on the memory of an engine's lazy automaton, in bytes.
const LAZY_STATES: usize = 2 << 20;

/// One engine for several patterns, which finds that some pattern may match.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    regex: Regex,
    /// Lowercase if a pattern of the user ignores case, as the prefilter would otherwise have too many texts.
    case: TextCase,
}

impl Engine {
    /// Builds the engine for the alternation of these patterns. If the user ignores case in one of them, all text is
    /// searched in lowercase. None if it would be too large, which `patterns::MOST_PLACES` prevents: nothing would be
    /// found then.
    pub(super) fn new(patterns: &[&Pattern]) -> Option<Engine> {
        let case = if patterns.iter().any(|pattern| pattern.user_ignores_case()) {
            TextCase::Lowercase
        } else {
            TextCase::AsPrinted
        };
        let forms = patterns.iter().map(|pattern| pattern.for_block(case));
        let form = Hir::alternation(forms.collect());
        let config = Regex::config()
            // Only asked if something matches.
            .which_captures(WhichCaptures::None)
            .utf8_empty(false)
            .nfa_size_limit(None)
            .hybrid_cache_capacity(LAZY_STATES);
        let regex = Regex::builder()
            .configure(config)
            .build_from_hir(&form)
            .ok()?;
        Some(Engine { regex, case })
    }

    /// Returns true if a pattern may match in this part of a text: of whole lines, whose ends may not be cleaned yet,
    /// or of one long line. Bytes around the part are only looked at by assertions. False is certain; after true, each
    /// line and pattern has to be searched by itself.
    pub(super) fn may_match(&self, text: &[u8], part: Range<usize>) -> bool {
        match self.case {
            TextCase::AsPrinted => self.regex.is_match(Input::new(text).range(part)),
            TextCase::Lowercase => {
                let text = text.to_ascii_lowercase();
                self.regex.is_match(Input::new(&text).range(part))
            }
        }
    }
}
