//! Finds calls of curl and wget in a command, and in every script among its words.
//!
//! Each mention of a client's name as a word begins a call, so an unknown wrapper hides nothing. Texts that a shell
//! will read, or that mention a client, are scripts of their own.

mod client_name;
mod command;
mod expanded_command;
mod feeders;
mod scripts;

use std::collections::BTreeSet;
use std::rc::Rc;

use self::expanded_command::{CommandInScript, ExpandedCommand};
use super::http::options::Client;
use super::http::tables::CLIENTS;
use super::scope::{Frame, Inherited, Scope};
use super::syntax::{ParsedText, Script};
use super::text::{Doubt, Symbol, Symbols, Word, mentions};
use super::{AttemptEnvironments, Surroundings, expansion, words};

/// Limit on the symbols of all scripts together.
const MOST_SYMBOLS: usize = 1 << 19;
/// Limit on the rounds over all scripts.
const MOST_ROUNDS: usize = 6;
/// Limit on the calls in one command.
const MOST_CALLS: usize = 64;

/// A call of a client.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) client: &'static Client,
    /// The words after the client's name.
    pub(super) words: Vec<Word>,
    pub(super) place: Place,
    pub(super) certainty: Certainty,
    /// Calls with the same number stand at the same place and differ in the values of variables.
    pub(super) id: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The program is the client.
    Named,
    /// The program is unknown and may be the client.
    Guessed,
}

/// Code that is unknown, so that it may hold a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownCode {
    /// The code for a message, such as `eval "$CODE"`.
    pub(super) what: String,
    pub(super) place: Place,
}

/// The place of a call or of unknown code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Among the words of the command.
    Command,
    /// In a script with this name, such as `the script of bash -c`.
    Script(Rc<str>),
}

/// A text that a shell will read, or may read.
struct ScriptText {
    parsed: Rc<ParsedText>,
    context: Context,
}

/// The surroundings of a command or a script, as far as its meaning depends on them.
#[derive(Debug, Clone)]
struct Context {
    frame: Rc<Frame>,
    place: Place,
}

impl Context {
    /// Returns the context of a script inside this one that has a name of its own.
    fn named(&self, name: String) -> Context {
        Context {
            frame: Rc::clone(&self.frame),
            place: Place::Script(name.into()),
        }
    }

    /// Returns the context of a script inside this one with these arguments, or unknown ones.
    fn with_arguments(&self, arguments: Option<Vec<Symbols>>) -> Context {
        Context {
            frame: Rc::new(Frame {
                arguments,
                environment: self.frame.environment,
            }),
            place: self.place.clone(),
        }
    }
}

/// A search for the calls in a command and in all its scripts.
pub(super) struct Calls<'s> {
    /// The variables of all scripts.
    scope: Scope<'s>,
    surroundings: &'s dyn Surroundings,
    /// All scripts that were found so far.
    texts: Vec<ScriptText>,
    /// The texts of `texts` with what each gets from its caller.
    seen: BTreeSet<(Symbols, Frame)>,
    /// Number of symbols in all texts.
    symbols: usize,
    next_id: usize,
    /// A finding of this round may give an earlier command further meanings.
    needs_another_round: bool,
    /// The clients whose names stand in any text.
    pub(super) mentioned: Vec<&'static str>,
    /// The calls that this round has found.
    pub(super) found: Vec<Call>,
    /// The unknown code that this round has found.
    pub(super) unknown: Vec<UnknownCode>,
}

impl<'s> Calls<'s> {
    /// Finds the calls in a command.
    pub(super) fn find(
        command: &[&str],
        surroundings: &'s dyn Surroundings,
        environments: AttemptEnvironments,
    ) -> Calls<'s> {
        let mut calls = Calls {
            scope: Scope::new(&expansion::Bash, surroundings, environments),
            surroundings,
            texts: Vec::new(),
            seen: BTreeSet::new(),
            symbols: 0,
            next_id: 0,
            needs_another_round: false,
            mentioned: Vec::new(),
            found: Vec::new(),
            unknown: Vec::new(),
        };
        let words: Vec<Word> = command.iter().map(|word| Word::exact(word)).collect();
        let context = Context {
            frame: Rc::new(Frame {
                arguments: None,
                environment: Inherited::All,
            }),
            place: Place::Command,
        };
        for word in &words {
            calls.note_mentions(&word.text);
        }
        let command = ExpandedCommand::new(&words, None);
        for (at, word) in words.iter().enumerate() {
            // A script that begins with an assignment is not one.
            if at != command.script_at {
                calls.scope.add_assignment_of_word(word, &context.frame);
            }
        }
        calls.search(&command, &context);
        calls
    }

    /// Reads the command and all scripts, again and again until a round finds no further script or value.
    fn search(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        for _ in 0..MOST_ROUNDS {
            self.read_all_once(command, context);
            if !self.needs_another_round || self.symbols > MOST_SYMBOLS {
                return;
            }
        }
        self.note_unknown_code("scripts within scripts", context);
    }

    /// Reads the command and all scripts, those included that come to light meanwhile.
    fn read_all_once(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        self.needs_another_round = false;
        self.found.clear();
        self.unknown.clear();
        self.scope.clear_function_calls();
        for text in &self.texts {
            self.scope
                .add_function_calls(&text.parsed, &text.context.frame);
        }
        self.read_command(command, context);
        let mut at = 0;
        while at < self.texts.len() {
            let parsed = Rc::clone(&self.texts[at].parsed);
            let context = self.texts[at].context.clone();
            if parsed.may_be_misread {
                self.note_unknown_code("a script that cannot be followed", &context);
            }
            for script in &parsed.scripts {
                self.read_script(script, &context);
            }
            at += 1;
        }
    }

    /// Notes code that cannot be read. `what` names it in a message.
    fn note_unknown_code(&mut self, what: impl Into<String>, context: &Context) {
        self.unknown.push(UnknownCode {
            what: what.into(),
            place: context.place.clone(),
        });
    }

    /// Notes which clients a text mentions.
    fn note_mentions(&mut self, text: &[Symbol]) {
        for client in CLIENTS {
            if !self.mentioned.contains(&client.name) && mentions(text, client.name) {
                self.mentioned.push(client.name);
            }
        }
    }

    /// Adds a script unless it was added before with the same context.
    fn add_script(&mut self, text: &[Symbol], context: Context) {
        let text: Symbols = text.iter().map(|symbol| as_code(*symbol)).collect();
        let key = (text, (*context.frame).clone());
        if self.seen.contains(&key) {
            return;
        }
        let (text, _) = &key;
        self.symbols += text.len() + 1;
        if self.symbols > MOST_SYMBOLS {
            self.note_unknown_code("too many scripts", &context);
            self.scope.allow_unknown_code();
            return;
        }
        self.note_mentions(text);
        let parsed = words::parse(text);
        self.seen.insert(key);
        self.scope.add_assignments(&parsed, &context.frame);
        self.needs_another_round = true;
        self.texts.push(ScriptText {
            parsed: Rc::new(parsed),
            context,
        });
    }

    /// Reads the commands of a script, each with all values that its variables may have.
    fn read_script(&mut self, script: &Script, context: &Context) {
        for (at, command) in script.commands.iter().enumerate() {
            for word in &command.words {
                if let Some(assignment) = word.assignment() {
                    for text in expansion::texts(&self.scope, &assignment.value, &context.frame) {
                        self.add_if_client_is_mentioned(&text, context);
                    }
                }
            }
            for input in &command.input {
                for text in expansion::texts(&self.scope, input, &context.frame) {
                    self.add_if_client_is_mentioned(&text, context);
                }
            }
            self.next_id += MOST_CALLS;
            let words = command.words_after_assignments();
            for list in expansion::commands(&self.scope, words, &context.frame) {
                let in_script = CommandInScript { script, at };
                self.read_command(&ExpandedCommand::new(&list, Some(in_script)), context);
            }
        }
    }

    /// Adds a text as a script if it mentions a client and is more than a name: some program may have it run.
    fn add_if_client_is_mentioned(&mut self, text: &[Symbol], context: &Context) {
        let is_mentioned = CLIENTS.iter().any(|client| mentions(text, client.name));
        if is_mentioned && text.iter().any(may_separate_words) {
            self.add_script(text, context.with_arguments(None));
        }
    }
}

/// Returns a symbol of a value as it counts in a script: an unknown part may hold quotes and operators.
fn as_code(symbol: Symbol) -> Symbol {
    match symbol {
        Symbol::Unknown(doubt) if doubt.may_hold_code() => Symbol::Unknown(Doubt::AnyWords),
        other => other,
    }
}

/// Returns true for a symbol that a script may hold, but not a name.
fn may_separate_words(symbol: &Symbol) -> bool {
    match symbol {
        Symbol::Known(c) => c.is_whitespace() || ";|&$(`<>'\"\\".contains(*c),
        Symbol::Unknown(_) => true,
    }
}
