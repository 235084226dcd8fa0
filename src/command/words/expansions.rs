//! Quotes, `$` and backquotes within a word.

use std::rc::Rc;

use super::{DEEPEST, End, LONGEST_ARITHMETIC, Pieces, Reader, parse_at};
use crate::command::syntax::{Parameter, Piece, Quoting, RawWord, Script, is_name_char};
use crate::command::text::Symbol::Known;
use crate::command::text::Text;

/// Operators of `${name...}`, longer ones first.
const OPERATORS: [&str; 24] = [
    ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#", "%",
    "/", "^", ",", "@", ":", "~~", "~",
];

impl Reader<'_> {
    /// Reads one piece of a word: a quotation, an expansion or a character.
    pub(super) fn piece(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        match (self.peek(), quoting) {
            (Some('\\'), Quoting::Unquoted) => self.escape(pieces),
            (Some('\''), Quoting::Unquoted) => self.single_quotes(pieces),
            (Some('"'), _) => self.double_quotes(pieces),
            (Some('`'), _) => self.backquotes(pieces, quoting),
            (Some('$'), _) => self.dollar(pieces, quoting),
            _ => {
                pieces.text(self.text[self.at], quoting);
                self.at += 1;
            }
        }
    }

    fn escape(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        if self.take("\n") {
            return;
        }
        match self.text.get(self.at) {
            Some(symbol) => pieces.text(*symbol, Quoting::Quoted),
            None => pieces.text(Known('\\'), Quoting::Quoted),
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    fn single_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        pieces.list.push(Piece::Quotes);
        while !self.is_at_end() {
            if self.take("'") {
                return;
            }
            pieces.text(self.text[self.at], Quoting::Quoted);
            self.at += 1;
        }
        self.parsed.is_cut = true;
    }

    fn double_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        let content = self.quoted_text(Some('"'));
        // `"$@"` may be no word at all.
        let is_list =
            matches!(content.as_slice(), [Piece::Parameter(parameter)] if parameter.is_list());
        if !is_list {
            pieces.list.push(Piece::Quotes);
        }
        pieces.list.extend(content);
    }

    /// Reads the text of double quotes up to `end`, or of a here-document.
    pub(super) fn quoted_text(&mut self, end: Option<char>) -> Vec<Piece> {
        let mut pieces = Pieces::default();
        while !self.is_at_end() {
            match self.peek() {
                Some('"') if end.is_some() => {
                    self.at += 1;
                    return pieces.list;
                }
                Some('"') => {
                    pieces.text(Known('"'), Quoting::Quoted);
                    self.at += 1;
                }
                Some('\\') => self.escape_in_quotes(&mut pieces),
                _ => self.piece(&mut pieces, Quoting::Quoted),
            }
        }
        self.parsed.is_cut |= end.is_some();
        pieces.list
    }

    fn escape_in_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c @ ('$' | '`' | '"' | '\\')) => {
                pieces.text(Known(c), Quoting::Quoted);
                self.at += 1;
            }
            _ => pieces.text(Known('\\'), Quoting::Quoted),
        }
    }

    /// Reads a script in backquotes. A backslash takes away the meaning of the next sign for this level.
    fn backquotes(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        self.at += 1;
        let mut text = Text::new();
        while !self.is_at_end() && !self.starts_with("`") {
            let is_escaped = self.peek() == Some('\\')
                && match self.peek_at(1) {
                    Some('\\' | '`' | '$') => true,
                    Some('"') => quoting == Quoting::Quoted,
                    _ => false,
                };
            self.at += usize::from(is_escaped);
            text.push(self.text[self.at]);
            self.at += 1;
        }
        if !self.take("`") || self.depth >= DEEPEST {
            self.parsed.is_cut = true;
        }
        let script = if self.depth < DEEPEST {
            let inner = parse_at(&text, self.depth + 1);
            self.parsed.set_by_expansion.extend(inner.set_by_expansion);
            self.parsed.functions.extend(inner.functions);
            self.parsed.is_cut |= inner.is_cut;
            self.parsed.scripts.extend(inner.scripts.iter().cloned());
            inner.scripts.last().cloned().unwrap_or_default()
        } else {
            Rc::default()
        };
        pieces.list.push(Piece::Command(script, quoting));
    }

    fn dollar(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        self.at += 1;
        match self.peek() {
            Some('(') => self.parenthesis(pieces, quoting),
            Some('{') => self.braces(pieces, quoting),
            Some('\'') if quoting == Quoting::Unquoted => self.ansi_quotes(pieces),
            Some('"') if quoting == Quoting::Unquoted => self.double_quotes(pieces),
            Some('[') => self.old_arithmetic(pieces, quoting),
            _ => {
                let name = self.name();
                if name.is_empty() {
                    pieces.text(Known('$'), quoting);
                } else {
                    pieces.list.push(plain_parameter(name, quoting));
                }
            }
        }
    }

    /// Reads a name, a digit or a sign that names a parameter.
    fn name(&mut self) -> String {
        let mut name = String::new();
        match self.peek() {
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                name.push(c);
            }
            _ => {
                while let Some(c) = self.peek().filter(|c| is_name_char(*c)) {
                    self.at += 1;
                    name.push(c);
                }
            }
        }
        name
    }

    fn parenthesis(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        if let Some(length) = self.arithmetic_length() {
            let start = self.at;
            self.at += 2;
            self.arithmetic(start, length);
            pieces.list.push(Piece::Number);
            return;
        }
        self.at += 1;
        let script = self.substitution();
        pieces.list.push(Piece::Command(script, quoting));
    }

    /// Reads the script of a substitution up to its closing parenthesis.
    pub(super) fn substitution(&mut self) -> Rc<Script> {
        if self.depth >= DEEPEST {
            self.cut();
            return Rc::default();
        }
        self.depth += 1;
        let script = Rc::new(self.script(End::Parenthesis));
        self.depth -= 1;
        self.parsed.scripts.push(Rc::clone(&script));
        script
    }

    /// Returns the number of symbols between `((` and `))`, if arithmetic comes next. `((a); b)` is none.
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

    /// Reads arithmetic after its `((`. Each variable in it may be set to a number.
    pub(super) fn arithmetic(&mut self, start: usize, length: usize) -> RawWord {
        let text = self.text[self.at..self.at + length].to_vec();
        self.at += length + 2;
        self.numbers(&text);
        RawWord {
            pieces: vec![Piece::Number],
            source: self.source(start),
        }
    }

    /// Reads the text of arithmetic.
    fn numbers(&mut self, text: &[super::Symbol]) {
        self.nested(text, |reader| {
            reader.quoted_text(None);
        });
        let mut name = String::new();
        for symbol in text.iter().chain([&Known(' ')]) {
            match symbol {
                Known(c) if is_name_char(*c) => name.push(*c),
                _ if name.is_empty() => {}
                _ => {
                    let name = std::mem::take(&mut name);
                    self.parsed.set_by_expansion.push((name, None));
                }
            }
        }
    }

    /// Reads `$[1 + 2]`, which bash still knows.
    fn old_arithmetic(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        let mut length = 1;
        while length < LONGEST_ARITHMETIC && self.peek_at(length).is_some_and(|c| c != ']') {
            length += 1;
        }
        if self.peek_at(length) != Some(']') {
            return pieces.text(Known('$'), quoting);
        }
        let text = self.text[self.at + 1..self.at + length].to_vec();
        self.at += length + 1;
        self.numbers(&text);
        // Another shell takes the brackets as they are.
        pieces.list.push(Piece::Number);
    }

    /// Reads `${...}`.
    fn braces(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        self.at += 1;
        if self.depth >= DEEPEST {
            return self.cut();
        }
        self.depth += 1;
        let parameter = self.parameter(quoting);
        self.depth -= 1;
        if !self.take("}") {
            self.parsed.is_cut = true;
        }
        pieces.list.push(Piece::Parameter(Box::new(parameter)));
    }

    fn parameter(&mut self, quoting: Quoting) -> Parameter {
        let is_prefixed =
            |next: Option<char>| next.is_some_and(|c| is_name_char(c) || c == '@' || c == '*');
        let prefix = match (self.peek(), self.peek_at(1)) {
            (Some('#'), next) if is_prefixed(next) => "length",
            (Some('!'), next) if is_prefixed(next) => "indirect",
            _ => "",
        };
        self.at += usize::from(!prefix.is_empty());
        let mut name = self.name();
        while let Some(c) = self.peek().filter(|c| is_name_char(*c)) {
            self.at += 1;
            name.push(c);
        }
        let index = self.index();
        let operator = match OPERATORS.iter().find(|operator| self.starts_with(operator)) {
            Some(operator) => *operator,
            None => "",
        };
        self.take(operator);
        let operand = self.operand(quoting, operator);
        if operator.ends_with('=') {
            self.parsed
                .set_by_expansion
                .push((name.clone(), Some(operand.clone())));
        }
        let operator = if prefix.is_empty() { operator } else { prefix };
        Parameter {
            name,
            index,
            operator: operator.to_owned(),
            operand,
            quoting,
        }
    }

    fn index(&mut self) -> Option<String> {
        if !self.take("[") {
            return None;
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c != ']' && c != '}') {
            self.at += 1;
        }
        let index = self.text[start..self.at].to_vec();
        self.numbers(&index);
        self.take("]");
        Some(super::shown(&index))
    }

    /// Reads the word after the operator, up to the closing brace.
    fn operand(&mut self, quoting: Quoting, operator: &str) -> RawWord {
        let start = self.at;
        let is_pattern = operator.starts_with(['#', '%', '/', '^', ',']);
        let mut pieces = Pieces::default();
        while !self.is_at_end() && self.peek() != Some('}') {
            match (self.peek(), quoting) {
                (Some('\\'), _) => self.escape_in_operand(&mut pieces, quoting),
                (Some('\''), Quoting::Quoted) if is_pattern => self.single_quotes(&mut pieces),
                _ => self.piece(&mut pieces, quoting),
            }
        }
        RawWord {
            pieces: pieces.list,
            source: self.source(start),
        }
    }

    fn escape_in_operand(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        match (quoting, self.peek_at(1)) {
            (Quoting::Quoted, Some('}')) | (Quoting::Unquoted, _) => self.escape(pieces),
            (Quoting::Quoted, _) => self.escape_in_quotes(pieces),
        }
    }

    /// Reads `$'...'`.
    fn ansi_quotes(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        pieces.list.push(Piece::Quotes);
        while !self.is_at_end() {
            if self.take("'") {
                return;
            }
            if self.take("\\") {
                self.ansi_escape(pieces);
            } else {
                pieces.text(self.text[self.at], Quoting::Quoted);
                self.at += 1;
            }
        }
        self.parsed.is_cut = true;
    }

    fn ansi_escape(&mut self, pieces: &mut Pieces) {
        let Some(c) = self.peek() else {
            pieces.text(Known('\\'), Quoting::Quoted);
            return;
        };
        self.at += 1;
        let decoded = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' => '\u{1b}',
            'x' => self.number(16, 2),
            'u' => self.number(16, 4),
            'U' => self.number(16, 8),
            'c' => self.number(16, 0),
            '0'..='7' => {
                self.at -= 1;
                self.number(8, 3)
            }
            '\'' => {
                // A shell without `$'...'` ends the quotation here, and reads the rest in another way.
                self.parsed.is_cut = true;
                '\''
            }
            '\\' | '"' | '?' => c,
            _ => {
                pieces.text(Known('\\'), Quoting::Quoted);
                c
            }
        };
        pieces.text(Known(decoded), Quoting::Quoted);
    }

    /// Reads the digits of a character's code.
    fn number(&mut self, base: u32, digits: usize) -> char {
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

fn plain_parameter(name: String, quoting: Quoting) -> Piece {
    Piece::Parameter(Box::new(Parameter {
        name,
        index: None,
        operator: String::new(),
        operand: RawWord::default(),
        quoting,
    }))
}
