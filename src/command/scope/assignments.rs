//! Effects of a script's commands on variables: assignments, `for`, `read`, `declare` and others.

use std::rc::Rc;

use super::arguments::begins_literal_option;
use super::functions::FunctionArguments;
use super::{AssignedWord, Frame, Scope, ScriptVariable};
use crate::command::syntax::{
    ExpansionValue, ParsedText, Piece, Quoting, RawWord, SimpleCommand, is_name,
};
use crate::command::text::Word;

/// The literal texts of words; None for a word with an expansion.
type Literals = [Option<String>];

impl Scope<'_> {
    /// Adds all that a text does to variables, and the functions that it defines.
    pub(crate) fn add_assignments(&mut self, parsed: &ParsedText, frame: &Rc<Frame>) {
        self.cached_values.borrow_mut().clear();
        *self.function_arguments.borrow_mut() = FunctionArguments::NotSearched;
        self.functions.extend(parsed.functions.iter().cloned());
        self.has_unknown_code |= parsed.is_incomplete;
        for set in &parsed.set_by_expansion {
            match &set.value {
                ExpansionValue::Word(word) => self.assign(&set.name, word.clone(), frame),
                ExpansionValue::Number => self.variable(&set.name).may_be_number = true,
            }
        }
        for script in &parsed.scripts {
            for command in &script.commands {
                self.add_command(command, frame);
            }
        }
    }

    /// Adds the assignment of a word that a program gets as it is: `env name=value`.
    pub(crate) fn add_assignment_of_word(&mut self, word: &Word, frame: &Rc<Frame>) {
        let raw = RawWord {
            pieces: vec![Piece::Text(word.text.clone(), Quoting::Unquoted)],
            source: word.origin.clone(),
        };
        if let Some(assignment) = raw.assignment() {
            let mut value = assignment.value;
            if let Some(Piece::Text(_, quoting)) = value.pieces.first_mut() {
                *quoting = Quoting::Quoted;
            }
            self.assign(&assignment.name, value, frame);
        }
    }

    /// Returns the variable for a change.
    fn variable(&mut self, name: &str) -> &mut ScriptVariable {
        self.has_odd_ifs |= name == "IFS";
        self.variables.entry(name.to_owned()).or_default()
    }

    /// Adds a value that a variable may have.
    fn assign(&mut self, name: &str, word: RawWord, frame: &Rc<Frame>) {
        let frame = Rc::clone(frame);
        self.variable(name)
            .assigned
            .push(AssignedWord { word, frame });
    }

    fn set_unknown(&mut self, name: &str) {
        self.variable(name).is_unknown = true;
    }

    /// Adds what a command does to variables and to `$1`.
    ///
    /// The words are searched for names of commands at any place: a command may stand behind any wrapper.
    fn add_command(&mut self, command: &SimpleCommand, frame: &Rc<Frame>) {
        let literals: Vec<Option<String>> = command.words.iter().map(RawWord::literal).collect();
        self.add_assignments_of_command(command, &literals, frame);
        for (at, name) in literals.iter().enumerate() {
            let words = &command.words[at + 1..];
            let literals = &literals[at + 1..];
            match name.as_deref() {
                Some("for" | "select") => self.add_loop(words, literals, frame),
                Some("set") if sets_arguments(literals) => {
                    self.changes_arguments = true;
                    self.may_pass_options |= words.iter().any(begins_literal_option);
                }
                Some("shift") => self.changes_arguments = true,
                Some("getopts" | "read" | "mapfile" | "readarray" | "unset" | "let") => {
                    self.set_names_unknown(literals);
                }
                Some("printf" | "wait") => {
                    let option = literals
                        .iter()
                        .position(|word| matches!(word.as_deref(), Some("-v" | "-p")));
                    if let Some(option_at) = option {
                        self.set_names_unknown(&literals[option_at + 1..]);
                    }
                }
                Some("declare" | "typeset" | "local" | "readonly") => self.declare(literals, frame),
                _ => {}
            }
        }
    }

    /// Adds the words of a command that are assignments.
    fn add_assignments_of_command(
        &mut self,
        command: &SimpleCommand,
        literals: &Literals,
        frame: &Rc<Frame>,
    ) {
        let is_read = literals.iter().flatten().any(|word| word == "read");
        for word in &command.words {
            let Some(assignment) = word.assignment() else {
                continue;
            };
            if assignment.name == "IFS" && is_read {
                // `IFS= read` sets it for `read` only.
            } else if assignment.adds {
                self.set_unknown(&assignment.name);
                // The variable may be empty before, so that the added text is its whole value.
                self.assign(&assignment.name, assignment.value, frame);
            } else {
                self.assign(&assignment.name, assignment.value, frame);
            }
        }
    }

    /// Adds the values of `for name in words`.
    fn add_loop(&mut self, words: &[RawWord], literals: &Literals, frame: &Rc<Frame>) {
        let [Some(name), rest @ ..] = literals else {
            return;
        };
        if rest.first().and_then(Option::as_deref) != Some("in") {
            // The values are `"$@"`.
            self.set_unknown(name);
            return;
        }
        for word in words.iter().skip(2) {
            self.assign(name, word.clone(), frame);
        }
    }

    /// Allows any value for each variable that the words of `read` and the like may name.
    fn set_names_unknown(&mut self, words: &Literals) {
        for word in words {
            match word {
                Some(word) => {
                    let name = word.split(['[', '=', '+', '-', '*', '/']).next();
                    if let Some(name) = name.filter(|name| is_name(name)) {
                        self.set_unknown(name);
                    }
                }
                None => self.has_unknown_code = true,
            }
        }
    }

    /// Allows for attributes that change a value (`declare -l`) or make a name stand for another (`-n`).
    fn declare(&mut self, words: &Literals, frame: &Rc<Frame>) {
        for word in words.iter().flatten() {
            if is_name(word) {
                self.assign(word, RawWord::default(), frame);
            }
            let Some(letters) = word.strip_prefix(['-', '+']) else {
                continue;
            };
            if letters.contains('n') {
                self.has_unknown_code = true;
            } else if letters.contains(['i', 'l', 'u', 'c']) {
                self.set_names_unknown(words);
            }
        }
    }
}

/// Returns true if these words of `set` change `$1`: `set -e` does not.
fn sets_arguments(words: &Literals) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_deref() {
            None | Some("--" | "-") => return true,
            Some(word) => match word.strip_prefix(['-', '+']) {
                None => return true,
                Some(letters) if letters.ends_with('o') => {
                    words.next();
                }
                Some(_) => {}
            },
        }
    }
    false
}
