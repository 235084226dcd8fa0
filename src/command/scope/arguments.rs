//! Values of `$1` and `"$@"`: the arguments of the script, or those of a function in it. A script may pass an option
//! on by them with which a request sends data, so that none may be missed.
//!
//! In which function a `$1` stands is not followed: it may be the script's argument, or that of any call of any
//! function. A command is taken for a call of a function if one of its words may be the function's name.
//!
//! A frame holds the arguments and the environment that a script gets from the program that runs it.

use std::rc::Rc;

use super::functions::{FunctionArguments, FunctionCall, PRINTING};
use super::value::{Value, add_new, begins_suspected_option};
use super::{Frame, MOST_VALUES, Scope};
use crate::command::syntax::{ParsedText, Piece, RawWord, SimpleCommand};
use crate::command::text::{Doubt, Symbols, begins_option, may_be_several_words, unknown};
use crate::command::words::{MODIFIERS, OPENERS};

impl Scope<'_> {
    /// Adds the commands of a text that may call a function, whose words become values of `$1` and `$@`. `frame` is
    /// that of the text. Only calls of functions that are known by now are found: when a script adds others, all texts
    /// have to be searched again. Forgets the values that were found before, as there may be more now.
    pub(crate) fn add_function_calls(&mut self, parsed: &ParsedText, frame: &Rc<Frame>) {
        *self.function_arguments.borrow_mut() = FunctionArguments::NotSearched;
        self.cached_values.borrow_mut().clear();
        for script in &parsed.scripts {
            for command in &script.commands {
                for name_index in self.called_function_indexes(command) {
                    let arguments = passed_words(command, name_index).to_vec();
                    // From now on `"$1"` is not trusted to be no option, if its values are unknown.
                    self.may_pass_options |= arguments.iter().any(begins_literal_option);
                    self.function_calls.push(FunctionCall {
                        arguments,
                        frame: Rc::clone(frame),
                    });
                }
            }
        }
    }

    /// Returns true if a script may define a function of this name that does more with its arguments than print them.
    /// The programs with which others print may be functions themselves, and then all do.
    fn may_use_arguments(&self, name: &str) -> bool {
        let may_redefine = PRINTING.iter().any(|program| self.may_be_function(program));
        let functions = if may_redefine {
            &self.functions
        } else {
            &self.using_functions
        };
        functions.contains(name) || functions.contains("")
    }

    /// Returns the indexes of the words that may be the name of a function that the command calls: the name of a known
    /// function at any place, as it may stand behind a wrapper, which may be a function itself (`retry fetch URL`), or
    /// the program's name if that is an expansion. If a function has an unknown name, each word may be it. A `set` that
    /// sets the arguments counts as a call: as it makes `$1` unknown in all scripts, its words only decide what that
    /// may be ([`Self::doubt_of_arguments`]).
    fn called_function_indexes(&self, command: &SimpleCommand) -> Vec<usize> {
        let words = &command.words;
        let mut indexes = Vec::new();
        let literals: Vec<Option<String>> = words.iter().map(RawWord::literal).collect();
        for (index, literal) in literals.iter().enumerate() {
            let may_be_call = match literal {
                // `set -- x` gives words to the script as a call does to a function.
                Some(name) if name == "set" => sets_arguments(&literals[index + 1..]),
                Some(name) => self.may_use_arguments(name),
                // `$f x` may call any function, if there is one at all.
                None => {
                    !self.functions.is_empty() && words[..index].iter().all(may_precede_program)
                }
            };
            if may_be_call {
                indexes.push(index);
            }
        }
        indexes
    }

    /// Forgets the commands that may call a function, before all texts are searched for them again.
    pub(crate) fn clear_function_calls(&mut self) {
        self.function_calls.clear();
    }

    /// Returns the values that `$1` or `$@` may have: the script's arguments (in `frame`), or those of any call of a
    /// function. `name` is a number, `@` or `*`; an argument that is not there is empty. Returns one unknown value if
    /// not all of them are known, or if `set` or `shift` changes them.
    pub(super) fn arguments(&self, name: &str, frame: &Frame) -> Vec<Value> {
        let calls = match (&frame.arguments, self.arguments_of_functions()) {
            (Some(of_script), FunctionArguments::Known(of_functions))
                if !self.changes_arguments =>
            {
                [of_functions, vec![of_script.clone()]].concat()
            }
            _ => return vec![Value::Text(unknown(self.doubt_of_arguments()))],
        };
        let mut values = Vec::new();
        for arguments in calls {
            let value = match name.parse::<usize>() {
                Ok(number) => Value::Text(arguments.get(number).cloned().unwrap_or_default()),
                // `@` or `*`: all but `$0`.
                Err(_) => Value::List(arguments.get(1..).unwrap_or_default().to_vec()),
            };
            add_new(&mut values, value);
        }
        values
    }

    /// Returns what an unknown argument may be. An unknown value is `AnyWords`, which in quotes (`"$1"`) is trusted to
    /// begin no option, as most arguments are URLs and names. `AnyPart` is not trusted: a script passes an option
    /// somewhere.
    pub(super) fn doubt_of_arguments(&self) -> Doubt {
        let doubt = match self.arguments_of_functions() {
            FunctionArguments::Unknown(doubt) => doubt,
            FunctionArguments::Known(lists) => doubt_of_unknown(
                lists
                    .iter()
                    .flatten()
                    .any(|text| begins_suspected_option(text)),
            ),
            // Does not happen: they were searched for just now.
            FunctionArguments::NotSearched => Doubt::AnyWords,
        };
        if self.may_pass_options {
            Doubt::AnyPart
        } else {
            doubt
        }
    }

    /// Returns the arguments that functions may get, with an empty `$0`; an empty list if no function is called.
    /// Searches for them when it is first asked, and keeps the result. The search forgets the values of variables that
    /// were found before.
    fn arguments_of_functions(&self) -> FunctionArguments {
        if self.function_calls.is_empty() {
            return FunctionArguments::Known(Vec::new());
        }
        let known = self.function_arguments.borrow().clone();
        if !matches!(known, FunctionArguments::NotSearched) {
            return known;
        }
        // The search expands words, and comes back here if a function passes its own `$1` on: it gets this value then.
        *self.function_arguments.borrow_mut() = FunctionArguments::Unknown(Doubt::AnyWords);
        // In a chain of its own, as in one that has begun, variables would lack some of their values.
        let chain = self.chain.take();
        let found = self.find_arguments_of_functions();
        self.chain.replace(chain);
        *self.function_arguments.borrow_mut() = found.clone();
        // Values of variables that were found meanwhile lack the arguments.
        self.cached_values.borrow_mut().clear();
        found
    }

    /// Expands the words of all calls of functions, and returns the arguments, each list once. They are unknown if one
    /// may be several words, by which the later ones would move, or if there are too many lists. Then a `"$1"` is
    /// trusted to be no option, unless a word of any call begins with a known `-` or an `AnyPart`.
    fn find_arguments_of_functions(&self) -> FunctionArguments {
        let mut found = Vec::new();
        let mut is_unknown = false;
        let mut passes_option = false;
        for call in &self.function_calls {
            for words in self.expand.commands(self, &call.arguments, &call.frame) {
                // `$0`
                let mut arguments = vec![Symbols::new()];
                arguments.extend(words.into_iter().map(|word| word.text));
                passes_option |= arguments.iter().any(|text| begins_suspected_option(text));
                is_unknown |= arguments.iter().any(|text| may_be_several_words(text));
                // One more than the limit shows that there are too many.
                if found.len() <= MOST_VALUES && !found.contains(&arguments) {
                    found.push(arguments);
                }
            }
        }
        if is_unknown || found.len() > MOST_VALUES {
            return FunctionArguments::Unknown(doubt_of_unknown(passes_option));
        }
        FunctionArguments::Known(found)
    }
}

/// Returns what an unknown argument may be: not to be trusted in quotes (`AnyPart`) if an option is passed somewhere.
fn doubt_of_unknown(passes_option: bool) -> Doubt {
    if passes_option {
        Doubt::AnyPart
    } else {
        Doubt::AnyWords
    }
}

/// Returns true for a word that may stand before the name of a function that a shell runs: a reserved word, be it with
/// its option (`time -p`), a modifier of zsh, or an assignment.
fn may_precede_program(word: &RawWord) -> bool {
    let bare = word.bare().unwrap_or_default();
    word.assignment().is_some()
        || OPENERS.contains(&&*bare)
        || MODIFIERS.contains(&&*bare)
        || ["coproc", "-p", "--"].contains(&&*bare)
}

/// Returns true if a word begins with a literal `-`, quoted or not: where such a word is passed on, a `$1` may be an
/// option. An expansion at its beginning does not count.
pub(super) fn begins_literal_option(word: &RawWord) -> bool {
    let first = word.pieces_without_quotes().next();
    matches!(first, Some(Piece::Text(text, _)) if begins_option(text))
}

/// Returns the words that a call passes to the function whose name is at this index: all behind it; of a `set`, those
/// behind its `--` if it has one.
fn passed_words(command: &SimpleCommand, name_index: usize) -> &[RawWord] {
    let words = &command.words[name_index + 1..];
    let is_set = command.words[name_index].literal().as_deref() == Some("set");
    if is_set {
        words_that_set_passes(words)
    } else {
        words
    }
}

/// Returns the words behind the `--` of `set`; all of them if there is none.
pub(super) fn words_that_set_passes(words: &[RawWord]) -> &[RawWord] {
    let end = words
        .iter()
        .position(|word| word.literal().as_deref() == Some("--"));
    end.map_or(words, |end| &words[end + 1..])
}

/// Returns true if these words after `set` may change `$1`: `set -e` does not, but `set -- x` and `set $x` do. A word
/// is None if it has an expansion.
pub(super) fn sets_arguments(words: &[Option<String>]) -> bool {
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
