//! Atoms: the parts of a word after its expansions have their values, and before it is split into words at blanks. Each
//! remembers if it is quoted, as only what is not quoted is split.
//!
//! [`Doubt`] says what an unknown part may be: a `HarmlessPart` is no option, a `TrustedPart` (`"$URL"`) is
//! taken for none, an `AnyPart` may be one, and `AnyWords` may be several words, options among them. In quotes
//! `AnyWords` becomes a `TrustedPart`: where an option is suspected, use `AnyPart`.

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
    /// The output of a command in quotes, which is not known. As a word it may be an option. Kept in a variable, it is
    /// trusted as the value of any other variable is: `URL="$(command)"`.
    Output,
}

/// Returns the atoms of a text whose unknown parts already fit the quoting, such as a literal text.
pub(super) fn in_atoms(text: &[Symbol], quoting: Quoting) -> Vec<Atom> {
    text.iter()
        .map(|symbol| Atom::Symbol(*symbol, quoting))
        .collect()
}

/// Returns the atoms of the value of a variable. What an unknown part may be depends on the quotes around the
/// expansion: in quotes, any words become a part of one word, which is trusted. Outside of them, the part stays as it
/// is: it may become several words where these are split (`fields`), but not in an assignment.
pub(super) fn value_atoms(text: &[Symbol], quoting: Quoting) -> Vec<Atom> {
    let converted = text.iter().map(|symbol| match (symbol, quoting) {
        // `"$URL"` is one word, and trusted to begin no option.
        (Symbol::Unknown(Doubt::AnyWords), Quoting::Quoted) => Symbol::Unknown(Doubt::TrustedPart),
        (symbol, _) => *symbol,
    });
    converted
        .map(|symbol| Atom::Symbol(symbol, quoting))
        .collect()
}
