//! Scripts of a shell as [`super::words`] reads them: what is known before any variable has a value. Control flow is
//! left out: each command may run.

use std::rc::Rc;

use super::text::{Symbol, Symbols};

/// Everything that one text of a shell holds.
#[derive(Debug, Default)]
pub(crate) struct ParsedText {
    /// The scripts of all substitutions in the text, and last the text itself.
    pub(crate) scripts: Vec<Rc<Script>>,
    /// Variables that an expansion or arithmetic sets.
    pub(crate) set_by_expansion: Vec<SetByExpansion>,
    /// Names of functions that are defined; empty for an unknown name.
    pub(crate) functions: Vec<String>,
    /// The text could not be followed, or a shell would not run it. It counts as unknown code beside what was found.
    pub(crate) may_be_misread: bool,
}

/// A variable that an expansion sets.
#[derive(Debug)]
pub(crate) struct SetByExpansion {
    pub(crate) name: String,
    pub(crate) value: ExpansionValue,
}

#[derive(Debug)]
pub(crate) enum ExpansionValue {
    /// `$((name = 1))`
    Number,
    /// The word of `${name:=word}`.
    Word(RawWord),
}

impl ParsedText {
    /// Adds what a nested text holds, such as a substitution: its commands and assignments count like those of this
    /// text.
    pub(super) fn merge(&mut self, nested: ParsedText) {
        self.scripts.extend(nested.scripts);
        self.set_by_expansion.extend(nested.set_by_expansion);
        self.functions.extend(nested.functions);
        self.may_be_misread |= nested.may_be_misread;
    }
}

#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<SimpleCommand>,
}

#[derive(Debug, Default)]
pub(crate) struct SimpleCommand {
    /// The words, reserved words and assignments included.
    pub(crate) words: Vec<RawWord>,
    /// Here-documents and here-strings.
    pub(crate) input: Vec<RawWord>,
    /// Files of `<`.
    pub(crate) input_files: Vec<RawWord>,
    /// The standard input is the output of the command before.
    pub(crate) reads_pipe: bool,
    /// The command before is the end of a group, `(...)` or `{ ...; }`, so that all commands in it may write the input.
    pub(crate) reads_group: bool,
}

impl SimpleCommand {
    /// Returns the words of the program that runs, behind `NAME=value` at the beginning. Empty if the command only
    /// assigns.
    pub(crate) fn words_after_assignments(&self) -> &[RawWord] {
        let assignments = self
            .words
            .iter()
            .take_while(|word| word.assignment().is_some());
        &self.words[assignments.count()..]
    }

    /// Returns true for `function name`.
    pub(crate) fn names_function(&self) -> bool {
        self.words.len() == 2 && self.words[0].bare().as_deref() == Some("function")
    }
}

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawWord {
    pub(crate) pieces: Vec<Piece>,
    /// The word as it is written, cut to a length for messages.
    pub(crate) source: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Text(Symbols, Quoting),
    /// Quotes make a word even if it is empty.
    Quotes,
    Parameter(Box<Parameter>),
    /// `$(script)` and backquotes.
    Command(Rc<Script>, Quoting),
    /// `<(script)`: the name of a pipe.
    Process,
    /// `$((1 + 2))`
    Number,
    /// The elements of `name=(...)`.
    Array(Vec<RawWord>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Quoted,
    Unquoted,
}

/// `$name`, `${name[index]operator operand}`
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) index: Option<String>,
    /// `:-`, `#`, `length` for `${#name}`, `indirect` for `${!name}`, or empty.
    pub(crate) operator: String,
    pub(crate) operand: RawWord,
    pub(crate) quoting: Quoting,
}

impl Parameter {
    /// Returns true for `$@`, `$*`, `${name[@]}` and `${name[*]}`.
    pub(crate) fn is_list(&self) -> bool {
        self.name == "@" || self.name == "*" || matches!(self.index.as_deref(), Some("@" | "*"))
    }

    /// Returns true for `$*` and `${name[*]}`, which are one word within quotes.
    pub(crate) fn is_joined(&self) -> bool {
        self.name == "*" || self.index.as_deref() == Some("*")
    }
}

/// An assignment of a variable.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// The value is added to the earlier one: `name+=value` or `name[1]=value`.
    pub(crate) adds: bool,
    pub(crate) value: RawWord,
}

impl RawWord {
    /// Returns the text of a word that is the same whenever it is expanded, without its quotes; None if it has
    /// expansions or an unknown part.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(symbols, _) => text.push_str(&super::text::exact(symbols)?),
                Piece::Quotes => {}
                _ => return None,
            }
        }
        Some(text)
    }

    /// Returns the text of a word that may be a reserved word such as `if`; None if the word has quotes or expansions,
    /// with which a shell recognizes no reserved word.
    pub(crate) fn bare(&self) -> Option<String> {
        match self.pieces.as_slice() {
            [Piece::Text(text, Quoting::Unquoted)] => super::text::exact(text),
            _ => None,
        }
    }

    /// Returns the assignment if the word begins with `name=`, `name+=` or `name[index]=`, none of it quoted; None for
    /// any other word. The value is a word of the remaining pieces.
    pub(crate) fn assignment(&self) -> Option<Assignment> {
        let (first, later_pieces) = self.pieces.split_first()?;
        let Piece::Text(symbols, Quoting::Unquoted) = first else {
            return None;
        };
        let head: String = symbols.iter().map_while(known_char).collect();
        let Some((left_side, _)) = head.split_once('=') else {
            return self.assignment_of_element(&head);
        };
        let target = left_side.strip_suffix('+').unwrap_or(left_side);
        let name = target.split('[').next().unwrap_or_default();
        if !is_name(name) || target.contains('[') && !target.ends_with(']') {
            return None;
        }
        let begin_of_value = symbols[left_side.chars().count() + 1..].to_vec();
        let mut pieces = vec![Piece::Text(begin_of_value, Quoting::Unquoted)];
        pieces.extend_from_slice(later_pieces);
        let has_plus = target.len() < left_side.len();
        let has_index = name.len() < target.len();
        Some(Assignment {
            name: name.to_owned(),
            adds: has_plus || has_index,
            value: RawWord {
                pieces,
                source: self.source.clone(),
            },
        })
    }
}

impl RawWord {
    /// Returns the assignment if the word is `name[$index]=value`, whose `=` stands behind an expansion. `head` is its
    /// text before that. The whole word stands for the value, which does not matter, as a variable that is added to has
    /// an unknown value anyway.
    fn assignment_of_element(&self, head: &str) -> Option<Assignment> {
        let (name, _) = head.split_once('[')?;
        let ends_index = self.pieces.iter().any(|piece| {
            matches!(piece, Piece::Text(text, Quoting::Unquoted)
                if text.starts_with(&[Symbol::Known(']')]) && text.contains(&Symbol::Known('=')))
        });
        if !is_name(name) || !ends_index {
            return None;
        }
        Some(Assignment {
            name: name.to_owned(),
            adds: true,
            value: self.clone(),
        })
    }
}

/// Returns the character of a symbol; None if the symbol is an unknown part, at which the known text before it ends.
fn known_char(symbol: &Symbol) -> Option<char> {
    match symbol {
        Symbol::Known(c) => Some(*c),
        Symbol::Unknown(_) => None,
    }
}

/// Returns true if a variable or a function can have this name: letters, digits and `_`, with no digit first.
pub(crate) fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(is_name_char)
}

pub(crate) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
