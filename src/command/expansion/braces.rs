//! Brace expansion: `{-d,x}` is `-d x`, so that braces may hide an option by which a request sends data. It comes
//! before all other expansions.

use std::rc::Rc;

use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::{Doubt, Symbol};

/// Limit on the words that one becomes.
const MOST_WORDS: usize = 64;

/// Limit on the braces with commas in a word, as each multiplies the words.
const MOST_GROUPS: usize = 6;

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
/// None if the words are too many, or the braces with commas are: the caller then takes them for unknown words. In a
/// word with a `{`, each unquoted symbol becomes a piece of its own, so that [`RawWord::bare`] finds no text in it.
pub(super) fn expand(word: &RawWord) -> Option<Vec<RawWord>> {
    let has_braces = word.pieces.iter().any(|piece| match piece {
        Piece::Text(text, Quoting::Unquoted) => text.contains(&Symbol::Known('{')),
        _ => false,
    });
    if !has_braces || word.assignment().is_some() {
        return Some(vec![word.clone()]);
    }
    let units = units(word);
    let group_count = pairs(&units)
        .iter()
        .filter(|pair| !pair.commas.is_empty())
        .count();
    if group_count > MOST_GROUPS {
        return None;
    }
    // A stack of words that may still have braces. Each step replaces one of them by what its first braces stand for.
    let mut waiting = vec![units];
    let mut done = Vec::new();
    while let Some(units) = waiting.pop() {
        match expand_first(&units) {
            // Reversed, so that the first word is the next to be taken from the stack.
            Some(words) => waiting.extend(words.into_iter().rev()),
            None => done.push(RawWord {
                pieces: units.into_iter().map(piece).collect(),
                source: Rc::clone(&word.source),
            }),
        }
        if waiting.len() + done.len() > MOST_WORDS {
            return None;
        }
    }
    Some(done)
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

/// Braces that close: their indexes, and those of the commas that separate their parts.
struct Braces {
    start: usize,
    end: usize,
    commas: Vec<usize>,
}

/// Returns the words that a word becomes by its first braces with a comma or a range: `x{a,b}y` is `xay` and `xby`.
/// Further braces, also those in a part, stay as they are, for the next call. A range becomes one unknown part. Returns
/// None if there are no such braces: the word is finished.
fn expand_first(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    for Braces { start, end, commas } in pairs(units) {
        let parts = if !commas.is_empty() {
            split(units, start, end, &commas)
        } else if let Some(doubt) = range(&units[start + 1..end]) {
            let unknown = vec![Symbol::Unknown(doubt)];
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

/// Returns all braces that close, in the order in which they open. A comma belongs to the innermost braces around it.
/// Braces without a partner are ordinary characters, and are left out.
fn pairs(units: &[Unit]) -> Vec<Braces> {
    let mut open: Vec<Braces> = Vec::new();
    let mut pairs = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        match unit {
            Unit::Open => open.push(Braces {
                start: index,
                // Until the end is found.
                end: index,
                commas: Vec::new(),
            }),
            Unit::Close => {
                if let Some(braces) = open.pop() {
                    pairs.push(Braces {
                        end: index,
                        ..braces
                    });
                }
            }
            Unit::Comma => {
                if let Some(innermost) = open.last_mut() {
                    innermost.commas.push(index);
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

/// Returns what one item of the range between these braces may be: for `1..5` or `a..e` a part that is no option, for
/// any other text with two dots side by side (`-1..9`, `A..z`, or `a../b`, which is no range) a part that may be one.
/// None without such dots.
fn range(units: &[Unit]) -> Option<Doubt> {
    let mut text = String::new();
    for unit in units {
        text.push(match unit {
            Unit::Other(Piece::Text(symbols, _)) => match symbols.as_slice() {
                [Symbol::Known(c)] => *c,
                _ => UNKNOWN,
            },
            _ => UNKNOWN,
        });
    }
    let (first, end) = text.split_once("..")?;
    // The step of `1..9..2` is a number, too.
    let is_of_numbers = is_number(first) && end.split("..").all(is_number);
    if is_of_numbers || is_of_letters(first, end) {
        return Some(Doubt::HarmlessPart);
    }
    Some(Doubt::AnyPart)
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
