//! Reads here-documents: the `<<END` of a command, and the lines that follow its line. They matter as a shell may read
//! one as its script (`sh <<END`). One that cannot be followed marks the text as misread, so that it counts
//! as unknown code.

use super::ScriptReader;
use super::draft::{Draft, HereDocument, Tabs};
use super::quotes::QuotedEnd;
use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::Symbol::Known;
use crate::command::text::{Symbol, Symbols, exact};

impl<'t> ScriptReader<'t> {
    /// Reads the delimiter of a here-document after its `<<`, and notes in the draft that its text follows on the next
    /// line. Gives up if an expansion is in the delimiter, as the end of the text is then unknown.
    pub(super) fn await_document(&mut self, draft: &mut Draft, tabs: Tabs) {
        self.skip_blanks();
        let word = self.read_word();
        // Any quote in the delimiter makes the text literal.
        let is_literal = !matches!(word.pieces.as_slice(), [Piece::Text(_, Quoting::Unquoted)]);
        match word.literal() {
            Some(delimiter) => draft.awaited.push(HereDocument {
                // The index that the command of this `<<` gets when it ends.
                command: draft.script.commands.len(),
                delimiter,
                is_literal,
                tabs,
            }),
            None => self.give_up(),
        }
    }

    /// Reads the here-documents that begin on this line, in the order of their `<<`, and adds each text to the input of
    /// its command, which stands on the line before, and has to be ended already. Does nothing if none is awaited.
    pub(super) fn read_here_documents(&mut self, draft: &mut Draft) {
        for document in std::mem::take(&mut draft.awaited) {
            let body = self.read_document_body(&document);
            let pieces = if document.is_literal {
                vec![Piece::Text(body, Quoting::Quoted)]
            } else {
                // Expansions have an effect in it, as in double quotes.
                self.read_nested(&body, |reader| reader.read_quoted_text(QuotedEnd::OfText))
            };
            let word = RawWord {
                pieces,
                source: format!("<<{}", document.delimiter).into(),
            };
            draft.add_input(document.command, &word);
        }
    }

    /// Reads lines up to and with the line that is the delimiter. Returns them without that line, and without leading
    /// tabs for `<<-`. Marks the text as misread if the delimiter is not certain, or missing.
    fn read_document_body(&mut self, document: &HereDocument) -> Symbols {
        let mut body = Symbols::new();
        while !self.is_at_end() {
            let line = self.read_document_line(document);
            let tabs = line.iter().take_while(|symbol| **symbol == Known('\t'));
            let line = match document.tabs {
                Tabs::Stripped => &line[tabs.count()..],
                Tabs::Kept => line,
            };
            let is_continued = line.contains(&Known('\n'));
            // Spares long lines the comparison, for which they are copied.
            let may_be_delimiter = is_continued || line.len() <= document.delimiter.len();
            if may_be_delimiter && is_delimiter(line, &document.delimiter) {
                // Some shells take only a delimiter in one piece for one.
                self.parsed.may_be_misread |= is_continued;
                return body;
            }
            body.extend_from_slice(line);
            body.push(Known('\n'));
        }
        // A shell accepts a missing delimiter with a warning, but the delimiter may have been misread.
        self.parsed.may_be_misread = true;
        body
    }

    /// Reads a line of a here-document, and returns it without the end of the line. Unless the document is literal, a
    /// line with a `\` at its end goes on in the next one, which is then neither a delimiter nor loses its tabs: both
    /// are returned as they are written.
    fn read_document_line(&mut self, document: &HereDocument) -> &'t [Symbol] {
        let start = self.position;
        loop {
            let unread = &self.text[self.position..];
            let length = unread.iter().position(|symbol| *symbol == Known('\n'));
            let end = self.position + length.unwrap_or(unread.len());
            // The last line of the text may have no `\n` to skip.
            self.position = (end + 1).min(self.text.len());
            let line = &self.text[start..end];
            let goes_on = !document.is_literal && ends_with_escape(line);
            if !goes_on || self.is_at_end() {
                return line;
            }
        }
    }
}

/// Returns true if the last symbol is a `\` that no other quotes.
fn ends_with_escape(line: &[Symbol]) -> bool {
    let backslashes = line
        .iter()
        .rev()
        .take_while(|symbol| **symbol == Known('\\'));
    backslashes.count() % 2 == 1
}

/// Returns true if a line is this delimiter. In a continued line, the `\` before each end of a line does not count, nor
/// does that end.
fn is_delimiter(line: &[Symbol], delimiter: &str) -> bool {
    let mut joined = Symbols::new();
    for symbol in line {
        if *symbol == Known('\n') {
            joined.pop();
        } else {
            joined.push(*symbol);
        }
    }
    exact(&joined).is_some_and(|joined| joined == delimiter)
}
