//! Word splitting, and names of files: the last steps by which a shell makes the words that a program gets. An unquoted
//! `*` or `?` may be replaced by any names, and one of these may look like an option.

use std::rc::Rc;

use super::atoms::Atom;
use crate::command::syntax::{Quoting, RawWord};
use crate::command::text::{Doubt, Symbol, Symbols};
use crate::command::word::Word;

/// A word that is being made.
#[derive(Default)]
struct Field {
    /// Symbols that are not quoted may be patterns of file names.
    symbols: Vec<(Symbol, Quoting)>,
    /// A word without symbols exists if there are quotes.
    exists: bool,
}

/// Splits the atoms of one word of a script at blanks that are not quoted, and at breaks between the elements of
/// `"$@"`. Returns no word if there are only blanks, but an empty one for `''`. `raw` is the
/// word before its expansions.
pub(super) fn split(atoms: &[Atom], raw: &RawWord) -> Vec<Word> {
    let mut words = Vec::new();
    let mut field = Field::default();
    for atom in atoms {
        match atom {
            Atom::Break | Atom::Symbol(Symbol::Known(' ' | '\t' | '\n'), Quoting::Unquoted) => {
                words.extend(std::mem::take(&mut field).into_word(raw));
            }
            // The part may hold blanks, at which a shell splits it: it may be any words.
            Atom::Symbol(
                Symbol::Unknown(Doubt::AnyPart | Doubt::TrustedPart),
                Quoting::Unquoted,
            ) => field.add(Symbol::Unknown(Doubt::AnyWords), Quoting::Unquoted),
            Atom::Symbol(symbol, quoting) => field.add(*symbol, *quoting),
            Atom::Output => field.add(Symbol::Unknown(Doubt::AnyPart), Quoting::Quoted),
            Atom::Quotes => field.exists = true,
        }
    }
    words.extend(field.into_word(raw));
    words
}

impl Field {
    fn add(&mut self, symbol: Symbol, quoting: Quoting) {
        self.exists = true;
        self.symbols.push((symbol, quoting));
    }

    /// Returns the finished word, or None if nothing stands between two blanks. A shell may replace an unquoted pattern
    /// by the names of files: a pattern is an unknown part, and if such a name may begin with `-`, the whole word may be
    /// any words, as one of them may be an option.
    fn into_word(self, raw: &RawWord) -> Option<Word> {
        if !self.exists {
            return None;
        }
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
        Some(Word {
            text,
            origin: Rc::clone(&raw.source),
            output_of: raw.output_of(),
        })
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
