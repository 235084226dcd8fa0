//! Reads arithmetic, which may set variables to numbers.

use super::quotes::QuotedEnd;
use super::word::Pieces;
use super::{LONGEST_ARITHMETIC, ScriptReader};
use crate::command::syntax::{
    ExpansionValue, Piece, Quoting, RawWord, SetByExpansion, is_name_char,
};
use crate::command::text::Symbol;
use crate::command::text::Symbol::Known;

impl ScriptReader<'_> {
    /// Returns the number of symbols between `((` and `))`, or None if no arithmetic comes next: `((a); b)` is none.
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
                return (self.peek_at(3 + length) == Some(')')).then_some(length);
            }
        }
        None
    }

    /// Reads arithmetic after its `((`, which stand at `start`. `length` is that of the text up to `))`.
    pub(super) fn read_arithmetic(&mut self, start: usize, length: usize) -> RawWord {
        let text = self.text[self.at..self.at + length].to_vec();
        self.at += length + 2;
        self.note_numbers(&text);
        RawWord {
            pieces: vec![Piece::Number],
            source: self.source_since(start),
        }
    }

    /// Notes that arithmetic may set each variable in its text to a number, and reads substitutions in it.
    pub(super) fn note_numbers(&mut self, text: &[Symbol]) {
        self.read_nested(text, |reader| {
            reader.read_quoted_text(QuotedEnd::OfText);
        });
        let mut name = String::new();
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

    /// Reads `$[1 + 2]`, the old form of arithmetic, which bash still knows.
    pub(super) fn read_old_arithmetic(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        let mut length = 1;
        while length < LONGEST_ARITHMETIC && self.peek_at(length).is_some_and(|c| c != ']') {
            length += 1;
        }
        if self.peek_at(length) != Some(']') {
            return pieces.add_symbol(Known('$'), quoting);
        }
        let text = self.text[self.at + 1..self.at + length].to_vec();
        self.at += length + 1;
        self.note_numbers(&text);
        // Another shell takes the brackets as they are.
        pieces.list.push(Piece::Number);
    }
}
