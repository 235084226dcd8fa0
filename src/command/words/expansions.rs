//! Reads expansions within a word: `$name`, `${...}`, `$(...)` and backquotes. Each becomes one piece of the word.
//!
//! The scripts of substitutions are added to `parsed.scripts`, too: their commands run like any others. A text that
//! cannot be followed is marked as misread (`may_be_misread`), so that it counts as unknown code, which may send data.

use std::rc::Rc;

use super::word::Pieces;
use super::{DEEPEST, ScriptEnd, ScriptReader, parse_at};
use crate::command::syntax::{
    ExpansionValue, IN_ZSH, Parameter, Piece, Quoting, RawWord, Script, SetByExpansion,
    is_name_char,
};
use crate::command::text::Symbol::Known;
use crate::command::text::{Symbol, Symbols, shown};

/// Operators of `${name...}`. One that another begins with stands behind it, as the first that fits is taken.
const OPERATORS: [&str; 24] = [
    ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#", "%",
    "/", "^", ",", "@", ":", "~~", "~",
];

impl ScriptReader<'_> {
    /// Reads what stands at the cursor in a word: a quotation, an expansion or a single symbol. `quoting` tells if
    /// double quotes are open around it: there `'` and a backslash are taken as ordinary symbols, so that callers read
    /// a backslash themselves. The text must not be at its end.
    pub(super) fn read_piece(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        match (self.peek(), quoting) {
            (Some('\\'), Quoting::Unquoted) => self.read_escape(pieces),
            (Some('\''), Quoting::Unquoted) => self.read_single_quotes(pieces),
            (Some('"'), _) => self.read_double_quotes(pieces),
            (Some('`'), _) => self.read_backquotes(pieces, quoting),
            (Some('$'), _) => self.read_dollar(pieces, quoting),
            _ => {
                pieces.add_symbol(self.text[self.position], quoting);
                self.position += 1;
            }
        }
    }

    /// Reads a script in backquotes, the opening one of which is at the cursor. Its text ends at the first backquote
    /// without a backslash. A backslash before a sign of the shell belongs to this level, so that it is removed before
    /// the text is read as a script.
    fn read_backquotes(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        self.position += 1;
        let mut text = Symbols::new();
        while !self.is_at_end() && !self.starts_with("`") {
            let is_escaped = self.peek() == Some('\\')
                && match self.peek_at(1) {
                    Some('\\' | '`' | '$') => true,
                    Some('"') => quoting == Quoting::Quoted,
                    _ => false,
                };
            if is_escaped {
                self.position += 1;
            }
            text.push(self.text[self.position]);
            self.position += 1;
        }
        if !self.skip_if_next("`") {
            self.parsed.may_be_misread = true;
        }
        let script = self.read_unescaped_script(&text);
        pieces.list.push(Piece::Command(script, quoting));
    }

    /// Reads the text of backquotes, whose backslashes were removed, as a script. Adds all that it holds to `parsed`,
    /// and returns the script; at the limit on nesting, an empty one, and the text is marked as misread.
    fn read_unescaped_script(&mut self, text: &[Symbol]) -> Rc<Script> {
        if self.depth >= DEEPEST {
            self.parsed.may_be_misread = true;
            return Rc::default();
        }
        let nested = parse_at(text, self.depth + 1);
        // The last script is that of the whole text, the others those of its substitutions.
        let script = nested.scripts.last().cloned().unwrap_or_default();
        self.parsed.merge(nested);
        script
    }

    /// Reads a `$` and what belongs to it: an expansion or a quotation. A `$` before anything else stands for itself.
    fn read_dollar(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        self.position += 1;
        match self.peek() {
            Some('(') => self.read_parenthesis(pieces, quoting),
            Some('{') => self.read_braces(pieces, quoting),
            Some('\'') if quoting == Quoting::Unquoted => self.read_ansi_quotes(pieces),
            Some('"') if quoting == Quoting::Unquoted => self.read_double_quotes(pieces),
            Some('[') => self.read_old_arithmetic(pieces, quoting),
            _ => {
                // zsh changes the variable by the sign: `$=x` is split into words.
                let is_of_zsh = self.peek().is_some_and(|c| "=^~".contains(c))
                    && self.peek_at(1).is_some_and(|c| is_name_char(c) || c == '{');
                self.parsed.may_be_misread |= is_of_zsh;
                let name = self.read_name();
                if name.is_empty() {
                    pieces.add_symbol(Known('$'), quoting);
                } else if self.is_more_in_zsh(&name) {
                    // The value is unknown; what zsh would add to the name is read as text behind it.
                    pieces.list.push(parameter(name, IN_ZSH, quoting));
                } else {
                    pieces.list.push(parameter(name, "", quoting));
                }
            }
        }
    }

    /// Returns true if zsh reads more than `$name`, which the cursor has passed: an index (`$x[1]`), a modifier
    /// (`$x:t`), or a number of more digits (`$10`). Other shells read a text behind the value, so that the result is
    /// not known. Several letters behind a colon count as text, as in `$HOST:latest`.
    fn is_more_in_zsh(&self, name: &str) -> bool {
        match self.peek() {
            Some('[') => true,
            Some(':') => {
                // The letters of the modifiers.
                let is_modifier = self.peek_at(1).is_some_and(|c| "aAcehlPqQrstu".contains(c));
                let is_longer_text = self.peek_at(2).is_some_and(is_name_char);
                is_modifier && !is_longer_text
            }
            Some(c) => c.is_ascii_digit() && name.starts_with(|c: char| c.is_ascii_digit()),
            None => false,
        }
    }

    /// Reads the name of a parameter: a single digit, a single sign such as `@`, or letters, digits and `_`. Returns an
    /// empty text, and does not move the cursor, if none comes next.
    fn read_name(&mut self) -> String {
        let mut name = String::new();
        match self.peek() {
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.position += 1;
                name.push(c);
            }
            _ => {
                while let Some(c) = self.peek().filter(|c| is_name_char(*c)) {
                    self.position += 1;
                    name.push(c);
                }
            }
        }
        name
    }

    /// Reads `$(script)` or `$((arithmetic))`, from the parenthesis after the `$`. Arithmetic becomes a number; the
    /// variables that it sets and the substitutions in it are noted in `parsed`.
    fn read_parenthesis(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        if let Some(length) = self.arithmetic_length() {
            let start = self.position;
            self.position += 2;
            self.read_arithmetic(start, length);
            pieces.list.push(Piece::Number);
            return;
        }
        self.position += 1;
        let script = self.read_substitution();
        pieces.list.push(Piece::Command(script, quoting));
    }

    /// Reads the script of a substitution, behind its opening parenthesis, up to and with its closing one. Adds the
    /// script to those that were found, and returns it; at the limit on nesting, gives up and returns an empty one.
    pub(super) fn read_substitution(&mut self) -> Rc<Script> {
        if self.depth >= DEEPEST {
            self.give_up();
            return Rc::default();
        }
        self.depth += 1;
        let script = Rc::new(self.read_script(ScriptEnd::Parenthesis));
        self.depth -= 1;
        self.parsed.scripts.push(Rc::clone(&script));
        script
    }

    /// Reads `${...}`, from the brace after the `$` up to and with the closing one. A missing brace marks the text as
    /// misread. Gives up at the limit on nesting, as the word of an operator may hold braces again.
    fn read_braces(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        self.position += 1;
        if self.depth >= DEEPEST {
            return self.give_up();
        }
        self.depth += 1;
        let parameter = self.read_parameter(quoting);
        self.depth -= 1;
        if !self.skip_if_next("}") {
            self.parsed.may_be_misread = true;
        }
        pieces.list.push(Piece::Parameter(Box::new(parameter)));
    }

    /// Reads the inside of `${...}`: a prefix, the name, the index, the operator and its word, up to the closing brace,
    /// before which the cursor stays. Notes that `=` and `:=` assign the word to the variable. Marks the text as
    /// misread if there is no name.
    fn read_parameter(&mut self, quoting: Quoting) -> Parameter {
        let prefix = self.read_prefix();
        let mut name = self.read_name();
        // `${12}` is one parameter, while `$12` is `$1` and `2`.
        while let Some(c) = self.peek().filter(|c| is_name_char(*c)) {
            self.position += 1;
            name.push(c);
        }
        // zsh has flags, signs and expansions in place of the name: `${(z)x}`, `${=x}`, `${:-word}`, `${${x}}`.
        let is_expansion = name == "$" && matches!(self.peek(), Some('{' | '('));
        self.parsed.may_be_misread |= name.is_empty() || is_expansion;
        let index = self.read_index();
        // `${name[1][2,3]}` in zsh
        self.parsed.may_be_misread |= index.is_some() && self.peek() == Some('[');
        let found = OPERATORS.iter().find(|operator| self.starts_with(operator));
        // Empty if there is none.
        let operator = found.copied().unwrap_or_default();
        self.skip_if_next(operator);
        let operand = self.read_operand(quoting, operator);
        if operator.ends_with('=') {
            self.parsed.set_by_expansion.push(SetByExpansion {
                name: name.clone(),
                value: ExpansionValue::Word(operand.clone()),
            });
        }
        // With a prefix, the value is a number or unknown, whatever operator follows.
        let operator = if prefix.is_empty() { operator } else { prefix };
        Parameter {
            name,
            index,
            operator: operator.to_owned(),
            operand,
            quoting,
        }
    }

    /// Reads the sign before a name: `${#name}` is a length, `${!name}` the variable that `name` names. Returns the
    /// word that stands for it as an operator of [`Parameter`], or an empty text for no sign: in `${#}` and `${!}` the
    /// sign is the name itself.
    fn read_prefix(&mut self) -> &'static str {
        let next = self.peek_at(1);
        let precedes_name = next.is_some_and(|c| is_name_char(c) || c == '@' || c == '*');
        let prefix = match self.peek() {
            Some('#') if precedes_name => "length",
            // `${!#}` is the last argument.
            Some('!') if precedes_name || next == Some('#') => "indirect",
            _ => return "",
        };
        self.position += 1;
        prefix
    }

    /// Reads `[index]`, and returns the index as it is written; None if no bracket comes next. The index is arithmetic,
    /// which may set variables and run the commands of substitutions. It is taken to end at the first `]` or `}`: if
    /// that is quoted, or inside of a substitution, the text is marked as misread. An unknown symbol ends it, too, and
    /// is then read as the operand.
    fn read_index(&mut self) -> Option<String> {
        if !self.skip_if_next("[") {
            return None;
        }
        let start = self.position;
        while self.peek().is_some_and(|c| c != ']' && c != '}') {
            self.position += 1;
        }
        let index = self.text[start..self.position].to_vec();
        for quote in ['"', '\''] {
            let count = index
                .iter()
                .filter(|symbol| **symbol == Known(quote))
                .count();
            self.parsed.may_be_misread |= count % 2 == 1;
        }
        self.note_numbers(&index);
        self.skip_if_next("]");
        Some(shown(&index))
    }

    /// Reads the word after the operator of `${name...}`, up to the closing brace, before which the cursor stays.
    /// Inside of double quotes around the expansion (`quoting`), its text counts as quoted, too, and single quotes
    /// quote only in a pattern.
    fn read_operand(&mut self, quoting: Quoting, operator: &str) -> RawWord {
        let start = self.position;
        let is_pattern = operator.starts_with(['#', '%', '/', '^', ',']);
        let mut pieces = Pieces::default();
        while !self.is_at_end() && self.peek() != Some('}') {
            match (self.peek(), quoting) {
                (Some('\\'), _) => self.read_escape_in_operand(&mut pieces, quoting),
                (Some('\''), Quoting::Quoted) if is_pattern => self.read_single_quotes(&mut pieces),
                _ => self.read_piece(&mut pieces, quoting),
            }
        }
        RawWord {
            pieces: pieces.list,
            source: self.source_since(start),
        }
    }

    /// Reads a backslash in the word after an operator, by the rules of the quotes around it. Even in double quotes, it
    /// quotes the brace that would end the word.
    fn read_escape_in_operand(&mut self, pieces: &mut Pieces, quoting: Quoting) {
        match (quoting, self.peek_at(1)) {
            (Quoting::Quoted, Some('}')) | (Quoting::Unquoted, _) => self.read_escape(pieces),
            (Quoting::Quoted, _) => self.read_escape_in_quotes(pieces),
        }
    }
}

/// Returns the piece of `$name`, which has no index. `operator` is empty, or [`IN_ZSH`].
fn parameter(name: String, operator: &str, quoting: Quoting) -> Piece {
    Piece::Parameter(Box::new(Parameter {
        name,
        index: None,
        operator: operator.to_owned(),
        operand: RawWord::default(),
        quoting,
    }))
}
