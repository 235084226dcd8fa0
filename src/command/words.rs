//! A tokenizer for shell text: words, operators, redirections, here-documents, comments, functions, arrays, `case`,
//! line continuations. Reads what sh and bash share; where they differ, what bash reads.
//!
//! Each symbol is read once, except for a bounded look ahead and for the nested quoting of backquotes.

mod expansions;

use std::rc::Rc;

use super::syntax::{Parsed, Piece, Quoting, RawWord, Script, SimpleCommand};
use super::text::Symbol::{self, Known};
use super::text::{Text, exact, shown};

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
pub(crate) fn parse(text: &[Symbol]) -> Parsed {
    parse_at(text, 0)
}

/// Reads a script at this depth of nested substitutions.
fn parse_at(text: &[Symbol], depth: usize) -> Parsed {
    let mut reader = Reader::new(text, depth);
    let script = reader.script(End::OfText);
    reader.parsed.scripts.push(Rc::new(script));
    reader.parsed
}

/// Where a script ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    OfText,
    Parenthesis,
}

struct Reader<'t> {
    text: &'t [Symbol],
    at: usize,
    depth: usize,
    parsed: Parsed,
}

/// A script of which a part has been read.
#[derive(Default)]
struct Draft {
    script: Script,
    command: SimpleCommand,
    /// The words so far are reserved words after which a command begins.
    is_at_start: bool,
    /// Here-documents whose text begins after the line: the index of the command, the delimiter, how to read it.
    awaited: Vec<HereDocument>,
    /// Open `case` commands in each open parenthesis.
    open_cases: Vec<usize>,
    /// The number of words since `case`, up to its `in`.
    words_of_case: Option<usize>,
    /// The patterns of a branch of `case` come next.
    awaits_pattern: bool,
}

struct HereDocument {
    command: usize,
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
}

impl Draft {
    fn new() -> Draft {
        Draft {
            is_at_start: true,
            open_cases: vec![0],
            ..Draft::default()
        }
    }

    /// Ends the command. `reads_pipe` is about the next one.
    fn end_command(&mut self, reads_pipe: bool) {
        let command = std::mem::take(&mut self.command);
        let is_awaited = self
            .awaited
            .iter()
            .any(|document| document.command == self.script.commands.len());
        if !command.words.is_empty()
            || !command.input.is_empty()
            || !command.input_files.is_empty()
            || is_awaited
        {
            self.script.commands.push(command);
        }
        self.command.reads_pipe = reads_pipe;
        self.is_at_start = true;
    }

    fn add_word(&mut self, word: RawWord) {
        let bare = word.bare().unwrap_or_default();
        match self.words_of_case {
            Some(1) => {
                self.awaits_pattern = bare == "in";
                self.words_of_case = None;
            }
            Some(count) => self.words_of_case = Some(count + 1),
            None => {}
        }
        if self.is_at_start
            && let Some(cases) = self.open_cases.last_mut()
        {
            match &*bare {
                "case" => {
                    *cases += 1;
                    self.words_of_case = Some(0);
                }
                "esac" => *cases = cases.saturating_sub(1),
                _ => {}
            }
        }
        let opens_body = bare == "{" && self.command.names_function();
        self.is_at_start &= OPENERS.contains(&&*bare);
        self.is_at_start |= opens_body;
        self.command.words.push(word);
    }
}

impl<'t> Reader<'t> {
    fn new(text: &'t [Symbol], depth: usize) -> Reader<'t> {
        Reader {
            text,
            at: 0,
            depth,
            parsed: Parsed::default(),
        }
    }

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

    /// Takes the text if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.starts_with(text);
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    /// Gives up: the rest of the text cannot be followed.
    fn cut(&mut self) {
        self.parsed.is_cut = true;
        self.at = self.text.len();
    }

    /// Returns the symbols from `start` to here, for messages.
    fn source(&self, start: usize) -> String {
        let end = self.at.min(start + LONGEST_SHOWN);
        let mut source = shown(&self.text[start..end]);
        if end < self.at {
            source.push_str("...");
        }
        source
    }

    fn script(&mut self, end: End) -> Script {
        let mut draft = Draft::new();
        loop {
            self.skip_blanks();
            if self.is_at_end() {
                self.parsed.is_cut |= end == End::Parenthesis || draft.open_cases.len() > 1;
                break;
            }
            if draft.awaits_pattern {
                self.patterns(&mut draft);
                continue;
            }
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some('\n') => {
                    self.at += 1;
                    draft.end_command(false);
                    self.here_documents(&mut draft);
                }
                Some(')') => {
                    self.at += 1;
                    if self.close(&mut draft, end) {
                        return draft.script;
                    }
                }
                Some('(') => self.open(&mut draft),
                Some(';' | '&' | '|') => self.operator(&mut draft),
                Some('<' | '>') if !self.is_process_substitution() => self.redirection(&mut draft),
                _ => self.plain_word(&mut draft),
            }
        }
        draft.end_command(false);
        self.parsed.is_cut |= !draft.awaited.is_empty();
        draft.script
    }

    fn skip_blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    fn skip_comment(&mut self) {
        while !self.is_at_end() && self.peek() != Some('\n') {
            self.at += 1;
        }
    }

    fn is_process_substitution(&self) -> bool {
        self.starts_with("<(") || self.starts_with(">(")
    }

    /// Reads `esac`, or the patterns of a branch of `case` with their closing parenthesis.
    fn patterns(&mut self, draft: &mut Draft) {
        draft.end_command(false);
        draft.awaits_pattern = false;
        self.skip_lines();
        let is_open = self.take("(");
        loop {
            self.skip_lines();
            let start = self.at;
            let word = self.word();
            if !is_open && word.bare().as_deref() == Some("esac") {
                draft.add_word(word);
                return;
            }
            self.skip_lines();
            if self.take(")") {
                return;
            }
            if self.is_at_end() || !self.take("|") && self.at == start {
                return self.cut();
            }
        }
    }

    /// Skips blanks, comments and ends of lines.
    fn skip_lines(&mut self) {
        loop {
            let start = self.at;
            self.skip_blanks();
            self.take("\n");
            if self.peek() == Some('#') {
                self.skip_comment();
            }
            if self.at == start {
                return;
            }
        }
    }

    /// Closes a parenthesis. Returns true if the script ends here.
    fn close(&mut self, draft: &mut Draft, end: End) -> bool {
        draft.end_command(false);
        if draft.open_cases.len() > 1 {
            draft.open_cases.pop();
            return false;
        }
        if end == End::OfText {
            // A shell would not run such a script, so it is not understood.
            self.parsed.is_cut = true;
        }
        end == End::Parenthesis
    }

    /// Reads `(`: a function, arithmetic or a subshell.
    fn open(&mut self, draft: &mut Draft) {
        if let Some(length) = self.arithmetic_length() {
            let start = self.at;
            self.at += 2;
            let word = self.arithmetic(start, length);
            draft.add_word(word);
            return;
        }
        self.at += 1;
        self.skip_blanks();
        if let Some(name) = draft.command.words.last().cloned()
            && self.take(")")
        {
            self.parsed
                .functions
                .push(name.literal().unwrap_or_default());
            draft.end_command(false);
            return;
        }
        draft.end_command(false);
        draft.open_cases.push(0);
    }

    fn operator(&mut self, draft: &mut Draft) {
        if self.starts_with("&>") {
            self.at += 1;
            self.redirection(draft);
        } else if self.take("||") || self.take("&&") {
            draft.end_command(false);
        } else if self.take("|&") || self.take("|") {
            draft.end_command(true);
        } else if self.take(";;&") || self.take(";;") || self.take(";&") {
            draft.end_command(false);
            draft.awaits_pattern = draft.open_cases.last().is_some_and(|open| *open > 0);
        } else {
            self.at += 1;
            draft.end_command(false);
        }
    }

    fn redirection(&mut self, draft: &mut Draft) {
        if self.take("<<<") {
            self.skip_blanks();
            let word = self.word();
            draft.command.input.push(word);
        } else if self.take("<<-") {
            self.await_document(draft, true);
        } else if self.take("<<") {
            self.await_document(draft, false);
        } else {
            let is_input = self.starts_with("<") && !self.starts_with("<&");
            while self.take("<") || self.take(">") || self.take("&") || self.take("|") {}
            self.skip_blanks();
            let word = self.word();
            if is_input {
                draft.command.input_files.push(word);
            }
        }
    }

    fn await_document(&mut self, draft: &mut Draft, strips_tabs: bool) {
        self.skip_blanks();
        let word = self.word();
        let is_literal = !matches!(word.pieces.as_slice(), [Piece::Text(_, Quoting::Unquoted)]);
        match word.literal() {
            Some(delimiter) => draft.awaited.push(HereDocument {
                command: draft.script.commands.len(),
                delimiter,
                is_literal,
                strips_tabs,
            }),
            None => self.cut(),
        }
    }

    /// Reads the here-documents that begin on this line.
    fn here_documents(&mut self, draft: &mut Draft) {
        for document in std::mem::take(&mut draft.awaited) {
            let body = self.document_body(&document);
            let pieces = if document.is_literal {
                vec![Piece::Text(body, Quoting::Quoted)]
            } else {
                self.nested(&body, |reader| reader.quoted_text(None))
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

    fn document_body(&mut self, document: &HereDocument) -> Text {
        let mut body = Text::new();
        while !self.is_at_end() {
            let rest = &self.text[self.at..];
            let length = rest.iter().position(|symbol| *symbol == Known('\n'));
            let line = &rest[..length.unwrap_or(rest.len())];
            self.at += (line.len() + 1).min(rest.len());
            let tabs = line.iter().take_while(|symbol| **symbol == Known('\t'));
            let line = if document.strips_tabs {
                &line[tabs.count()..]
            } else {
                line
            };
            if line.len() <= document.delimiter.len()
                && exact(line).is_some_and(|line| line == document.delimiter)
            {
                return body;
            }
            body.extend_from_slice(line);
            body.push(Known('\n'));
        }
        // A shell accepts a missing delimiter with a warning, but the delimiter may have been misread.
        self.parsed.is_cut = true;
        body
    }

    /// Reads another text, and adds what it holds to what this reader has found.
    fn nested<T>(&mut self, text: &[Symbol], read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
        let mut inner = Reader::new(text, self.depth + 1);
        if self.depth >= DEEPEST {
            inner.cut();
        }
        let result = read(&mut inner);
        let Parsed {
            scripts,
            set_by_expansion,
            functions,
            is_cut,
        } = inner.parsed;
        self.parsed.scripts.extend(scripts);
        self.parsed.set_by_expansion.extend(set_by_expansion);
        self.parsed.functions.extend(functions);
        self.parsed.is_cut |= is_cut;
        result
    }

    fn plain_word(&mut self, draft: &mut Draft) {
        let word = self.word();
        let is_number = word.source.chars().all(|c| c.is_ascii_digit());
        let is_descriptor =
            (is_number || word.source.starts_with('{')) && matches!(self.peek(), Some('<' | '>'));
        if is_descriptor && is_number {
            // `2>log`
        } else if is_descriptor && word.source.ends_with('}') {
            // `{fd}>log`
        } else {
            draft.add_word(word);
            if draft.command.names_function() {
                let name = draft.command.words[1].literal().unwrap_or_default();
                self.parsed.functions.push(name);
            }
        }
    }

    /// Reads a word up to a blank or an operator.
    fn word(&mut self) -> RawWord {
        let start = self.at;
        let mut pieces = Pieces::default();
        loop {
            let is_end = self.is_at_end()
                || matches!(self.peek(), Some(' ' | '\t' | '\n' | ';' | '&' | '|'))
                || matches!(self.peek(), Some(')'));
            if is_end {
                break;
            }
            match self.peek() {
                Some('<' | '>') if self.is_process_substitution() => self.process(&mut pieces),
                Some('<' | '>') => break,
                Some('(') if pieces.is_array_next() => self.array(&mut pieces),
                Some('(') if pieces.is_pattern_next() => self.pattern_group(&mut pieces),
                Some('(') => break,
                _ => self.piece(&mut pieces, Quoting::Unquoted),
            }
        }
        RawWord {
            pieces: pieces.list,
            source: self.source(start),
        }
    }

    fn process(&mut self, pieces: &mut Pieces) {
        self.at += 2;
        self.substitution();
        pieces.list.push(Piece::Process);
    }

    /// Reads `(...)` after `name=`.
    fn array(&mut self, pieces: &mut Pieces) {
        if self.depth >= DEEPEST {
            return self.cut();
        }
        self.depth += 1;
        self.elements(pieces);
        self.depth -= 1;
    }

    fn elements(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        let mut elements = Vec::new();
        loop {
            while self.take(" ") || self.take("\t") || self.take("\n") || self.take("\\\n") {}
            if self.is_at_end() {
                self.parsed.is_cut = true;
                break;
            }
            if self.take(")") {
                break;
            }
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some(';' | '&' | '|' | '(') => return self.cut(),
                Some('<' | '>') if !self.is_process_substitution() => return self.cut(),
                _ => elements.push(self.word()),
            }
        }
        pieces.list.push(Piece::Array(elements));
    }

    /// Reads `@(a|b)`, which matches names of files.
    fn pattern_group(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        self.substitution();
        pieces.text(Known('*'), Quoting::Unquoted);
    }
}

/// The pieces of a word that is being read.
#[derive(Default)]
struct Pieces {
    list: Vec<Piece>,
}

impl Pieces {
    fn text(&mut self, symbol: Symbol, quoting: Quoting) {
        match self.list.last_mut() {
            Some(Piece::Text(text, last)) if *last == quoting => text.push(symbol),
            _ => self.list.push(Piece::Text(vec![symbol], quoting)),
        }
    }

    fn last(&self) -> Option<Symbol> {
        match self.list.last() {
            Some(Piece::Text(text, Quoting::Unquoted)) => text.last().copied(),
            _ => None,
        }
    }

    fn is_array_next(&self) -> bool {
        let is_single = self.list.len() == 1;
        is_single && self.last() == Some(Known('='))
    }

    fn is_pattern_next(&self) -> bool {
        matches!(self.last(), Some(Known('@' | '?' | '*' | '+' | '!')))
    }
}
