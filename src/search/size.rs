//! How much memory an expression may take when it is built, without building it.

use regex_syntax::hir::{Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind};

/// What there is for any expression.
const BASE: usize = 64 << 10;
/// For each byte or class, in the automata of both directions.
const PLACE: usize = 1 << 10;
/// For each range of characters beyond ASCII.
const RANGE: usize = 100;
/// For each byte of each text that a match may begin with: an automaton looks for all of these texts, in any case.
const LETTER: usize = 256;
/// It looks for no more texts, and no longer ones.
const MOST_TEXTS: usize = 250;
const LONGEST_TEXT: usize = 100;
/// A text ends at a class of more members.
const MOST_MEMBERS: usize = 10;

/// The most memory that it takes, in bytes: measured, with room to spare.
pub(super) fn most(syntax: &Hir) -> usize {
    let longest = syntax.properties().maximum_len().unwrap_or(usize::MAX);
    let texts = texts(syntax).min(MOST_TEXTS) * longest.min(LONGEST_TEXT);
    (BASE + texts * LETTER).saturating_add(of(syntax))
}

/// The nesting is limited by the parser, and so is the recursion.
fn of(syntax: &Hir) -> usize {
    let of_all = |parts: &[Hir]| {
        let one_by_one = parts.iter().map(of);
        one_by_one.fold(PLACE.saturating_mul(parts.len()), usize::saturating_add)
    };
    match syntax.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => PLACE,
        HirKind::Literal(literal) => PLACE.saturating_mul(literal.0.len()),
        HirKind::Class(Class::Unicode(class)) => PLACE + RANGE * class.ranges().len(),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            (of(&repetition.sub).saturating_add(PLACE)).saturating_mul(copies as usize)
        }
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => of_all(parts),
    }
}

/// How many texts it may match, as far as it says which.
fn texts(syntax: &Hir) -> usize {
    match syntax.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => 1,
        HirKind::Class(class) => match members(class) {
            ..=MOST_MEMBERS => members(class),
            _ => 1,
        },
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            texts(&repetition.sub).saturating_add(1).saturating_pow(copies)
        }
        HirKind::Capture(capture) => texts(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(texts).fold(1, usize::saturating_mul),
        HirKind::Alternation(parts) => parts.iter().map(texts).fold(0, usize::saturating_add),
    }
}

fn members(class: &Class) -> usize {
    match class {
        Class::Bytes(class) => class.ranges().iter().map(ClassBytesRange::len).sum(),
        Class::Unicode(class) => class.ranges().iter().map(ClassUnicodeRange::len).sum(),
    }
}
