//! Scripts of a shell as [`super::words`] reads them: what is known before any variable has a value. They are searched
//! for calls of curl and wget that send data. Control flow is left out: each command may run.

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
    /// text, whose own script is added later, as the last one.
    pub(super) fn merge(&mut self, nested: ParsedText) {
        self.scripts.extend(nested.scripts);
        self.set_by_expansion.extend(nested.set_by_expansion);
        self.functions.extend(nested.functions);
        self.may_be_misread |= nested.may_be_misread;
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// The commands in their order. Behind a command stand copies of its end (`is_copy`), one for each further command
    /// that may begin within its words, and one without a `}` at its end. With its copies, a command is one member of a
    /// pipeline.
    pub(crate) commands: Vec<SimpleCommand>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// The words, reserved words and assignments included. Empty if there is only an input, as in `(sh) <<END`.
    pub(crate) words: Vec<RawWord>,
    /// Here-documents and here-strings.
    pub(crate) input: Vec<RawWord>,
    /// Files of `<`.
    pub(crate) input_files: Vec<RawWord>,
    /// The standard output may go elsewhere: `>&2`, `>file`. Also for the last command of a subshell that is
    /// redirected.
    pub(crate) redirects_output: bool,
    /// An expansion stands in the file of a redirection, which may run a script: `> >(command)`, `>"$(command)"`.
    pub(crate) expands_in_redirection: bool,
    /// It is only the name of a function whose body begins with the next command: `name ()`.
    pub(crate) begins_function: bool,
    /// The standard input is the output of the command before, which its copies follow. A copy reads what the command
    /// reads of which it is one.
    pub(crate) reads_pipe: bool,
    /// The command before, its copies left out, is the end of a group, `(...)` or `{ ...; }`, so that all commands in
    /// it may write the input. The same for a copy.
    pub(crate) reads_group: bool,
    /// A copy of a part of the command before it, of the nearest one that is no copy itself: what may run there, as
    /// `./x` in `function f { ./x`.
    pub(crate) is_copy: bool,
}

impl SimpleCommand {
    /// Returns the words of the program that runs, behind each `NAME=value` at the beginning. Empty if the command only
    /// assigns.
    pub(crate) fn words_after_assignments(&self) -> &[RawWord] {
        let assignments = self
            .words
            .iter()
            .take_while(|word| word.assignment().is_some());
        &self.words[assignments.count()..]
    }

    /// Returns true if the standard input is given: by a pipe, a file or a here-document. The input of a group around
    /// the command does not count, nor does a pipe to it, except for the first command of `{ ...; }`.
    pub(crate) fn has_input(&self) -> bool {
        self.reads_pipe || !self.input.is_empty() || !self.input_files.is_empty()
    }

    /// Returns true for `for name`, even among further words (`do for name`, but `echo for` as well): a parenthesis
    /// behind it holds the words of the loop in zsh.
    pub(crate) fn begins_loop(&self) -> bool {
        let is_loop =
            |word: &RawWord| matches!(word.bare().as_deref(), Some("for" | "select" | "foreach"));
        self.words.len() > 1 && self.words.iter().any(is_loop)
    }

    /// Returns true if the last word may be an option, which takes the next word as its value: one that begins with
    /// `-`, or that has an expansion.
    pub(crate) fn ends_with_possible_option(&self) -> bool {
        let last = self.words.last().map(RawWord::literal);
        last.is_some_and(|text| text.is_none_or(|text| text.starts_with('-')))
    }

    /// Returns true for `function name` and no further word: then the body follows.
    pub(crate) fn names_function(&self) -> bool {
        self.words.len() == 2 && self.words[0].bare().as_deref() == Some("function")
    }
}

/// A word before expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawWord {
    pub(crate) pieces: Vec<Piece>,
    /// The word as it is written. A word that is made of a part of another one, such as the value of an assignment or
    /// an element of braces, has that of the whole. Shared, as it may be long.
    pub(crate) source: Rc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(Symbols, Quoting),
    /// Quotes make a word even if it is empty.
    Quotes,
    Parameter(Box<Parameter>),
    /// `$(script)` and backquotes.
    Command(Rc<Script>, Quoting),
    /// `<(script)`: the name of a pipe.
    Process(Rc<Script>),
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

/// The operator of a [`Parameter`] that has one only in zsh, such as `$name[1]` or `$name:t`.
pub(crate) const IN_ZSH: &str = "in zsh";

/// `$name`, `${name[index]operator operand}`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// As it is written, such as `1` or `@`; None for a name without brackets.
    pub(crate) index: Option<String>,
    /// `:-`, `#`, `length` for `${#name}`, `indirect` for `${!name}`, [`IN_ZSH`], or empty.
    pub(crate) operator: String,
    /// The word behind the operator; without pieces if none stands there.
    pub(crate) operand: RawWord,
    pub(crate) quoting: Quoting,
}

impl Parameter {
    /// Returns true for `$@`, `$*`, `${name[@]}` and `${name[*]}`.
    pub(crate) fn is_list(&self) -> bool {
        self.name == "@" || self.name == "*" || matches!(self.index.as_deref(), Some("@" | "*"))
    }

    /// Returns true if the operator leaves the value as it is, or gives another word in its place (`:-`). `?` ends the
    /// script if the variable is unset.
    pub(crate) fn keeps_value(&self) -> bool {
        let operators = ["", "?", ":?", ":-", ":=", "-", "=", ":+", "+"];
        operators.contains(&self.operator.as_str())
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
    /// `name[1]=value`, `name[1]+=value`
    pub(crate) is_of_element: bool,
    pub(crate) value: RawWord,
}

impl RawWord {
    /// Returns the text of a word without its quotes, if that is the same whenever the word is expanded; None if it has
    /// expansions or an unknown part. Braces and signs of patterns count as ordinary characters.
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

    /// Returns the pieces without the marks of quotes, which add no text.
    pub(crate) fn pieces_without_quotes(&self) -> impl Iterator<Item = &Piece> {
        self.pieces
            .iter()
            .filter(|piece| !matches!(piece, Piece::Quotes))
    }

    /// Returns the script whose output the word is, or whose pipe it names: that of `"$(script)"` and `<(script)`.
    /// Returns None if the word has any other part.
    pub(crate) fn output_of(&self) -> Option<Rc<Script>> {
        let mut parts = self.pieces_without_quotes();
        match (parts.next(), parts.next()) {
            (Some(Piece::Command(script, _) | Piece::Process(script)), None) => {
                Some(Rc::clone(script))
            }
            _ => None,
        }
    }

    /// Returns the text of a word that may be a reserved word such as `if`; None if the word has quotes or expansions,
    /// with which a shell recognizes no reserved word.
    pub(crate) fn bare(&self) -> Option<String> {
        match self.pieces.as_slice() {
            [Piece::Text(text, Quoting::Unquoted)] => super::text::exact(text),
            _ => None,
        }
    }

    /// Returns true for `((i < 9))`, which is a command or the head of one, but not for `$((i + 1))`.
    pub(crate) fn is_arithmetic(&self) -> bool {
        self.source.starts_with("((")
    }

    /// Returns the assignment if the word begins with `name=`, `name+=` or `name[index]=`, of which at most the index
    /// may be quoted; None for any other word. The value is a word of the remaining pieces.
    pub(crate) fn assignment(&self) -> Option<Assignment> {
        let left_side = self.left_side()?;
        if left_side.is_quoted {
            return None;
        }
        Some(self.assignment_to(&left_side))
    }

    /// Returns the assignment that the word is for `export`, `declare` or `env`, which read it after its quotes were
    /// removed: `export "name=value"`. None for any other word.
    pub(crate) fn argument_assignment(&self) -> Option<Assignment> {
        let left_side = self.left_side()?;
        Some(self.assignment_to(&left_side))
    }

    /// Returns the value of an element of an array with a key, `[key]=value`; None for an element without one.
    pub(crate) fn value_of_element(&self) -> Option<RawWord> {
        let begins_key = matches!(self.pieces.first(), Some(Piece::Text(text, Quoting::Unquoted))
            if text.first() == Some(&Symbol::Known('[')));
        if !begins_key {
            return None;
        }
        // With a name before it, it is an assignment.
        let mut named = self.clone();
        let name = Piece::Text(vec![Symbol::Known('a')], Quoting::Unquoted);
        named.pieces.insert(0, name);
        Some(named.argument_assignment()?.value)
    }

    /// Returns the elements of a value that is an array, `(words)`; none for any other value.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &RawWord> {
        let arrays = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Array(words) => Some(words),
            _ => None,
        });
        arrays.flatten()
    }

    /// Returns true for a value that begins with a quoted `(`, which `declare` takes for an array: `declare
    /// "name=(words)"`.
    pub(crate) fn begins_quoted_array(&self) -> bool {
        matches!(self.pieces.first(), Some(Piece::Text(text, Quoting::Quoted))
            if text.first() == Some(&Symbol::Known('(')))
    }

    /// Finds the left side of an assignment at the beginning of the word, up to the first `=` that stands in no index.
    /// Returns None if there is none, or if something other than a name, `+` or an index stands before it. Behind a
    /// `[`, anything may stand, expansions as well.
    fn left_side(&self) -> Option<LeftSide> {
        // The known characters before the `=`.
        let mut head = String::new();
        let mut has_index = false;
        let mut is_quoted = false;
        for (piece_index, piece) in self.pieces.iter().enumerate() {
            let Piece::Text(symbols, quoting) = piece else {
                if matches!(piece, Piece::Quotes) || has_index {
                    continue;
                }
                return None;
            };
            for (index, symbol) in symbols.iter().enumerate() {
                // The index has ended if its `]` is the last character, or a `+` alone stands behind it.
                let is_in_index = has_index && !head.trim_end_matches('+').ends_with(']');
                is_quoted |= *quoting == Quoting::Quoted && !is_in_index;
                match symbol {
                    Symbol::Known('=') if !is_in_index => {
                        return LeftSide::new(&head, is_quoted, piece_index, index);
                    }
                    Symbol::Known(c) if has_index || is_name_char(*c) || "[+".contains(*c) => {
                        has_index |= *c == '[';
                        head.push(*c);
                    }
                    Symbol::Unknown(_) if is_in_index => {}
                    _ => return None,
                }
            }
        }
        None
    }

    /// Returns the assignment with this left side: its value is what stands behind the `=`, with its quotes.
    fn assignment_to(&self, left_side: &LeftSide) -> Assignment {
        let mut pieces = self.pieces[left_side.piece..].to_vec();
        if let Some(Piece::Text(text, _)) = pieces.first_mut() {
            // The rest may be empty.
            text.drain(..=left_side.sign);
        }
        Assignment {
            name: left_side.name.clone(),
            adds: left_side.adds,
            is_of_element: left_side.has_index,
            value: RawWord {
                pieces,
                source: Rc::clone(&self.source),
            },
        }
    }
}

/// The part of an assignment before its value.
struct LeftSide {
    name: String,
    /// `name+=`, `name[index]=`
    adds: bool,
    has_index: bool,
    /// A part of it is quoted, the index aside: then it counts only for programs, which see no quotes.
    is_quoted: bool,
    /// Index of the piece with the `=`.
    piece: usize,
    /// Index of the `=` in that piece.
    sign: usize,
}

impl LeftSide {
    /// Returns the left side with this text before the `=` (`head`); None if it names no variable, as `--data` does
    /// not.
    fn new(head: &str, is_quoted: bool, piece: usize, sign: usize) -> Option<LeftSide> {
        let target = head.strip_suffix('+').unwrap_or(head);
        let name = target.split('[').next().unwrap_or_default();
        if !is_name(name) {
            return None;
        }
        Some(LeftSide {
            name: name.to_owned(),
            adds: name.len() < head.len(),
            has_index: name.len() < target.len(),
            is_quoted,
            piece,
            sign,
        })
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
