//! Reads here-documents: the `<<END` of a command, and the lines that follow its line.

use super::ScriptReader;
use super::draft::{Draft, HereDocument, Tabs};
use super::quotes::QuotedEnd;
use crate::command::syntax::{Piece, Quoting, RawWord};
use crate::command::text::Symbol::Known;
use crate::command::text::{Symbols, exact};

impl ScriptReader<'_> {
    /// Reads the delimiter of a here-document after its `<<`.
    pub(super) fn await_document(&mut self, draft: &mut Draft, tabs: Tabs) {
        self.skip_blanks();
        let word = self.read_word();
        let is_literal = !matches!(word.pieces.as_slice(), [Piece::Text(_, Quoting::Unquoted)]);
        match word.literal() {
            Some(delimiter) => draft.awaited.push(HereDocument {
                command: draft.script.commands.len(),
                delimiter,
                is_literal,
                tabs,
            }),
            None => self.give_up(),
        }
    }

    /// Reads the here-documents that begin on this line, for commands of the line before.
    pub(super) fn read_here_documents(&mut self, draft: &mut Draft) {
        for document in std::mem::take(&mut draft.awaited) {
            let body = self.read_document_body(&document);
            let pieces = if document.is_literal {
                vec![Piece::Text(body, Quoting::Quoted)]
            } else {
                self.read_nested(&body, |reader| reader.read_quoted_text(QuotedEnd::OfText))
            };
            let word = RawWord {
                pieces,
                source: format!("<<{}", document.delimiter),
            };
            if let Some(command) = draft.script.commands.get_mut(document.command) {
                command.input.push(word);
            }
        }
    }

    /// Reads lines up to the delimiter.
    fn read_document_body(&mut self, document: &HereDocument) -> Symbols {
        let mut body = Symbols::new();
        while !self.is_at_end() {
            let rest = &self.text[self.at..];
            let length = rest.iter().position(|symbol| *symbol == Known('\n'));
            let line = &rest[..length.unwrap_or(rest.len())];
            self.at += (line.len() + 1).min(rest.len());
            let tabs = line.iter().take_while(|symbol| **symbol == Known('\t'));
            let line = match document.tabs {
                Tabs::Stripped => &line[tabs.count()..],
                Tabs::Kept => line,
            };
            let may_be_delimiter = line.len() <= document.delimiter.len();
            if may_be_delimiter && exact(line).is_some_and(|line| line == document.delimiter) {
                return body;
            }
            body.extend_from_slice(line);
            body.push(Known('\n'));
        }
        // A shell accepts a missing delimiter with a warning, but the delimiter may have been misread.
        self.parsed.is_incomplete = true;
        body
    }
}
