//! Parts of a word before it is split.

use crate::command::syntax::Quoting;
use crate::command::text::{Doubt, Symbol};

/// A part of a word before it is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Atom {
    Symbol(Symbol, Quoting),
    /// A word stands here even if it is empty.
    Quotes,
    /// The next element of `"$@"` begins.
    Break,
}

/// Returns the atoms of a literal text.
pub(super) fn in_atoms(text: &[Symbol], quoting: Quoting) -> Vec<Atom> {
    text.iter()
        .map(|symbol| Atom::Symbol(*symbol, quoting))
        .collect()
}

/// Returns the atoms of the value of a variable, whose unknown parts allow more or less in quotes and outside of them.
pub(super) fn value_atoms(text: &[Symbol], quoting: Quoting) -> Vec<Atom> {
    let converted = text.iter().map(|symbol| match (symbol, quoting) {
        // `"$URL"` is one word, and trusted to begin no option.
        (Symbol::Unknown(Doubt::AnyWords), Quoting::Quoted) => Symbol::Unknown(Doubt::TrustedPart),
        // A shell splits it at blanks that the part may hold.
        (Symbol::Unknown(Doubt::AnyPart | Doubt::TrustedPart), Quoting::Unquoted) => {
            Symbol::Unknown(Doubt::AnyWords)
        }
        (symbol, _) => *symbol,
    });
    converted
        .map(|symbol| Atom::Symbol(symbol, quoting))
        .collect()
}
