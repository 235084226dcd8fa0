//! Reads arithmetic, such as `((count += 1))`. Its result is a number, which can be no option of a client. What matters
//! is that it may set variables to numbers, and that substitutions in it run commands.

use super::quotes::QuotedEnd;
use super::word::Pieces;
use super::{LONGEST_ARITHMETIC, ScriptReader};
use crate::command::syntax::{
    ExpansionValue, Piece, Quoting, RawWord, SetByExpansion, is_name_char,
};
use crate::command::text::Symbol;
use crate::command::text::Symbol::Known;

impl ScriptReader<'_> {
    /// Returns the number of symbols between the `((` at the cursor and its `))`. Returns None if no arithmetic comes
    /// next, as `((a); b)` is a subshell in another one, or a longer one than the limit, which is then read as
    /// subshells. The cursor does not move.
    pub(super) fn arithmetic_length(&self) -> Option<usize> {
        if !self.starts_with("((") {
            return None;
        }
        let mut open = 2;
        for length in 0..LONGEST_ARITHMETIC {
            match self.peek_at(2 + length) {
                Some('(') => open += 1,
                Some(')') => open -= 1,
                _ => {}
            }
            if open == 1 {
                // Only arithmetic closes both parentheses at once.
                let closes_both = self.peek_at(3 + length) == Some(')');
                return if closes_both { Some(length) } else { None };
            }
        }
        None
    }

    /// Reads arithmetic from behind its `((`, which stands at `start`, up to and with its `))`. `length` is the number
    /// of symbols between them. Returns it as a word whose value is a number, and whose source begins with `((`, by
    /// which the command `((...))` is told from `$((...))` later; for the latter the word is not used.
    pub(super) fn read_arithmetic(&mut self, start: usize, length: usize) -> RawWord {
        let text = self.text[self.position..self.position + length].to_vec();
        self.position += length + 2;
        self.note_numbers(&text);
        RawWord {
            pieces: vec![Piece::Number],
            source: self.source_since(start),
        }
    }

    /// Notes that arithmetic may set each variable in its text to a number, and reads substitutions in it. No operator
    /// is looked at: a number more among the values of a variable is harmless. Digits are noted as if they were names.
    pub(super) fn note_numbers(&mut self, text: &[Symbol]) {
        self.read_nested(text, |reader| {
            // The pieces are not needed: the reader keeps what it finds in substitutions.
            reader.read_quoted_text(QuotedEnd::OfText);
        });
        let mut name = String::new();
        // The blank ends a name at the end of the text.
        for symbol in text.iter().chain([&Known(' ')]) {
            match symbol {
                Known(c) if is_name_char(*c) => name.push(*c),
                _ if name.is_empty() => {}
                _ => {
                    let name = std::mem::take(&mut name);
                    self.parsed.set_by_expansion.push(SetByExpansion {
                        name,
                        value: ExpansionValue::Number,
                    });
                }
            }
        }
    }

    /// Reads `$[1 + 2]`, the old form of arithmetic, which bash still knows, from its bracket. Without an end within
    /// the limit, or with an unknown symbol before it, adds the `$` alone, and the cursor stays at the bracket.
    pub(super) fn read_old_arithmetic(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        let Some(offset_of_end) = self.offset_of_closing_bracket() else {
            return pieces.add_symbol(Known('$'), quoting);
        };
        let text = self.text[self.position + 1..self.position + offset_of_end].to_vec();
        self.position += offset_of_end + 1;
        self.note_numbers(&text);
        // Another shell takes the brackets as they are; like a number, they begin no option.
        pieces.list.push(Piece::Number);
    }

    /// Returns how far the bracket that closes the one at the cursor is from it. Those of elements, as in
    /// `$[a[1] + 2]`, come in pairs. None if there is none within the limit or before an unknown symbol.
    fn offset_of_closing_bracket(&self) -> Option<usize> {
        let mut open = 0;
        for offset in 0..LONGEST_ARITHMETIC {
            match self.peek_at(offset)? {
                '[' => open += 1,
                ']' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Some(offset);
            }
        }
        None
    }
}
