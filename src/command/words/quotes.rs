//! Reads quotes and backslashes.

use super::ScriptReader;
use super::word::Pieces;
use crate::command::syntax::{Piece, Quoting};
use crate::command::text::Symbol::Known;

/// The end of a text with the rules of double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotedEnd {
    /// The closing quote.
    Quote,
    /// The end of the text, such as that of a here-document, where a quote is an ordinary character.
    OfText,
}

impl ScriptReader<'_> {
    /// Reads a backslash outside of quotes: the next character is quoted, and a line end vanishes.
    pub(super) fn read_escape(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        if self.take("\n") {
            return;
        }
        match self.text.get(self.at) {
            Some(symbol) => pieces.add_symbol(*symbol, Quoting::Quoted),
            None => pieces.add_symbol(Known('\\'), Quoting::Quoted),
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    /// Reads `'text'`.
    pub(super) fn read_single_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        pieces.list.push(Piece::Quotes);
        while !self.is_at_end() {
            if self.take("'") {
                return;
            }
            pieces.add_symbol(self.text[self.at], Quoting::Quoted);
            self.at += 1;
        }
        self.parsed.is_incomplete = true;
    }

    /// Reads `"text"`.
    pub(super) fn read_double_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        let content = self.read_quoted_text(QuotedEnd::Quote);
        // `"$@"` may be no word at all.
        let is_list =
            matches!(content.as_slice(), [Piece::Parameter(parameter)] if parameter.is_list());
        if !is_list {
            pieces.list.push(Piece::Quotes);
        }
        pieces.list.extend(content);
    }

    /// Reads a text with the rules of double quotes.
    pub(super) fn read_quoted_text(&mut self, end: QuotedEnd) -> Vec<Piece> {
        let mut pieces = Pieces::default();
        while !self.is_at_end() {
            match self.peek() {
                Some('"') if end == QuotedEnd::Quote => {
                    self.at += 1;
                    return pieces.list;
                }
                Some('"') => {
                    pieces.add_symbol(Known('"'), Quoting::Quoted);
                    self.at += 1;
                }
                Some('\\') => self.read_escape_in_quotes(&mut pieces),
                _ => self.read_piece(&mut pieces, Quoting::Quoted),
            }
        }
        self.parsed.is_incomplete |= end == QuotedEnd::Quote;
        pieces.list
    }

    /// Reads a backslash inside double quotes, where it quotes only a few characters.
    pub(super) fn read_escape_in_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c @ ('$' | '`' | '"' | '\\')) => {
                pieces.add_symbol(Known(c), Quoting::Quoted);
                self.at += 1;
            }
            _ => pieces.add_symbol(Known('\\'), Quoting::Quoted),
        }
    }

    /// Reads `$'...'`.
    pub(super) fn read_ansi_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        pieces.list.push(Piece::Quotes);
        while !self.is_at_end() {
            if self.take("'") {
                return;
            }
            if self.take("\\") {
                self.read_ansi_escape(pieces);
            } else {
                pieces.add_symbol(self.text[self.at], Quoting::Quoted);
                self.at += 1;
            }
        }
        self.parsed.is_incomplete = true;
    }

    /// Reads what follows a backslash inside `$'...'`.
    pub(super) fn read_ansi_escape(&mut self, pieces: &mut Pieces) {
        let Some(c) = self.peek() else {
            pieces.add_symbol(Known('\\'), Quoting::Quoted);
            return;
        };
        self.at += 1;
        let decoded = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' => '\u{1b}',
            'x' => self.read_number(16, 2),
            'u' => self.read_number(16, 4),
            'U' => self.read_number(16, 8),
            'c' => self.read_number(16, 0),
            '0'..='7' => {
                self.at -= 1;
                self.read_number(8, 3)
            }
            '\'' => {
                // A shell without `$'...'` ends the quotation here, and reads the rest in another way.
                self.parsed.is_incomplete = true;
                '\''
            }
            '\\' | '"' | '?' => c,
            _ => {
                pieces.add_symbol(Known('\\'), Quoting::Quoted);
                c
            }
        };
        pieces.add_symbol(Known(decoded), Quoting::Quoted);
    }

    /// Reads the digits of a character's code.
    pub(super) fn read_number(&mut self, base: u32, digits: usize) -> char {
        let mut code = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(base)) else {
                break;
            };
            code = code * base + digit;
            self.at += 1;
        }
        char::from_u32(code).unwrap_or('\u{fffd}')
    }
}
