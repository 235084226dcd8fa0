//! How much memory an expression may take when it is built, without building it.

use regex_syntax::hir::{Class, Hir, HirKind};

/// What there is for any expression, with what finds its literals.
const BASE: usize = 64 << 10;
/// For each byte or class, in the automata of both directions and in what finds literals.
const PLACE: usize = 1 << 10;
/// For each range of characters beyond ASCII.
const RANGE: usize = 100;

/// The most memory that it takes, in bytes: measured, with room to spare.
pub(super) fn most(syntax: &Hir) -> usize {
    BASE.saturating_add(of(syntax))
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
