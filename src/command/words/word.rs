//! Reads a word of a script: its pieces up to a blank or an operator. Expansions stay pieces here; their values are put
//! in later, when the assignments of all scripts are known. A text that cannot be followed is marked as misread
//! (`may_be_misread`), so that it counts as unknown code, which may send data.

use super::{DEEPEST, ScriptReader};
use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::Symbol::{self, Known};

impl ScriptReader<'_> {
    /// Reads a word up to a blank or an operator, before which the cursor stays. Returns a word without pieces if one
    /// of these comes next.
    pub(super) fn read_word(&mut self) -> RawWord {
        let start = self.position;
        let mut pieces = Pieces::default();
        loop {
            if self.is_at_end() {
                break;
            }
            // None is an unknown symbol, which is part of the word.
            match self.peek() {
                Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')') => break,
                Some('<' | '>') if self.is_process_substitution() => self.read_process(&mut pieces),
                // `=(script)` of zsh, which is the name of a file with the output.
                Some('=') if pieces.list.is_empty() && self.starts_with("=(") => {
                    self.read_process(&mut pieces);
                }
                Some('<' | '>') => break,
                Some('(') if pieces.is_array_next() => self.read_array(&mut pieces),
                Some('(') if pieces.is_pattern_next() => self.read_pattern_group(&mut pieces),
                Some('(') => break,
                _ => self.read_piece(&mut pieces, Quoting::Unquoted),
            }
        }
        RawWord {
            pieces: pieces.list,
            source: self.source_since(start),
        }
    }

    /// Reads `<(script)`, `>(script)` or `=(script)`. The script is added to those that were found; for the word it is
    /// the name of a file.
    fn read_process(&mut self, pieces: &mut Pieces) {
        self.position += 2;
        let script = self.read_substitution();
        pieces.list.push(Piece::Process(script));
    }

    /// Reads the `(...)` after `name=`. Counts as a level of nesting, as a word in it may hold an array again; gives up
    /// at the limit.
    fn read_array(&mut self, pieces: &mut Pieces) {
        if self.depth >= DEEPEST {
            return self.give_up();
        }
        self.depth += 1;
        self.read_elements(pieces);
        self.depth -= 1;
    }

    /// Reads the words of an array with its parentheses, and adds them as one piece. Unlike between commands, the end
    /// of a line only separates words. No operator can stand here: at one, the rest of the text is given up. Without a
    /// closing parenthesis, the text is marked as misread. Here-documents are not read at an end of a line: the caller
    /// looks whether one is awaited, and marks the text as misread then.
    fn read_elements(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        let mut elements = Vec::new();
        loop {
            while self.skip_if_next(" ")
                || self.skip_if_next("\t")
                || self.skip_if_next("\n")
                || self.skip_if_next("\\\n")
            {}
            if self.is_at_end() {
                self.parsed.may_be_misread = true;
                break;
            }
            if self.skip_if_next(")") {
                break;
            }
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some(';' | '&' | '|' | '(') => return self.give_up(),
                Some('<' | '>') if !self.is_process_substitution() => return self.give_up(),
                _ => elements.push(self.read_word()),
            }
        }
        pieces.list.push(Piece::Array(elements));
    }

    /// Reads the parenthesis of `@(a|b)`, a pattern for names of files. Its content does not matter, but may hold a
    /// substitution, so that it is read as a script; the pattern counts as `*`.
    fn read_pattern_group(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        self.read_substitution();
        pieces.add_symbol(Known('*'), Quoting::Unquoted);
    }
}

/// The pieces of a word that is being read.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) list: Vec<Piece>,
}

impl Pieces {
    /// Adds a symbol to the last piece if that is a text of the same quoting, or else as a new piece. So a literal word
    /// is a single piece, by which reserved words are recognized.
    pub(super) fn add_symbol(&mut self, symbol: Symbol, quoting: Quoting) {
        match self.list.last_mut() {
            Some(Piece::Text(text, last)) if *last == quoting => text.push(symbol),
            _ => self.list.push(Piece::Text(vec![symbol], quoting)),
        }
    }

    /// Returns the last symbol; None if it is quoted, or an expansion, or there is none.
    fn last_unquoted(&self) -> Option<Symbol> {
        match self.list.last() {
            Some(Piece::Text(text, Quoting::Unquoted)) => text.last().copied(),
            _ => None,
        }
    }

    /// Returns true after `name=`, where a parenthesis begins an array: the word is one text without quotes that ends
    /// with `=`.
    fn is_array_next(&self) -> bool {
        self.list.len() == 1 && self.last_unquoted() == Some(Known('='))
    }

    /// Returns true after a sign that, with a parenthesis, begins a pattern of file names such as `@(a|b)`.
    fn is_pattern_next(&self) -> bool {
        matches!(
            self.last_unquoted(),
            Some(Known('@' | '?' | '*' | '+' | '!'))
        )
    }
}
