//! Word splitting, and names of files: the last steps by which a shell makes the words that a program gets. An unquoted
//! `*` or `?` may be replaced by any names, and one of these may look like an option.
//!
//! Atoms are the symbols of a word before the split, with their quoting, and breaks between the elements of `"$@"`. In
//! doubt, a symbol is an unknown part: a harmless one is no option, a `TrustedPart` (`"$URL"`) is taken for none, an
//! `AnyPart` may be one, and `AnyWords` are any words, options among them, but trusted in quotes.

use std::rc::Rc;

use super::atoms::{Atom, in_atoms};
use crate::command::scope::Separators;
use crate::command::syntax::{Quoting, RawWord};
use crate::command::text::{Doubt, Symbol, Symbols, unknown_words};
use crate::command::word::Word;

/// Allows for an `IFS` that a script sets (`separators`): a shell may then split an expansion at any characters, or not
/// at each blank. An expansion with an unquoted character of which this is not known may be any words, one of them an
/// option if one may begin behind such a split ([`may_begin_option_after_split`]). Any other expansion stays as it is.
pub(super) fn allow_odd_splits(atoms: Vec<Atom>, separators: Separators) -> Vec<Atom> {
    let may_be_split = |atom: &Atom| match (atom, separators) {
        (Atom::Symbol(Symbol::Known(c), Quoting::Unquoted), Separators::SomeBlanks) => {
            matches!(c, ' ' | '\t' | '\n')
        }
        // `IFS` hardly ever holds a digit.
        (Atom::Symbol(Symbol::Known(c), Quoting::Unquoted), Separators::Any) => !c.is_ascii_digit(),
        _ => false,
    };
    if !atoms.iter().any(may_be_split) {
        return atoms;
    }
    let text = unknown_words(may_begin_option_after_split(&atoms));
    in_atoms(&text, Quoting::Unquoted)
}

/// Returns true if an option may begin one of the words after a split: an `AnyPart` stands anywhere, or a `-` stands at
/// the beginning, behind a break, or behind a sign that may be a separator: not a letter or digit, which `IFS` hardly
/// ever holds. Other unknown parts are passed over, as if they were not there.
pub(super) fn may_begin_option_after_split(atoms: &[Atom]) -> bool {
    let mut is_behind_separator = true;
    for atom in atoms {
        match atom {
            Atom::Symbol(Symbol::Unknown(Doubt::AnyPart), _) => return true,
            Atom::Symbol(Symbol::Known('-'), _) if is_behind_separator => return true,
            Atom::Symbol(Symbol::Known(c), _) => is_behind_separator = !c.is_alphanumeric(),
            Atom::Break => is_behind_separator = true,
            Atom::Symbol(Symbol::Unknown(_), _) | Atom::Quotes | Atom::Output => {}
        }
    }
    false
}

/// A word that is being made.
struct Field {
    /// Symbols that are not quoted may be patterns of file names.
    symbols: Vec<(Symbol, Quoting)>,
}

/// Splits the atoms of one word of a script at blanks that are not quoted, and at breaks between the elements of
/// `"$@"`. Returns no word if there are only blanks, but an empty one for `''`. `raw` is the word before its
/// expansions: by it, messages show each of the words, and the script is found whose output they are.
pub(super) fn split(atoms: &[Atom], raw: &RawWord) -> Vec<Word> {
    parts(atoms)
        .map(|part| Field::new(part).into_word(raw))
        .collect()
}

/// Returns the atoms of each word that [`split`] returns.
pub(super) fn parts(atoms: &[Atom]) -> impl Iterator<Item = &[Atom]> {
    let is_separator = |atom: &Atom| {
        matches!(
            atom,
            Atom::Break | Atom::Symbol(Symbol::Known(' ' | '\t' | '\n'), Quoting::Unquoted)
        )
    };
    atoms.split(is_separator).filter(|part| !part.is_empty())
}

impl Field {
    /// Returns the word of these atoms, with each unknown part as what it may be in a word of a command: outside of
    /// quotes any words, unless it is harmless, as it may hold blanks, at which a shell splits it; an `AnyPart` stays
    /// before them, as `AnyWords` alone would be trusted where a script gets them as its `"$1"`. The output of a
    /// command in quotes is any part. Quotes only made this a word, and breaks do not occur.
    fn new(atoms: &[Atom]) -> Field {
        let mut symbols = Vec::new();
        let any_words = (Symbol::Unknown(Doubt::AnyWords), Quoting::Unquoted);
        for atom in atoms {
            match atom {
                Atom::Symbol(part @ Symbol::Unknown(Doubt::AnyPart), Quoting::Unquoted) => {
                    symbols.extend([(*part, Quoting::Unquoted), any_words]);
                }
                Atom::Symbol(Symbol::Unknown(Doubt::TrustedPart), Quoting::Unquoted) => {
                    symbols.push(any_words);
                }
                Atom::Symbol(symbol, quoting) => symbols.push((*symbol, *quoting)),
                Atom::Output => {
                    symbols.push((Symbol::Unknown(Doubt::AnyPart), Quoting::Quoted));
                }
                Atom::Quotes | Atom::Break => {}
            }
        }
        Field { symbols }
    }

    /// Returns the finished word. A shell may replace an unquoted pattern by the names of files: a pattern is an
    /// unknown part, and if such a name may begin with `-`, the whole word may be any words, as one of them may be an
    /// option.
    fn into_word(self, raw: &RawWord) -> Word {
        let mut text = Symbols::new();
        for (index, (symbol, quoting)) in self.symbols.iter().enumerate() {
            let is_pattern = *quoting == Quoting::Unquoted && self.is_pattern(index);
            if !is_pattern {
                text.push(*symbol);
            } else if text.is_empty() || text[0] == Symbol::Known('-') {
                text = vec![Symbol::Unknown(Doubt::AnyWords)];
                break;
            } else {
                // Several names count as one: each begins as the word does, so that none is an option.
                text.push(Symbol::Unknown(Doubt::AnyPart));
            }
        }
        Word {
            text,
            origin: Rc::clone(&raw.source),
            output_of: raw.output_of(),
        }
    }

    /// Returns true if the symbol at an index, which the caller knows to be unquoted, is a sign of a pattern: `*`, `?`,
    /// or a `[` with its `]`, for which only the next 100 symbols are searched.
    fn is_pattern(&self, index: usize) -> bool {
        match self.symbols[index].0 {
            Symbol::Known('*' | '?') => true,
            Symbol::Known('[') => {
                let after = &self.symbols[index + 1..];
                // Limits the work on a long word.
                after
                    .iter()
                    .take(100)
                    .any(|(symbol, _)| *symbol == Symbol::Known(']'))
            }
            Symbol::Known(_) | Symbol::Unknown(_) => false,
        }
    }
}
