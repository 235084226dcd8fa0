//! Brace expansion: `{-d,x}` is `-d x`.

use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::{Doubt, Symbol};

/// Limit on the words that one becomes.
const MOST_WORDS: usize = 64;

/// Limit on the braces of a word.
const MOST_GROUPS: usize = 6;

/// A character that may be part of braces, or a piece that is not.
#[derive(Debug, Clone)]
enum Unit {
    Open,
    Close,
    Comma,
    Other(Piece),
}

/// Returns the words that a word becomes, or None if there are too many.
pub(super) fn expand(word: &RawWord) -> Option<Vec<RawWord>> {
    let has_braces = word.pieces.iter().any(|piece| match piece {
        Piece::Text(text, Quoting::Unquoted) => text.contains(&Symbol::Known('{')),
        _ => false,
    });
    if !has_braces || word.assignment().is_some() {
        return Some(vec![word.clone()]);
    }
    let units = units(word);
    let groups = pairs(&units)
        .iter()
        .filter(|pair| !pair.commas.is_empty())
        .count();
    if groups > MOST_GROUPS {
        return None;
    }
    // A stack of words that may have braces.
    let mut waiting = vec![units];
    let mut done = Vec::new();
    while let Some(units) = waiting.pop() {
        match choices(&units) {
            // Reversed, so that the first choice is the next to be taken from the stack.
            Some(choices) => waiting.extend(choices.into_iter().rev()),
            None => done.push(RawWord {
                pieces: units.into_iter().map(piece).collect(),
                source: word.source.clone(),
            }),
        }
        if waiting.len() + done.len() > MOST_WORDS {
            return None;
        }
    }
    Some(done)
}

/// Splits a word into units, so that quoted braces do not count.
fn units(word: &RawWord) -> Vec<Unit> {
    let mut units = Vec::new();
    for piece in &word.pieces {
        let Piece::Text(text, Quoting::Unquoted) = piece else {
            units.push(Unit::Other(piece.clone()));
            continue;
        };
        for symbol in text {
            units.push(match symbol {
                Symbol::Known('{') => Unit::Open,
                Symbol::Known('}') => Unit::Close,
                Symbol::Known(',') => Unit::Comma,
                other => Unit::Other(Piece::Text(vec![*other], Quoting::Unquoted)),
            });
        }
    }
    units
}

/// Returns the piece of a unit, as it was before the split.
fn piece(unit: Unit) -> Piece {
    let c = match unit {
        Unit::Open => '{',
        Unit::Close => '}',
        Unit::Comma => ',',
        Unit::Other(piece) => return piece,
    };
    Piece::Text(vec![Symbol::Known(c)], Quoting::Unquoted)
}

/// Braces that close: their indexes, and those of the commas that separate their parts.
struct Braces {
    start: usize,
    end: usize,
    commas: Vec<usize>,
}

/// Returns the words that the first braces stand for, or None if there are no braces with a comma or a range.
fn choices(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    for Braces { start, end, commas } in pairs(units) {
        let parts = if !commas.is_empty() {
            split(units, start, end, &commas)
        } else if is_range(&units[start + 1..end]) {
            let unknown = vec![Symbol::Unknown(Doubt::AnyPart)];
            vec![vec![Unit::Other(Piece::Text(unknown, Quoting::Quoted))]]
        } else {
            continue;
        };
        let before = &units[..start];
        let after = &units[end + 1..];
        let words = parts
            .iter()
            .map(|part| [before, part.as_slice(), after].concat());
        return Some(words.collect());
    }
    None
}

/// Returns all braces that close, in the order in which they open.
fn pairs(units: &[Unit]) -> Vec<Braces> {
    let mut open: Vec<Braces> = Vec::new();
    let mut pairs = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        match unit {
            Unit::Open => open.push(Braces {
                start: at,
                end: at,
                commas: Vec::new(),
            }),
            Unit::Close => {
                if let Some(braces) = open.pop() {
                    pairs.push(Braces { end: at, ..braces });
                }
            }
            Unit::Comma => {
                if let Some(innermost) = open.last_mut() {
                    innermost.commas.push(at);
                }
            }
            Unit::Other(_) => {}
        }
    }
    pairs.sort_by_key(|pair| pair.start);
    pairs
}

/// Returns the parts between the braces at `start` and `end`: of `{a,,b}` these are `a`, nothing and `b`.
fn split(units: &[Unit], start: usize, end: usize, commas: &[usize]) -> Vec<Vec<Unit>> {
    let mut parts = Vec::new();
    let mut begin = start + 1;
    for part_end in commas.iter().copied().chain([end]) {
        parts.push(units[begin..part_end].to_vec());
        begin = part_end + 1;
    }
    parts
}

/// Returns true for `1..5`.
fn is_range(units: &[Unit]) -> bool {
    let is_dot = |unit: &Unit| match unit {
        Unit::Other(Piece::Text(text, _)) => text.as_slice() == [Symbol::Known('.')],
        _ => false,
    };
    units.windows(2).any(|pair| pair.iter().all(is_dot))
}
