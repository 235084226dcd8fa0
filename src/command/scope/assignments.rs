//! Effects of a script's commands on variables: assignments, `for`, `read`, `declare` and others. A value that is
//! missed may hide an option by which a request sends data.
//!
//! Nothing is assigned in an order: each effect adds to what a variable may hold. An effect that is not followed adds
//! an unknown value (`OtherValue`), and one whose variable is not known makes all of them unknown (`has_unknown_code`).
//!
//! A frame holds the arguments and the environment that a script gets from the program that runs it.

use std::rc::Rc;

use super::additions::{adds_whole_words, assigning};
use super::arguments::{begins_literal_option, sets_arguments, words_that_set_passes};
use super::functions::{FunctionArguments, using_functions};
use super::value::begins_suspected_option;
use super::{AssignedWord, Assigning, Frame, OtherValue, Scope, ScriptVariable, Separators};
use crate::command::syntax::{
    ExpansionValue, ParsedText, Piece, Quoting, RawWord, SimpleCommand, is_name,
};
use crate::command::text::Symbol;
use crate::command::word::Word;

/// The literal texts of words; None for a word with an expansion.
pub(super) type Literals = [Option<String>];

impl Scope<'_> {
    /// Adds all that a text does to variables, and the functions that it defines; called once for each text. A text
    /// that may be misread may set any variable. `frame` is that of the text, in which the assigned words are expanded
    /// later. Forgets values that were found before, as there may be more now.
    pub(crate) fn add_assignments(&mut self, parsed: &ParsedText, frame: &Rc<Frame>) {
        self.cached_values.borrow_mut().clear();
        *self.function_arguments.borrow_mut() = FunctionArguments::NotSearched;
        self.functions.extend(parsed.functions.iter().cloned());
        self.using_functions.extend(using_functions(parsed));
        self.has_unknown_code |= parsed.may_be_misread;
        // `$0` is no argument. Unknown arguments are trusted to be no options.
        let arguments = frame.arguments.as_deref().unwrap_or_default();
        self.may_pass_options |= arguments
            .iter()
            .skip(1)
            .any(|text| begins_suspected_option(text));
        for set in &parsed.set_by_expansion {
            match &set.value {
                ExpansionValue::Word(word) => self.assign(&set.name, word.clone(), frame),
                ExpansionValue::Number => self.add_other(&set.name, OtherValue::Number),
            }
        }
        let shared_input = self.value_of_shared_input(parsed);
        for script in &parsed.scripts {
            for command in &script.commands {
                self.add_command(command, shared_input, frame);
            }
        }
    }

    /// Adds the assignment of a word of backoff's own command, at any place: `env name=value`. Does nothing for others.
    /// No shell reads the value, so that it counts as quoted: nothing in it is expanded or split. Called before the
    /// first value is asked for, as values that were found already stay.
    pub(crate) fn add_assignment_of_word(&mut self, word: &Word, frame: &Rc<Frame>) {
        let raw = RawWord {
            // Only an unquoted name makes an assignment.
            pieces: vec![Piece::Text(word.text.clone(), Quoting::Unquoted)],
            source: Rc::clone(&word.origin),
        };
        if let Some(assignment) = raw.assignment() {
            let mut value = assignment.value;
            if let Some(Piece::Text(_, quoting)) = value.pieces.first_mut() {
                *quoting = Quoting::Quoted;
            }
            self.assign(&assignment.name, value, frame);
        }
    }

    /// Returns the variable of this name for a change, and adds it if it is new.
    fn variable(&mut self, name: &str) -> &mut ScriptVariable {
        self.variables.entry(name.to_owned()).or_default()
    }

    /// Notes that `IFS` may be unset: `${IFS:-word}` is the word. Words are then split at blanks, as without any `IFS`,
    /// so that `separators` stays, which `add_other` would change.
    fn unset_separators(&mut self) {
        self.variable("IFS").others.insert(OtherValue::Trusted);
    }

    /// Adds a word to the values that a variable may have. It is expanded when the variable is used.
    fn assign(&mut self, name: &str, word: RawWord, frame: &Rc<Frame>) {
        let assigning = assigning(&word, name);
        self.assign_word(name, word, assigning, frame);
    }

    /// Adds a word as `assign` does, given how it gives values to the variable. If that is `IFS`, all scripts may split
    /// words elsewhere from then on.
    fn assign_word(&mut self, name: &str, word: RawWord, assigning: Assigning, frame: &Rc<Frame>) {
        if name == "IFS" {
            self.separators = self.separators.max(separators(&word));
        }
        let assigned = AssignedWord {
            word,
            assigning,
            frame: Rc::clone(frame),
        };
        self.variable(name).assigned.push(assigned);
    }

    /// Notes that a variable may have another value, too. Words may then be split anywhere if it is `IFS`.
    fn add_other(&mut self, name: &str, other: OtherValue) {
        if name == "IFS" {
            self.separators = Separators::Any;
        }
        self.variable(name).others.insert(other);
    }

    /// Adds what a command does to variables and to `$1`. `shared_input` is what a `read` in it may read from the input
    /// of a group around it.
    ///
    /// The words are searched for names of commands at any place: a command may stand behind any wrapper, and a word
    /// that only looks like a command adds values that do no harm.
    fn add_command(
        &mut self,
        command: &SimpleCommand,
        shared_input: OtherValue,
        frame: &Rc<Frame>,
    ) {
        let literals: Vec<Option<String>> = command.words.iter().map(RawWord::literal).collect();
        self.add_assignments_of_command(command, &literals, frame);
        for (index, name) in literals.iter().enumerate() {
            // The arguments, as if this word were the program.
            let words = &command.words[index + 1..];
            let literals = &literals[index + 1..];
            match name.as_deref() {
                Some("for" | "select") => self.add_loop(words, literals, frame),
                // In zsh, they set variables that stand somewhere among their words.
                Some("zparseopts" | "zstyle" | "strftime" | "zformat") => {
                    self.has_unknown_code = true;
                }
                Some("set") => self.add_set(words, literals),
                Some("shift") => self.changes_arguments = true,
                Some("unset") if literals == [Some("IFS".to_owned())] => self.unset_separators(),
                Some("getopts" | "unset" | "let") => self.add_names(literals, OtherValue::Trusted),
                Some("read" | "mapfile" | "readarray") => {
                    self.add_read(command, literals, shared_input);
                }
                Some("printf" | "print" | "wait") => {
                    self.add_printed(words, literals, frame);
                }
                Some("export" | "declare" | "typeset" | "local" | "readonly") => {
                    self.add_declaration(words, literals, frame);
                }
                _ => {}
            }
        }
    }

    /// Adds what `set` does, given the words after that name and their literal texts: it may set an array, or `$1`.
    fn add_set(&mut self, words: &[RawWord], literals: &Literals) {
        self.add_set_array(literals);
        if sets_arguments(literals) {
            self.changes_arguments = true;
            let passed = words_that_set_passes(words);
            self.may_pass_options |= passed.iter().any(begins_literal_option);
        }
    }

    /// Adds the words of a command that are assignments, at any place: behind `export` or `env` they are, too.
    /// `literals` are the literal texts of all its words; a `read` among them has an `IFS` of its own.
    fn add_assignments_of_command(
        &mut self,
        command: &SimpleCommand,
        literals: &Literals,
        frame: &Rc<Frame>,
    ) {
        let is_read = literals.iter().flatten().any(|word| word == "read");
        for word in &command.words {
            let Some(assignment) = word.argument_assignment() else {
                continue;
            };
            if assignment.name == "IFS" && is_read {
                // `IFS= read` sets it for `read` only.
            } else if assignment.adds
                && !assignment.is_of_element
                && adds_whole_words(&assignment.value)
            {
                self.assign_word(&assignment.name, assignment.value, Assigning::Adds, frame);
            } else if assignment.adds {
                self.add_other(&assignment.name, OtherValue::Changed);
                // The variable may be empty before, so that the added text is its whole value.
                self.assign(&assignment.name, assignment.value, frame);
            } else {
                self.assign(&assignment.name, assignment.value, frame);
            }
        }
    }

    /// Adds the values of `for name in words`, given the words after `for` and their literal texts. Without `in`, the
    /// values are the arguments. In zsh, several names may stand before `in`: which values each gets is not followed,
    /// so that any of them may be an option. A name with an expansion, which no shell accepts, is passed over.
    fn add_loop(&mut self, words: &[RawWord], literals: &Literals, frame: &Rc<Frame>) {
        let is_in = |word: &Option<String>| word.as_deref() == Some("in");
        let name_count = literals.iter().position(is_in).unwrap_or(literals.len());
        if let [Some(name)] = &literals[..name_count] {
            if name_count == words.len() {
                self.add_other(name, OtherValue::Argument);
            }
            for word in words.get(name_count + 1..).unwrap_or_default() {
                self.assign_word(name, word.clone(), Assigning::Words, frame);
            }
        } else {
            for name in literals[..name_count].iter().flatten() {
                if is_name(name) {
                    self.add_other(name, OtherValue::Option);
                }
            }
        }
    }

    /// Allows another value for each variable that the words of `read` and the like may name, be it behind the letter
    /// of an option (`read -raNAME`). None, a word with an expansion or one that is missing, may name any variable, so
    /// that all of them are unknown then. A word that is no name is passed over: of `let`, which sets numbers, that
    /// does no harm.
    pub(super) fn add_names(&mut self, words: &Literals, other: OtherValue) {
        for word in words {
            let Some(word) = word else {
                self.has_unknown_code = true;
                continue;
            };
            // `let count+=1`, `unset list[0]`, `read name?prompt` in zsh
            let end = ['[', '=', '+', '-', '*', '/', '?'];
            let letters = word.strip_prefix('-');
            let name = match letters.and_then(|letters| letters.split_once('a')) {
                Some((_, name)) => name,
                None => word.split(end).next().unwrap_or_default(),
            };
            if is_name(name) {
                self.add_other(name, other);
            }
        }
    }

    /// Adds the array that `set -A NAME` sets, in zsh and in ksh. Its words are not followed: `"${NAME[1]}"` may be an
    /// option, and `"${NAME[@]}"` any number of words. It gets two values, as no single one allows for both.
    fn add_set_array(&mut self, words: &Literals) {
        let is_array = |word: &Option<String>| {
            let letters = word
                .as_deref()
                .and_then(|word| word.strip_prefix(['-', '+']));
            letters.is_some_and(|letters| letters.ends_with('A'))
        };
        if let Some(index) = words.iter().position(is_array)
            && let Some(name) = words.get(index + 1)
        {
            self.add_names(std::slice::from_ref(name), OtherValue::Option);
            self.add_names(std::slice::from_ref(name), OtherValue::Trusted);
        }
    }

    /// Adds the variable that `printf -v NAME`, `print -v NAME` or `wait -p NAME` sets, given the words after the
    /// program. Its value is made of the words behind the name, and may be an option if one of them is.
    fn add_printed(&mut self, words: &[RawWord], literals: &Literals, frame: &Rc<Frame>) {
        let is_option = |word: &Option<String>| word.as_ref().is_some_and(|it| it.starts_with('-'));
        // Behind a first word that is no option, all are texts: `printf '%s' -v`. An expansion may be one.
        if !literals.first().is_some_and(is_option) {
            return self.add_printed_by_expansion(words, literals, frame);
        }
        for (index, word) in literals.iter().enumerate() {
            // `-vNAME`, `-rv NAME`
            let letters = word.as_deref().and_then(|word| word.strip_prefix('-'));
            self.has_unknown_code |= words.get(index).is_some_and(may_name_any_variable);
            let Some((_, name)) = letters.and_then(|letters| letters.split_once(['v', 'p'])) else {
                continue;
            };
            let name_is_next_word = name.is_empty();
            let name = if name_is_next_word {
                literals.get(index + 1).cloned().flatten()
            } else {
                Some(name.to_owned())
            };
            self.add_names(std::slice::from_ref(&name), OtherValue::Changed);
            // `NAME[1]`
            let name = name.as_deref().and_then(|name| name.split('[').next());
            let Some(name) = name.filter(|name| is_name(name)) else {
                continue;
            };
            let first_text = index + 1 + usize::from(name_is_next_word);
            self.add_printed_to(name, words.get(first_text..).unwrap_or_default(), frame);
        }
    }

    /// Adds what `printf` and its likes set if their first word has an expansion. Behind `-` or `-v` (`"-v$name"`), it
    /// may name any variable. At the beginning it may be `-v` if the next word is a literal name (`printf "$option"
    /// NAME`). Before any other word it is taken for no option: nearly always it is a format or a number (`printf
    /// "$format" "$x"`, `wait "$pid"`), and as a `-v` of an unknown name it would leave all variables unknown.
    fn add_printed_by_expansion(
        &mut self,
        words: &[RawWord],
        literals: &Literals,
        frame: &Rc<Frame>,
    ) {
        let [first, texts @ ..] = words else {
            return;
        };
        self.has_unknown_code |= may_name_any_variable(first);
        let begins_unknown = !matches!(
            first.pieces_without_quotes().next(),
            Some(Piece::Text(..)) | None
        );
        if begins_unknown && first.literal().is_none() {
            let name = literals.get(1).and_then(Option::as_deref);
            if let Some(name) = name.filter(|name| is_name(name)) {
                self.add_other(name, OtherValue::Changed);
                self.add_printed_to(name, texts.get(1..).unwrap_or_default(), frame);
            }
        }
    }

    /// Adds each of these words, which `printf` prints into the variable of this name, as a value of its own.
    fn add_printed_to(&mut self, name: &str, texts: &[RawWord], frame: &Rc<Frame>) {
        for word in texts {
            if word.literal().as_deref() != Some("--") {
                self.assign(name, word.clone(), frame);
            }
        }
    }

    /// Adds what `declare` and its likes do, given the words after it and their literal texts: a name without a value
    /// may be empty from then on, some attributes change every later value (`-i`, `-l`), and `-n` lets a name stand for
    /// another variable, which may be any. A word whose name is not known may assign to any variable. The assignments
    /// themselves are added elsewhere, except the array in `declare "name=(words)"`, whose words are not followed.
    fn add_declaration(&mut self, words: &[RawWord], literals: &Literals, frame: &Rc<Frame>) {
        for (word, literal) in words.iter().zip(literals) {
            if let Some(assignment) = word.argument_assignment()
                && assignment.value.begins_quoted_array()
            {
                // As in `add_set_array`.
                self.add_other(&assignment.name, OtherValue::Trusted);
                self.add_other(&assignment.name, OtherValue::Option);
            }
            let Some(literal) = literal else {
                self.has_unknown_code |= word.argument_assignment().is_none();
                continue;
            };
            if is_name(literal) {
                self.assign(literal, RawWord::default(), frame);
            }
            let Some(letters) = literal.strip_prefix(['-', '+']) else {
                continue;
            };
            if letters.contains('n') {
                self.has_unknown_code = true;
                self.add_declared_names(words, OtherValue::Option);
            } else if letters.contains(['i', 'l', 'u', 'c']) {
                self.add_declared_names(words, OtherValue::Changed);
            }
        }
    }

    /// Allows another value for each variable that the words after `declare` name.
    fn add_declared_names(&mut self, words: &[RawWord], other: OtherValue) {
        for word in words {
            if let Some(assignment) = word.argument_assignment() {
                self.add_other(&assignment.name, other);
            } else if let Some(name) = word.literal().filter(|name| is_name(name)) {
                self.add_other(&name, other);
            }
        }
    }
}

/// Returns true if a word with an expansion may be the option of `printf` that names a variable: `"-v$name"`, `"-$x"`.
fn may_name_any_variable(word: &RawWord) -> bool {
    let Some(Piece::Text(text, _)) = word.pieces_without_quotes().next() else {
        return false;
    };
    let dash = Symbol::Known('-');
    let begins_option = *text == [dash] || text.starts_with(&[dash, Symbol::Known('v')]);
    begins_option && word.literal().is_none()
}

/// Returns where words are split after `IFS=word`. An empty word, by which nothing is split, counts as some blanks.
pub(super) fn separators(word: &RawWord) -> Separators {
    let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n');
    match word.literal() {
        Some(text) if text.chars().all(is_blank) => Separators::SomeBlanks,
        _ => Separators::Any,
    }
}
