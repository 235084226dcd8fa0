//! Reads quotes and backslashes of a word, and adds what they stand for to the word's pieces.
//!
//! A quotation adds [`Piece::Quotes`], as `''` is a word although it is empty. A quotation without its end marks the
//! text as misread: a shell would not run it. Such a text counts as unknown code.

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
    /// Reads the backslash at the cursor, outside of quotes, and the symbol after it, which it quotes. Before the end
    /// of a line both vanish; a backslash at the end of the text stands for itself.
    pub(super) fn read_escape(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        if self.skip_if_next("\n") {
            return;
        }
        let Some(escaped) = self.text.get(self.position) else {
            pieces.add_symbol(Known('\\'), Quoting::Quoted);
            return;
        };
        pieces.add_symbol(*escaped, Quoting::Quoted);
        self.position += 1;
    }

    /// Reads `'text'`, in which each symbol stands for itself, from the opening to the closing quote. Without a closing
    /// one the text is marked as misread.
    pub(super) fn read_single_quotes(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        pieces.list.push(Piece::Quotes);
        while !self.is_at_end() {
            if self.skip_if_next("'") {
                return;
            }
            pieces.add_symbol(self.text[self.position], Quoting::Quoted);
            self.position += 1;
        }
        self.parsed.may_be_misread = true;
    }

    /// Reads `"text"`, in which expansions have an effect, from the opening to the closing quote.
    pub(super) fn read_double_quotes(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        let content = self.read_quoted_text(QuotedEnd::Quote);
        // Without arguments, `"$@"` is no word at all, in spite of the quotes, while `"$*"` is an empty one.
        let may_be_no_word = matches!(content.as_slice(), [Piece::Parameter(parameter)]
            if parameter.is_list() && !parameter.is_joined());
        if !may_be_no_word {
            pieces.list.push(Piece::Quotes);
        }
        pieces.list.extend(content);
    }

    /// Reads a text with the rules of double quotes, behind the opening quote if there is one. Returns its pieces, all
    /// of them quoted. Moves the cursor behind the closing quote, or to the end of the text, which is marked as misread
    /// if the quote is missing.
    pub(super) fn read_quoted_text(&mut self, end: QuotedEnd) -> Vec<Piece> {
        let mut pieces = Pieces::default();
        while !self.is_at_end() {
            match self.peek() {
                Some('"') if end == QuotedEnd::Quote => {
                    self.position += 1;
                    return pieces.list;
                }
                Some('"') => {
                    pieces.add_symbol(Known('"'), Quoting::Quoted);
                    self.position += 1;
                }
                Some('\\') => self.read_escape_in_quotes(&mut pieces),
                _ => self.read_piece(&mut pieces, Quoting::Quoted),
            }
        }
        self.parsed.may_be_misread |= end == QuotedEnd::Quote;
        pieces.list
    }

    /// Reads the backslash at the cursor, inside of double quotes. There it quotes only `$`, a backquote, `"` and
    /// itself, and removes the end of a line. Before any other symbol it stands for itself, and the cursor stays before
    /// that symbol.
    pub(super) fn read_escape_in_quotes(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        match self.peek() {
            Some('\n') => self.position += 1,
            Some(c @ ('$' | '`' | '"' | '\\')) => {
                pieces.add_symbol(Known(c), Quoting::Quoted);
                self.position += 1;
            }
            _ => pieces.add_symbol(Known('\\'), Quoting::Quoted),
        }
    }

    /// Reads the quotation of `$'...'`, with escapes as in C, from its opening to its closing quote. Without a closing
    /// one the text is marked as misread.
    pub(super) fn read_ansi_quotes(&mut self, pieces: &mut Pieces) {
        self.position += 1;
        pieces.list.push(Piece::Quotes);
        while !self.is_at_end() {
            if self.skip_if_next("'") {
                return;
            }
            if self.skip_if_next("\\") {
                self.read_ansi_escape(pieces);
            } else {
                pieces.add_symbol(self.text[self.position], Quoting::Quoted);
                self.position += 1;
            }
        }
        self.parsed.may_be_misread = true;
    }

    /// Reads what follows a backslash inside of `$'...'`, and adds the character that it stands for. Before an unknown
    /// symbol, a letter without a meaning or the end of the text, the backslash stands for itself. NUL adds nothing.
    /// Marks the text as misread where shells differ.
    pub(super) fn read_ansi_escape(&mut self, pieces: &mut Pieces) {
        let Some(c) = self.peek() else {
            pieces.add_symbol(Known('\\'), Quoting::Quoted);
            return;
        };
        self.position += 1;
        let decoded = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            // One control character stands for all of them: none is part of a name or an option.
            // The `X` of `\cX` stays.
            'a' | 'b' | 'c' | 'e' | 'E' | 'f' | 'v' => '\u{1b}',
            'x' => self.read_number(16, 2),
            'u' => self.read_number(16, 4),
            'U' => self.read_number(16, 8),
            '0'..='7' => {
                // This character is the first of the digits.
                self.position -= 1;
                // A byte, so that a shell takes `\455` for `\055`.
                let code = u32::from(self.read_number(8, 3));
                char::from_u32(code & 0xff).unwrap_or('\u{fffd}')
            }
            '\'' => {
                // A shell without `$'...'` ends the quotation here, and reads the rest in another way.
                self.parsed.may_be_misread = true;
                '\''
            }
            '\\' | '"' | '?' => c,
            _ => {
                pieces.add_symbol(Known('\\'), Quoting::Quoted);
                c
            }
        };
        if decoded == '\0' {
            // bash cuts the quotation here, and zsh does not.
            self.parsed.may_be_misread |= self.peek() != Some('\'');
            return;
        }
        pieces.add_symbol(Known(decoded), Quoting::Quoted);
    }

    /// Reads at most this many digits of this base, and returns the character with this code. Without digits it is NUL.
    /// A code that no character has becomes U+FFFD, which is part of no name or option.
    pub(super) fn read_number(&mut self, base: u32, most_digits: usize) -> char {
        let mut code = 0;
        for _ in 0..most_digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(base)) else {
                break;
            };
            code = code * base + digit;
            self.position += 1;
        }
        char::from_u32(code).unwrap_or('\u{fffd}')
    }
}
