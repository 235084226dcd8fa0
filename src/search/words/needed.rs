//! The words of an expression, by its syntax tree: for the presets' files, which hold them.

use std::cmp::Reverse;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, Literal, RepetitionKind, RepetitionRange};

/// More bytes make a word no better, and the automaton larger.
const LONG_ENOUGH: usize = 12;

/// Words of fewer bytes are everywhere.
const TOO_SHORT: usize = 3;

/// Words of which each match of this expression contains one, in letters of any case, with a `|` between them. None where
/// there are none, or where they could not be told apart.
pub(crate) fn needed(text: &str) -> Option<String> {
    let tree = Parser::new().parse(text).ok()?;
    let mut words = words_in(&tree).filter(|words| worth(words).0 >= TOO_SHORT)?;
    for word in &mut words {
        let end = word.char_indices().nth(LONG_ENOUGH).map_or(word.len(), |(at, _)| at);
        word.truncate(end);
        word.make_ascii_lowercase();
    }
    words.sort();
    // What contains another word is found by that one.
    let all = words.clone();
    words.retain(|word| !all.iter().any(|other| other != word && word.contains(other.as_str())));
    words.dedup();
    let is_told_apart = |word: &String| !word.contains(['|', '\t', '\n', '\r']);
    words.iter().all(is_told_apart).then(|| words.join("|"))
}

fn words_in(tree: &Ast) -> Option<Vec<String>> {
    match tree {
        Ast::Literal(literal) => Some(vec![letter(literal)?.into()]),
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
fn in_a_row(parts: &[Ast]) -> Option<Vec<String>> {
    let rows = parts.chunk_by(|a, b| matches!((a, b), (Ast::Literal(_), Ast::Literal(_))));
    let words = rows.filter_map(|row| match row {
        [Ast::Literal(_), ..] => {
            let letters = row.iter().map(|part| match part {
                Ast::Literal(literal) => letter(literal),
                _ => None,
            });
            Some(vec![letters.collect::<Option<String>>()?])
        }
        _ => row.first().and_then(words_in),
    });
    words.max_by_key(|words| worth(words))
}

/// None for a byte that is no character.
fn letter(literal: &Literal) -> Option<char> {
    literal.byte().is_none_or(|byte| byte.is_ascii()).then_some(literal.c)
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
fn worth(words: &[String]) -> (usize, Reverse<usize>) {
    let shortest = words.iter().map(String::len).min().unwrap_or(0);
    (shortest.min(LONG_ENOUGH), Reverse(words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_match_must_contain() {
        for (text, words) in [
            (r"^ssh: Could not resolve hostname \S+:", Some("ssh: could n")),
            (r"curl: \((6|7)\) ", Some("curl: (")),
            (r"^(\s*E: )?(Refused|Reset) by", Some("refused|reset")),
            (r"(peer )+closed", Some("closed")),
            (r"Reset|reset by|Gone", Some("gone|reset")),
            (r"either \| or", None),
            (r"(peer gone)+", Some("peer gone")),
            (r"(peer )?\d", None),
            (r"\b(408|429)\b", Some("408|429")),
            (r"\b(4.8|429)\b", None),
            (r"a|busy", None),
            (r"", None),
            (r"(", None),
        ] {
            assert_eq!(needed(text).as_deref(), words, "{text}");
        }
    }
}
