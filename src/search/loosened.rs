//! The looser form of an expression, for a block of many lines.

use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition,
};

/// An expression that matches in every line of a block in which the given one matches by itself. It
/// matches in others too: at a `\r` within a line, or at the one that belongs to the line's end, and
/// where a word boundary would have been asked for.
///
/// The nesting is limited by the parser, and so is the recursion.
pub(super) fn loosened(syntax: &Hir) -> Hir {
    match syntax.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(look) => match look {
            Look::Start | Look::StartLF | Look::StartCRLF => Hir::look(Look::StartCRLF),
            Look::End | Look::EndLF | Look::EndCRLF => Hir::look(Look::EndCRLF),
            // The fast engines give up on these at the first byte that is not ASCII.
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode => Hir::empty(),
            // A `\n`, a `\r` and the end of the text are the same to these.
            Look::WordAscii
            | Look::WordAsciiNegate
            | Look::WordStartAscii
            | Look::WordEndAscii
            | Look::WordStartHalfAscii
            | Look::WordEndHalfAscii => Hir::look(*look),
        },
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(loosened(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(Capture { sub, .. }) => loosened(sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(loosened).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(loosened).collect()),
    }
}
