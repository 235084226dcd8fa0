//! One look for many expressions.
//!
//! Nearly each expression about failures has words that a match must contain: `could not resolve host: \S+` has
//! "could not resolve host: ". One automaton looks for the words of all expressions at once, and an expression is run,
//! and built, only where one of its words has been seen. It is done for those that come with the program: there are many,
//! and they bring their words along, as to read an expression takes longer than all else that is done before the first
//! line. Those of the user are few.
//!
//! It is for what most commands print: little. What finds each expression by itself takes longer to build, and is faster
//! then.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::pattern::Pattern;

#[cfg(test)]
pub(super) mod needed;

#[derive(Debug, Clone)]
pub(super) struct Words {
    automaton: AhoCorasick,
    /// For each word the index of its expression.
    expressions: Vec<usize>,
    /// What holds for each expression before a word has been seen.
    at_first: Vec<bool>,
}

impl Words {
    /// `None` if no expression comes with the program.
    pub(super) fn new(patterns: &[Pattern]) -> Option<Words> {
        let (mut words, mut expressions) = (Vec::new(), Vec::new());
        let mut at_first = vec![true; patterns.len()];
        for (index, pattern) in patterns.iter().enumerate() {
            let Some(needed) = pattern.words else {
                continue;
            };
            at_first[index] = false;
            for word in needed.split('|') {
                words.push(word);
                expressions.push(index);
            }
        }
        if words.is_empty() {
            return None;
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // Not the fastest to search with, but soon there.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(true)
            .build(&words)
            .ok()?;
        Some(Words {
            automaton,
            expressions,
            at_first,
        })
    }

    /// For each expression whether it may match in this text.
    pub(super) fn candidates(&self, text: &[u8]) -> Vec<bool> {
        let mut candidates = self.at_first.clone();
        for word in self.automaton.find_overlapping_iter(text) {
            candidates[self.expressions[word.pattern().as_usize()]] = true;
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_a_candidate_where_one_of_its_words_stands() {
        let owned = Pattern::parse("owned").unwrap();
        let known = [
            ("Could not connect", Some("Could not co")),
            ("connection (reset|refused)", Some("reset|refused")),
            (r"\d+", None),
            ("not co", Some("not co")),
        ];
        let known = known.map(|(text, words)| Pattern::known(text, words));
        let patterns: Vec<Pattern> = known.into_iter().chain([owned]).collect();
        let words = Words::new(&patterns).unwrap();
        let candidates = |text: &str| words.candidates(text.as_bytes());
        assert_eq!(candidates("nothing"), [false, false, true, false, true]);
        // Words may overlap.
        assert_eq!(candidates("it COULD NOT CONNECT"), [true, false, true, true, true]);
        assert_eq!(
            candidates("connection reset\nby peer"),
            [false, true, true, false, true]
        );
        assert!(Words::new(&patterns[4..]).is_none());
        assert!(Words::new(&patterns[2..3]).is_none());
    }
}
