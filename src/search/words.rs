//! One look for many expressions.
//!
//! Nearly each expression about failures has words that a match must contain: `could not resolve host: \S+` has
//! "could not resolve host: ". One automaton looks for the words of all expressions at once, and an expression is run,
//! and built, only where one of its words has been seen. It is done for those that come with the program: there are many,
//! and they are of one kind. Those of the user are few, and may be anything.
//!
//! It is for what most commands print: little. What finds each expression by itself takes longer to build, and is faster
//! then.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, Literal, RepetitionKind, RepetitionRange};

use super::pattern::Pattern;

/// More bytes make a word no better, and the automaton larger.
const LONG_ENOUGH: usize = 12;

/// Words of fewer bytes are everywhere.
const TOO_SHORT: usize = 3;

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
            let Some(needed) = pattern.as_known().and_then(needed) else {
                continue;
            };
            at_first[index] = false;
            expressions.extend(needed.iter().map(|_| index));
            words.extend(
                needed
                    .into_iter()
                    .map(|word| word[..word.len().min(LONG_ENOUGH)].to_vec()),
            );
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

/// Words of which each match of this expression contains one, in letters of any case. Its syntax tree tells them: what an
/// expression is run by takes longer to make of it.
fn needed(text: &str) -> Option<Vec<Vec<u8>>> {
    let tree = Parser::new().parse(text).ok()?;
    words_in(&tree).filter(|words| worth(words).0 >= TOO_SHORT)
}

fn words_in(tree: &Ast) -> Option<Vec<Vec<u8>>> {
    match tree {
        Ast::Literal(literal) => Some(vec![bytes(literal)]),
        Ast::Group(group) => words_in(&group.ast),
        Ast::Repetition(repetition) if at_least_once(&repetition.op.kind) => words_in(&repetition.ast),
        Ast::Concat(concat) => in_a_row(&concat.asts),
        Ast::Alternation(alternation) => {
            let each: Option<Vec<_>> = alternation.asts.iter().map(words_in).collect();
            each.map(|words| words.concat())
        }
        _ => None,
    }
}

/// The best of what a match contains one after the other. Letters in a row are one word.
fn in_a_row(parts: &[Ast]) -> Option<Vec<Vec<u8>>> {
    let rows = parts.chunk_by(|a, b| matches!((a, b), (Ast::Literal(_), Ast::Literal(_))));
    let words = rows.filter_map(|row| match row {
        [Ast::Literal(_), ..] => {
            let letters = row.iter().filter_map(|part| match part {
                Ast::Literal(literal) => Some(bytes(literal)),
                _ => None,
            });
            Some(vec![letters.flatten().collect()])
        }
        _ => row.first().and_then(words_in),
    });
    words.max_by_key(|words| worth(words))
}

fn bytes(literal: &Literal) -> Vec<u8> {
    match literal.byte() {
        Some(byte) => vec![byte],
        None => literal.c.to_string().into_bytes(),
    }
}

fn at_least_once(kind: &RepetitionKind) -> bool {
    match kind {
        RepetitionKind::OneOrMore => true,
        RepetitionKind::Range(RepetitionRange::Exactly(least) | RepetitionRange::AtLeast(least)) => *least > 0,
        RepetitionKind::Range(RepetitionRange::Bounded(least, _)) => *least > 0,
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => false,
    }
}

/// The longer the shortest word is, the fewer texts have it; and the fewer words, the smaller the automaton.
fn worth(words: &[Vec<u8>]) -> (usize, std::cmp::Reverse<usize>) {
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    (shortest.min(LONG_ENOUGH), std::cmp::Reverse(words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_match_must_contain() {
        let shown = |text| {
            let words = needed(text)?;
            let words = words.iter().map(|word| String::from_utf8_lossy(word).into_owned());
            Some(words.collect::<Vec<_>>().join("|"))
        };
        for (text, words) in [
            (
                r"^ssh: Could not resolve hostname \S+:",
                Some("ssh: Could not resolve hostname "),
            ),
            (r"curl: \((6|7)\) ", Some("curl: (")),
            (r"^(\s*E: )?(Refused|Reset) by", Some("Refused|Reset")),
            (r"(peer )+closed", Some("closed")),
            (r"(peer gone)+", Some("peer gone")),
            (r"(peer )?\d", None),
            (r"\b(408|429)\b", Some("408|429")),
            (r"\b(4.8|429)\b", None),
            (r"a|busy", None),
            (r"", None),
            (r"(", None),
        ] {
            assert_eq!(shown(text).as_deref(), words, "{text}");
        }
    }

    #[test]
    fn an_expression_is_a_candidate_where_one_of_its_words_stands() {
        let owned = Pattern::parse("owned").unwrap();
        let known = ["Could not connect", "connection (reset|refused)", r"\d+", "not co"].map(Pattern::known);
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
