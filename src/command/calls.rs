//! Finds calls of curl and wget in a command, and in every script among its words.
//!
//! Each mention of a client's name as a word begins a call, so an unknown wrapper hides nothing. Texts that a shell
//! will read, or that mention a client, are scripts of their own.
//!
//! A script may set a variable by which an earlier command gets a further meaning. So all commands are read in rounds,
//! until a round finds no further script or value. Code that cannot be read is noted, as it may hold a call.
//!
//! A client is curl or wget. A `Context` holds what a command or script gets from its caller (arguments and
//! environment), and where it stands, for messages.

mod client_name;
mod command;
mod downloads;
mod evaluated;
mod expanded_command;
mod feeders;
mod marks;
mod remote;
mod script_files;
mod scripts;
mod shell_input;

use std::collections::BTreeSet;
use std::rc::Rc;

use self::expanded_command::{CommandInScript, ExpandedCommand};
use super::http::options::Client;
use super::http::tables::{CLIENTS, mentions_client};
use super::scope::{Frame, Inherited, Scope};
use super::syntax::{ParsedText, RawWord, Script};
use super::text::{Doubt, Symbol, Symbols, mentions};
use super::word::Word;
use super::{Surroundings, expansion, words};

/// Limit on the symbols of all scripts together.
const MOST_SYMBOLS: usize = 1 << 19;
/// Limit on the rounds over all scripts.
const MOST_ROUNDS: usize = 6;
/// Limit on the calls and scripts in one command. As many IDs are reserved for its calls, and one for a guessed call.
const MOST_CALLS: usize = 64;

/// A call of a client.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) client: &'static Client,
    /// The words after the client's name, with those that `xargs` or `parallel` adds. A name that may be several words
    /// (`$CURL`) is the first of them.
    pub(super) words: Vec<Word>,
    pub(super) location: Location,
    pub(super) certainty: Certainty,
    /// Calls of one client with the same ID stand at the same place of a script, and differ in the values of variables,
    /// or in where they end. All guessed calls of a command share one ID.
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
    pub(super) location: Location,
}

/// The place of a call or of unknown code, for messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
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
    /// The arguments and the environment that it gets from its caller.
    frame: Rc<Frame>,
    location: Location,
}

impl Context {
    /// Returns the context of a script that gets the same arguments and environment, and that messages call by this
    /// name.
    fn named(&self, name: String) -> Context {
        Context {
            frame: Rc::clone(&self.frame),
            location: Location::Script(name.into()),
        }
    }

    /// Returns true for what runs on another machine or in a container, where files of this machine are not found. A
    /// script that this machine sends there as input does not count as such: its environment is `Unknown`, so that the
    /// file from which it comes is read.
    fn is_elsewhere(&self) -> bool {
        self.frame.environment == Inherited::None
    }

    /// Returns the context of a script that gets these arguments, `$0` first, instead of those of this context; they
    /// are None if they are unknown. Environment and location stay.
    fn with_arguments(&self, arguments: Option<Vec<Symbols>>) -> Context {
        Context {
            frame: Rc::new(Frame {
                arguments,
                environment: self.frame.environment,
            }),
            location: self.location.clone(),
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
    /// The texts of `texts` with what each gets from its caller. Not with their names: found again under another name,
    /// a text would show the same calls.
    seen: BTreeSet<(Symbols, Frame)>,
    /// Number of symbols in all texts, and one more for each text.
    symbols: usize,
    /// The first of the IDs that are reserved for the calls in the command that is being read. Each round goes on to
    /// use new ones.
    first_id: usize,
    /// A finding of this round may give an earlier command further meanings: a script, a value, or a directory.
    needs_another_round: bool,
    /// The clients whose names stand in the command or in any script.
    pub(super) mentioned: Vec<&'static str>,
    /// The calls that this round has found.
    pub(super) found: Vec<Call>,
    /// The unknown code that this round has found.
    pub(super) unknown: Vec<UnknownCode>,
}

impl<'s> Calls<'s> {
    /// Finds the calls in backoff's command and in all its scripts, the code that cannot be read, and the clients whose
    /// names occur: `found`, `unknown` and `mentioned` of the result.
    pub(super) fn find(command: &[&str], surroundings: &'s dyn Surroundings) -> Calls<'s> {
        let mut calls = Calls {
            scope: Scope::new(&expansion::Bash, surroundings),
            surroundings,
            texts: Vec::new(),
            seen: BTreeSet::new(),
            symbols: 0,
            first_id: 0,
            needs_another_round: false,
            mentioned: Vec::new(),
            found: Vec::new(),
            unknown: Vec::new(),
        };
        let words: Vec<Word> = command.iter().map(|word| Word::exact(word)).collect();
        let context = Context {
            frame: Rc::new(Frame {
                // No shell reads these words. A script among them that gets no arguments of its own has unknown ones.
                arguments: None,
                environment: Inherited::All,
            }),
            location: Location::Command,
        };
        for word in &words {
            calls.note_mentions(&word.text);
        }
        let command = ExpandedCommand::new(&words, None);
        for (index, word) in words.iter().enumerate() {
            // `env A=b curl`. But the script of `sh -c 'A=b; curl'` is no assignment as a whole.
            if index != command.script_index {
                calls.scope.add_assignment_of_word(word, &context.frame);
            }
        }
        calls.search(&command, &context);
        calls
    }

    /// Reads the command and all scripts in rounds, until one finds nothing that may give a command a further meaning.
    /// If the last round still does, there may be calls that were not seen, so that this counts as unknown code.
    fn search(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        for _ in 0..MOST_ROUNDS {
            self.read_all_once(command, context);
            // Beyond the limit on symbols, unknown code was noted already.
            if !self.needs_another_round || self.symbols > MOST_SYMBOLS {
                return;
            }
        }
        self.note_unknown_code("scripts within scripts", context);
    }

    /// Reads the command and all scripts once, those included that come to light meanwhile. Begins with empty findings,
    /// as this round finds all those of the last one again.
    fn read_all_once(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        self.needs_another_round = false;
        self.found.clear();
        self.unknown.clear();
        // The arguments of functions are collected again: an earlier script may call a function of a later one.
        self.scope.clear_function_calls();
        for text in &self.texts {
            self.scope
                .add_function_calls(&text.parsed, &text.context.frame);
        }
        self.read_command(command, context);
        // By index, as reading a script may add others.
        let mut index = 0;
        while index < self.texts.len() {
            let parsed = Rc::clone(&self.texts[index].parsed);
            let context = self.texts[index].context.clone();
            if parsed.may_be_misread {
                self.note_unknown_code("a script that cannot be followed", &context);
            }
            for script in &parsed.scripts {
                self.read_script(script, &context);
            }
            index += 1;
        }
    }

    /// Notes code that cannot be read, so that it may hold a call that sends data. `what` names it in a message.
    fn note_unknown_code(&mut self, what: impl Into<String>, context: &Context) {
        self.unknown.push(UnknownCode {
            what: what.into(),
            location: context.location.clone(),
        });
    }

    /// Notes which clients a text mentions. With `--for auto`, doubts about a client count only if some text mentions
    /// it.
    fn note_mentions(&mut self, text: &[Symbol]) {
        for client in CLIENTS {
            if !self.mentioned.contains(&client.name) && mentions(text, client.name) {
                self.mentioned.push(client.name);
            }
        }
    }

    /// Adds a text that a shell will read: parses it, notes its assignments, and asks for another round, as these may
    /// change what earlier commands mean. Its own commands are read later in this round. Does nothing if the text was
    /// added before with the same arguments and environment, even under another name. Beyond the limit on all symbols,
    /// this and each further new text counts as unknown code, which may also set any variable, and the search ends with
    /// this round.
    fn add_script(&mut self, text: &[Symbol], context: Context) {
        let text: Symbols = text.iter().map(|symbol| as_code(*symbol)).collect();
        let key = (text, (*context.frame).clone());
        if self.seen.contains(&key) {
            return;
        }
        let (text, _) = &key;
        self.note_mentions(text);
        // One more, so that empty texts count, too.
        self.symbols += text.len() + 1;
        if self.symbols > MOST_SYMBOLS {
            self.note_unknown_code("too many scripts", &context);
            self.scope.allow_unknown_code();
            return;
        }
        let parsed = words::parse(text);
        self.seen.insert(key);
        self.scope.add_assignments(&parsed, &context.frame);
        self.needs_another_round = true;
        self.texts.push(ScriptText {
            parsed: Rc::new(parsed),
            context,
        });
    }

    /// Reads the commands of a script, each with all values that its variables may have. Assigned values and inputs
    /// become scripts of their own if they mention a client, as the script may run them in a way that is not known;
    /// tables of aliases and functions do in any case. Variables got their values when the script was added.
    fn read_script(&mut self, script: &Script, context: &Context) {
        for (index, command) in script.commands.iter().enumerate() {
            for word in &command.words {
                if let Some(assignment) = word.argument_assignment() {
                    self.read_table_of_code(&assignment, context);
                    self.add_texts_with_client(&assignment.value, context);
                }
            }
            for input in &command.input {
                self.add_texts_with_client(input, context);
            }
            // The same IDs for all values of the command's variables.
            self.first_id += MOST_CALLS + 1;
            let words = command.words_after_assignments();
            for expanded in expansion::commands(&self.scope, words, &context.frame) {
                let in_script = CommandInScript {
                    script,
                    index,
                    frame: &context.frame,
                };
                self.read_command(&ExpandedCommand::new(&expanded, Some(in_script)), context);
            }
        }
    }

    /// Adds each text that a word may be as a script if it mentions a client.
    fn add_texts_with_client(&mut self, word: &RawWord, context: &Context) {
        for text in expansion::texts(&self.scope, word, &context.frame) {
            self.add_if_client_is_mentioned(&text, context);
        }
    }

    /// Adds a text as a script if it mentions a client and is more than a name: some program may have it run. The
    /// arguments that it then gets are not known.
    fn add_if_client_is_mentioned(&mut self, text: &[Symbol], context: &Context) {
        if mentions_client(text) && text.iter().any(may_separate_words) {
            self.add_script(text, context.with_arguments(None));
        }
    }
}

/// Returns a symbol of a value as it counts in a script. A shell that reads an unknown part as code finds any words in
/// it, whatever quotes stood around it before. A number and the like stay one word.
fn as_code(symbol: Symbol) -> Symbol {
    match symbol {
        Symbol::Unknown(doubt) if doubt.may_hold_code() => Symbol::Unknown(Doubt::AnyWords),
        other => other,
    }
}

/// Returns true for a symbol by which a text may be a script of several words, and not just the name of a program or a
/// file: a blank, a sign of the shell, or an unknown part.
fn may_separate_words(symbol: &Symbol) -> bool {
    match symbol {
        Symbol::Known(c) => c.is_whitespace() || ";|&$(`<>'\"\\".contains(*c),
        Symbol::Unknown(_) => true,
    }
}
