//! A tokenizer for shell text: words, operators, redirections, here-documents, comments, functions, arrays, `case`,
//! line continuations. Reads what sh and bash share; where they differ, what bash reads.
//!
//! Each symbol is read once, except for a bounded look ahead and for the nested quoting of backquotes.

mod arithmetic;
mod draft;
mod expansions;
mod here_documents;
mod quotes;
mod script;
mod word;

use std::rc::Rc;

use super::syntax::ParsedText;
use super::text::Symbol::{self, Known};
use super::text::shown;

/// Limit on nested substitutions.
const DEEPEST: usize = 40;
/// Limit on the symbols of `((...))`.
const LONGEST_ARITHMETIC: usize = 300;
/// Characters of a word that messages show.
const LONGEST_SHOWN: usize = 40;

/// Reserved words after which a command begins.
pub(crate) const OPENERS: [&str; 10] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time",
];

/// Reads a script.
pub(crate) fn parse(text: &[Symbol]) -> ParsedText {
    parse_at(text, 0)
}

/// Reads a script inside this number of substitutions.
fn parse_at(text: &[Symbol], depth: usize) -> ParsedText {
    let mut reader = ScriptReader::new(text, depth);
    let script = reader.read_script(ScriptEnd::OfText);
    reader.parsed.scripts.push(Rc::new(script));
    reader.parsed
}

/// The end of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptEnd {
    /// The end of the text.
    OfText,
    /// The parenthesis that closes a substitution.
    Parenthesis,
}

/// A cursor in a text of a shell, and what was found before it.
struct ScriptReader<'t> {
    text: &'t [Symbol],
    /// Index of the next symbol.
    at: usize,
    /// Number of substitutions, arrays and braces around the cursor.
    depth: usize,
    parsed: ParsedText,
}

impl<'t> ScriptReader<'t> {
    /// Returns a reader at the beginning of a text.
    fn new(text: &'t [Symbol], depth: usize) -> ScriptReader<'t> {
        ScriptReader {
            text,
            at: 0,
            depth,
            parsed: ParsedText::default(),
        }
    }

    /// Returns a character ahead of the cursor; None at the end and for an unknown symbol.
    fn peek_at(&self, offset: usize) -> Option<char> {
        match self.text.get(self.at + offset) {
            Some(Known(c)) => Some(*c),
            _ => None,
        }
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(offset, c)| self.peek_at(offset) == Some(c))
    }

    /// Skips the text if it comes next. Returns true if it does.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.starts_with(text);
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    /// Gives up on the rest of the text, which cannot be followed.
    fn give_up(&mut self) {
        self.parsed.is_incomplete = true;
        self.at = self.text.len();
    }

    /// Returns the text from `start` to the cursor, cut to a length for messages.
    fn source_since(&self, start: usize) -> String {
        let end = self.at.min(start + LONGEST_SHOWN);
        let mut source = shown(&self.text[start..end]);
        if end < self.at {
            source.push_str("...");
        }
        source
    }

    fn skip_blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    fn is_process_substitution(&self) -> bool {
        self.starts_with("<(") || self.starts_with(">(")
    }

    /// Reads another text with a reader of its own, and adds what it finds to `parsed`.
    fn read_nested<T>(
        &mut self,
        text: &[Symbol],
        read: impl FnOnce(&mut ScriptReader<'_>) -> T,
    ) -> T {
        let mut inner = ScriptReader::new(text, self.depth + 1);
        if self.depth >= DEEPEST {
            inner.give_up();
        }
        let result = read(&mut inner);
        self.parsed.merge(inner.parsed);
        result
    }
}
