//! A word of a command, after all expansions.

use std::rc::Rc;

use super::syntax::Script;
use super::text::{Symbol, Symbols, known};

/// Characters of a word that messages show.
const LONGEST_SHOWN: usize = 40;

/// A word of a command, after all expansions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: Symbols,
    /// The word of the script or the command from which this one comes, as it is written: several may come from one, or
    /// this one from a part of it. Messages show [`Word::shown_origin`].
    pub(crate) origin: Rc<str>,
    /// The script whose output the word is, or whose pipe it names, if it is nothing else: `"$(script)"`, `<(script)`.
    pub(crate) output_of: Option<Rc<Script>>,
}

impl Word {
    /// Returns a word of which all is known, and which a program gets as it is.
    pub(crate) fn exact(text: &str) -> Word {
        Word {
            text: known(text),
            origin: text.into(),
            output_of: None,
        }
    }

    /// Returns the word as it is written, cut to a length for messages.
    pub(crate) fn shown_origin(&self) -> String {
        cut(&self.origin)
    }
}

/// Returns a text for a message: of a longer one, the first [`LONGEST_SHOWN`] characters and `...`.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Joins words with blanks to one text, as `eval`, `ssh` and `echo` do with theirs. The text is code: its quotes and
/// blanks count again.
pub(crate) fn joined(words: &[Word]) -> Symbols {
    let mut text = Symbols::new();
    for word in words {
        if !text.is_empty() {
            text.push(Symbol::Known(' '));
        }
        text.extend_from_slice(&word.text);
    }
    text
}
