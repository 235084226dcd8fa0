//! Brace expansion: `{-d,x}` is `-d x`, so that braces may hide an option by which a request sends data. It comes
//! before all other expansions.

use std::rc::Rc;

use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::{Doubt, Symbol};

/// Limit on the words that one becomes.
const MOST_WORDS: usize = 64;

/// Limit on the signs `{` in a word, as the search for the end of each may read the rest of the word.
const MOST_OPEN: usize = 40;

/// Stands for a piece that is no character of a range.
const UNKNOWN: char = '\u{fffd}';

/// A character that may be part of braces, or a piece that is not. Pieces of text have one symbol each.
#[derive(Debug, Clone)]
enum Unit {
    Open,
    Close,
    Comma,
    Other(Piece),
}

/// Returns the words that a word becomes, in their order; the word itself if it has no braces, or is an assignment, in
/// which a shell does not expand them. (As an argument it does, but what begins with `name=` is no option.) Returns
/// None if the words or the signs `{` are too many: the caller then takes them for unknown words. In a word with a
/// `{`, each unquoted symbol becomes a piece of its own, so that [`RawWord::bare`] finds no text in it.
pub(super) fn expand(word: &RawWord) -> Option<Vec<RawWord>> {
    let has_braces = word.pieces.iter().any(|piece| match piece {
        Piece::Text(text, Quoting::Unquoted) => text.contains(&Symbol::Known('{')),
        _ => false,
    });
    if !has_braces || word.assignment().is_some() {
        return Some(vec![word.clone()]);
    }
    let units = units(word);
    let open_count = units
        .iter()
        .filter(|unit| matches!(unit, Unit::Open))
        .count();
    if open_count > MOST_OPEN {
        return None;
    }
    let words = expand_units(&units)?.into_iter().map(|units| RawWord {
        pieces: units.into_iter().map(piece).collect(),
        source: Rc::clone(&word.source),
    });
    Some(words.collect())
}

/// Splits a word into units: each unquoted symbol is one, so that braces and commas can be found, and each other piece
/// is one as a whole, as quoted braces do not count.
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

/// Braces that are expanded: their indexes, and those of the commas that separate their parts. Without a comma, `..`
/// stands between them.
struct Braces {
    start: usize,
    end: usize,
    commas: Vec<usize>,
}

/// Returns the words that these units become: for each part of the first braces, what stands before them, the words
/// of the part, and the words of what stands behind them. `x{a,b}y` is `xay` and `xby`. As in bash, a brace in one of
/// these texts has no partner in another. Returns None if there are too many words.
fn expand_units(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let Some(braces) = first_braces(units) else {
        return Some(vec![units.to_vec()]);
    };
    let before = &units[..braces.start];
    let parts = expand_parts(units, &braces)?;
    let behind = expand_units(&units[braces.end + 1..])?;
    if parts.len() * behind.len() > MOST_WORDS {
        return None;
    }
    let mut words = Vec::new();
    for part in &parts {
        for behind in &behind {
            words.push([before, part, behind].concat());
        }
    }
    Some(words)
}

/// Returns the words that the parts between these braces become. A range becomes one unknown part. Returns None if
/// a part becomes too many.
fn expand_parts(units: &[Unit], braces: &Braces) -> Option<Vec<Vec<Unit>>> {
    if braces.commas.is_empty() {
        let doubt = doubt_of_range(&units[braces.start + 1..braces.end]);
        let item = Piece::Text(vec![Symbol::Unknown(doubt)], Quoting::Quoted);
        return Some(vec![vec![Unit::Other(item)]]);
    }
    let mut words = Vec::new();
    for part in split(units, braces) {
        words.extend(expand_units(&part)?);
    }
    Some(words)
}

/// Returns the first braces that bash expands; None if there are none. All others are ordinary characters, and so is
/// the `{` of a `{}` at the beginning, as in `find -exec`.
fn first_braces(units: &[Unit]) -> Option<Braces> {
    let begins_with_empty = matches!(units, [Unit::Open, Unit::Close, ..]);
    let first = usize::from(begins_with_empty);
    (first..units.len())
        .filter(|index| matches!(units[*index], Unit::Open))
        .find_map(|start| braces_at(units, start))
}

/// Returns the braces that begin with the `{` at `start`; None if no `}` closes them. One without a comma or `..`
/// before it does not: `{a},b}` is `a}` and `b`. But behind a second `{`, the next `}` closes this one, and what is
/// between them does not count.
fn braces_at(units: &[Unit], start: usize) -> Option<Braces> {
    let mut commas = Vec::new();
    let mut has_dots = false;
    let mut inner_count = 0_usize;
    for (index, unit) in units.iter().enumerate().skip(start + 1) {
        match unit {
            Unit::Open => inner_count += 1,
            Unit::Close if inner_count > 0 => inner_count -= 1,
            Unit::Close if has_dots || !commas.is_empty() => {
                return Some(Braces {
                    start,
                    end: index,
                    commas,
                });
            }
            Unit::Comma if inner_count == 0 => commas.push(index),
            Unit::Other(_) if inner_count == 0 => has_dots |= is_dots(&units[index..]),
            Unit::Close | Unit::Comma | Unit::Other(_) => {}
        }
    }
    None
}

/// Returns true if the units begin with `..`, but not if `}` follows.
fn is_dots(units: &[Unit]) -> bool {
    match units {
        [first, second, next, ..] => {
            let is_dot = |unit| character(unit) == Some('.');
            is_dot(first) && is_dot(second) && !matches!(next, Unit::Close)
        }
        _ => false,
    }
}

/// Returns the unquoted character that a unit without a meaning for braces is; None for any other unit.
fn character(unit: &Unit) -> Option<char> {
    match unit {
        Unit::Other(Piece::Text(text, Quoting::Unquoted)) => match text.as_slice() {
            [Symbol::Known(c)] => Some(*c),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the parts between these braces: of `{a,,b}` these are `a`, nothing and `b`.
fn split(units: &[Unit], braces: &Braces) -> Vec<Vec<Unit>> {
    let mut parts = Vec::new();
    let mut begin = braces.start + 1;
    for part_end in braces.commas.iter().copied().chain([braces.end]) {
        parts.push(units[begin..part_end].to_vec());
        begin = part_end + 1;
    }
    parts
}

/// Returns what one item of the range between these braces may be: for `1..5` or `a..e` a part that is no option, for
/// any other text with two dots side by side (`-1..9`, `A..z`, or `a..b/`, which is no range) a part that may be one.
fn doubt_of_range(units: &[Unit]) -> Doubt {
    let characters = units.iter().map(|unit| character(unit).unwrap_or(UNKNOWN));
    let text: String = characters.collect();
    let Some((first, end)) = text.split_once("..") else {
        return Doubt::AnyPart;
    };
    // The step of `1..9..2` is a number, too.
    let is_of_numbers = is_number(first) && end.split("..").all(is_number);
    if is_of_numbers || is_of_letters(first, end) {
        return Doubt::HarmlessPart;
    }
    Doubt::AnyPart
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Returns true for two letters, both small or both capital. A range from `Z` to `a` holds signs as well.
fn is_of_letters(first: &str, end: &str) -> bool {
    let both = [first, end].concat();
    let is_of_one_case = both.chars().all(|c| c.is_ascii_lowercase())
        || both.chars().all(|c| c.is_ascii_uppercase());
    first.len() == 1 && end.len() == 1 && is_of_one_case
}
