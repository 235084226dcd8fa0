//! Brace expansion: `{-d,x}` is `-d x`.

use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::{Doubt, Symbol};

/// Limit on the words that one becomes.
const MOST_WORDS: usize = 64;

/// A character that may be part of braces, or a piece that is not.
#[derive(Debug, Clone)]
enum Unit {
    Open,
    Close,
    Comma,
    Other(Piece),
}

/// Returns the words that a word becomes, or None if they are too many.
pub(super) fn expand(word: &RawWord) -> Option<Vec<RawWord>> {
    let has_braces = word.pieces.iter().any(|piece| match piece {
        Piece::Text(text, Quoting::Unquoted) => text.contains(&Symbol::Known('{')),
        _ => false,
    });
    if !has_braces || word.assignment().is_some() {
        return Some(vec![word.clone()]);
    }
    let mut waiting = vec![units(word)];
    let mut done = Vec::new();
    while let Some(units) = waiting.pop() {
        match choices(&units) {
            // The first one comes next.
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

fn piece(unit: Unit) -> Piece {
    let c = match unit {
        Unit::Open => '{',
        Unit::Close => '}',
        Unit::Comma => ',',
        Unit::Other(piece) => return piece,
    };
    Piece::Text(vec![Symbol::Known(c)], Quoting::Unquoted)
}

/// Returns the words that the first braces stand for, or None if there are no braces with a comma or a range.
fn choices(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    for (start, unit) in units.iter().enumerate() {
        if !matches!(unit, Unit::Open) {
            continue;
        }
        let Some((end, commas)) = closing(&units[start + 1..]) else {
            // No braces that open here close, so none that open later does, except within.
            continue;
        };
        let inner = &units[start + 1..start + 1 + end];
        let parts = if !commas.is_empty() {
            split(inner, &commas)
        } else if is_range(inner) {
            let unknown = vec![Symbol::MayBeAnything(Doubt::Part)];
            vec![vec![Unit::Other(Piece::Text(unknown, Quoting::Quoted))]]
        } else {
            continue;
        };
        let before = &units[..start];
        let after = &units[start + end + 2..];
        let words = parts
            .iter()
            .map(|part| [before, part.as_slice(), after].concat());
        return Some(words.collect());
    }
    None
}

/// Returns where the braces close, and the commas that separate their parts.
fn closing(units: &[Unit]) -> Option<(usize, Vec<usize>)> {
    let mut open = 0;
    let mut commas = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        match unit {
            Unit::Open => open += 1,
            Unit::Close if open == 0 => return Some((at, commas)),
            Unit::Close => open -= 1,
            Unit::Comma if open == 0 => commas.push(at),
            Unit::Comma | Unit::Other(_) => {}
        }
    }
    None
}

fn split(units: &[Unit], commas: &[usize]) -> Vec<Vec<Unit>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for end in commas.iter().copied().chain([units.len()]) {
        parts.push(units[start..end].to_vec());
        start = end + 1;
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
