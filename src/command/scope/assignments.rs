//! Effects of a script's commands on variables: assignments, `for`, `read`, `declare` and others.
//!
//! Nothing is assigned in an order: each effect adds to what a variable may hold. An effect that is not followed makes
//! the variable unknown, and one whose variable is not known makes all of them unknown (`has_unknown_code`).
//!
//! A frame holds the arguments and the environment that a script gets from the program that runs it.

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
    /// Adds all that a text does to variables, and the functions that it defines. `frame` is that of the text, in which
    /// the assigned words are expanded later. Forgets values that were found before, as there may be more now.
    pub(crate) fn add_assignments(&mut self, parsed: &ParsedText, frame: &Rc<Frame>) {
        self.cached_values.borrow_mut().clear();
        *self.function_arguments.borrow_mut() = FunctionArguments::NotSearched;
        self.functions.extend(parsed.functions.iter().cloned());
        self.has_unknown_code |= parsed.may_be_misread;
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

    /// Adds the assignment of a word that a program gets as it is: `env name=value`. Does nothing for any other word.
    /// No shell has read the value, so that it counts as quoted: nothing in it is expanded or split.
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

    /// Returns the variable of this name for a change, and adds it if it is new. Notes a change of `IFS`, by which a
    /// shell splits words at other characters.
    fn variable(&mut self, name: &str) -> &mut ScriptVariable {
        self.has_odd_ifs |= name == "IFS";
        self.variables.entry(name.to_owned()).or_default()
    }

    /// Adds a word to the values that a variable may have. It is expanded when the variable is used.
    fn assign(&mut self, name: &str, word: RawWord, frame: &Rc<Frame>) {
        let frame = Rc::clone(frame);
        self.variable(name)
            .assigned
            .push(AssignedWord { word, frame });
    }

    /// Notes that a variable may have any value, too.
    fn set_unknown(&mut self, name: &str) {
        self.variable(name).is_unknown = true;
    }

    /// Adds what a command does to variables and to `$1`.
    ///
    /// The words are searched for names of commands at any place: a command may stand behind any wrapper, and a word
    /// that only looks like a command adds values that do no harm.
    fn add_command(&mut self, command: &SimpleCommand, frame: &Rc<Frame>) {
        let literals: Vec<Option<String>> = command.words.iter().map(RawWord::literal).collect();
        self.add_assignments_of_command(command, &literals, frame);
        for (index, name) in literals.iter().enumerate() {
            // What follows the name.
            let words = &command.words[index + 1..];
            let literals = &literals[index + 1..];
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
                    // `printf -v NAME` and `wait -p NAME` set a variable.
                    let option = literals
                        .iter()
                        .position(|word| matches!(word.as_deref(), Some("-v" | "-p")));
                    if let Some(option) = option {
                        self.set_names_unknown(&literals[option + 1..]);
                    }
                }
                Some("declare" | "typeset" | "local" | "readonly") => {
                    self.add_declaration(literals, frame);
                }
                _ => {}
            }
        }
    }

    /// Adds the words of a command that are assignments, at any place: behind `export` or `env` they are, too.
    /// `literals` are the literal texts of all its words.
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

    /// Adds the values of `for name in words`, given the words after `for` and their literal texts. Without `in`, the
    /// values are the arguments, and count as unknown.
    fn add_loop(&mut self, words: &[RawWord], literals: &Literals, frame: &Rc<Frame>) {
        let [Some(name), after_name @ ..] = literals else {
            return;
        };
        if after_name.first().and_then(Option::as_deref) != Some("in") {
            self.set_unknown(name);
            return;
        }
        // Behind the name and `in`.
        for word in words.iter().skip(2) {
            self.assign(name, word.clone(), frame);
        }
    }

    /// Allows any value for each variable that the words of `read` and the like may name. A word with an expansion may
    /// name any variable, so that all of them are unknown then.
    fn set_names_unknown(&mut self, words: &Literals) {
        for word in words {
            match word {
                Some(word) => {
                    // `let count+=1`, `unset list[0]`
                    let name = word.split(['[', '=', '+', '-', '*', '/']).next();
                    if let Some(name) = name.filter(|name| is_name(name)) {
                        self.set_unknown(name);
                    }
                }
                None => self.has_unknown_code = true,
            }
        }
    }

    /// Adds what `declare` and its likes do, given the literal texts of the words after it: a name without a value may
    /// be empty from then on, some attributes change every later value (`-i`, `-l`), and `-n` lets a name stand for
    /// another variable, which may be any.
    fn add_declaration(&mut self, words: &Literals, frame: &Rc<Frame>) {
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

/// Returns true if these words after `set` may change `$1`: `set -e` does not, but `set -- x` and `set $x` do.
fn sets_arguments(words: &Literals) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_deref() {
            None | Some("--" | "-") => return true,
            Some(word) => match word.strip_prefix(['-', '+']) {
                None => return true,
                // `-o pipefail`: the name of the option is no argument.
                Some(letters) if letters.ends_with('o') => {
                    words.next();
                }
                Some(_) => {}
            },
        }
    }
    false
}
