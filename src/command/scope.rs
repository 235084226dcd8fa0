//! Variables of all scripts of a command, and what each may hold.
//!
//! The order of commands does not count: a variable may hold what it has in backoff's environment, or what any
//! assignment in any script gives it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::expansion::atoms::Atom;
use super::syntax::{Parsed, Piece, Quoting, RawWord, SimpleCommand, is_name};
use super::text::{Doubt, Symbol, Text, Word, exact, has_words, known, unknown};
use super::words::OPENERS;
use super::{Environment, Surroundings};
use crate::run::variables::SET_BY_BACKOFF;

/// Limit on the values that a variable may hold, one of which it does.
pub(crate) const MOST_VALUES: usize = 8;
/// Limit on the symbols of a value.
pub(crate) const LONGEST_VALUE: usize = 4096;
/// Limit on variables whose values need each other.
const DEEPEST: usize = 16;

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Text),
    List(Vec<Text>),
}

/// What a script gets from the program that runs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    /// `$0` and the words after it; None if they are unknown.
    pub(crate) arguments: Option<Vec<Text>>,
    pub(crate) environment: Inherited,
}

/// How much of backoff's environment a script has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Inherited {
    All,
    /// Variables may be missing, as behind sudo.
    Part,
    /// Another machine's or a container's.
    None,
}

#[derive(Debug)]
struct Source {
    word: RawWord,
    frame: Rc<Frame>,
}

#[derive(Debug, Default)]
struct Variable {
    sources: Vec<Source>,
    /// Values besides those of `sources`.
    is_unknown: bool,
    may_be_number: bool,
}

/// Expands words. Values of variables need expansions, and these need values.
pub(crate) trait Expand {
    /// Returns the lists of words that a command may consist of.
    fn commands(&self, scope: &Scope<'_>, words: &[RawWord], frame: &Frame) -> Vec<Vec<Word>>;

    /// Returns the values that an assignment may give.
    fn assigned(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value>;

    /// Returns the parts of a word before it is split.
    fn atoms(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Atom>>;

    /// Returns the texts that a word may be if it is not split.
    fn texts(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Text>;
}

pub(crate) struct Scope<'s> {
    pub(crate) expand: &'s dyn Expand,
    surroundings: &'s dyn Surroundings,
    environment: Environment,
    variables: BTreeMap<String, Variable>,
    /// Code that is not known may set any variable.
    is_open: bool,
    /// `IFS` may be set, so words may be split at other characters than blanks.
    pub(crate) splits_oddly: bool,
    /// `set` and `shift` change `$1`.
    changes_arguments: bool,
    /// A literal word that begins with `-` may become `$1`.
    passes_options: bool,
    /// Words of commands that may call a function.
    function_calls: Vec<(Vec<RawWord>, Rc<Frame>)>,
    /// The arguments that functions may get; None if there are too many.
    function_arguments: RefCell<Option<Option<Vec<Vec<Text>>>>>,
    functions: BTreeSet<String>,
    /// Where `cd` may go.
    directories: Vec<String>,
    known: RefCell<BTreeMap<(String, Inherited), Vec<Value>>>,
    /// Variables whose values are being found.
    pending: RefCell<BTreeSet<String>>,
}

impl<'s> Scope<'s> {
    pub(crate) fn new(
        expand: &'s dyn Expand,
        surroundings: &'s dyn Surroundings,
        environment: Environment,
    ) -> Scope<'s> {
        Scope {
            expand,
            surroundings,
            environment,
            variables: BTreeMap::new(),
            is_open: false,
            splits_oddly: false,
            changes_arguments: false,
            passes_options: false,
            function_calls: Vec::new(),
            function_arguments: RefCell::default(),
            functions: BTreeSet::new(),
            directories: Vec::new(),
            known: RefCell::default(),
            pending: RefCell::default(),
        }
    }

    /// Allows for code that is not known.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
        self.known.borrow_mut().clear();
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Adds the assignments of a text.
    pub(crate) fn add(&mut self, parsed: &Parsed, frame: &Rc<Frame>) {
        self.known.borrow_mut().clear();
        *self.function_arguments.borrow_mut() = None;
        self.functions.extend(parsed.functions.iter().cloned());
        self.is_open |= parsed.is_cut;
        for (name, operand) in &parsed.set_by_expansion {
            match operand {
                Some(word) => self.assign(name, word.clone(), frame),
                None => self.variable(name).may_be_number = true,
            }
        }
        for script in &parsed.scripts {
            for command in &script.commands {
                self.add_command(command, frame);
            }
        }
    }

    /// Adds the assignment of a word of the command: `env name=value`.
    pub(crate) fn add_word(&mut self, word: &Word, frame: &Rc<Frame>) {
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

    /// Adds a directory to which a script goes. Returns true if it is a further one.
    pub(crate) fn add_directory(&mut self, directory: Option<String>) -> bool {
        let directory =
            directory.filter(|path| self.directories.len() < 8 && !self.directories.contains(path));
        let is_further = directory.is_some();
        self.directories.extend(directory);
        is_further
    }

    /// Returns the paths that a file of this name may have.
    pub(crate) fn paths(&self, name: &str) -> Vec<String> {
        let mut paths = vec![name.to_owned()];
        if !name.starts_with('/') {
            let others = self.directories.iter();
            paths.extend(others.map(|directory| format!("{directory}/{name}")));
        }
        paths
    }

    fn variable(&mut self, name: &str) -> &mut Variable {
        self.splits_oddly |= name == "IFS";
        self.variables.entry(name.to_owned()).or_default()
    }

    fn assign(&mut self, name: &str, word: RawWord, frame: &Rc<Frame>) {
        let frame = Rc::clone(frame);
        self.variable(name).sources.push(Source { word, frame });
    }

    fn forget(&mut self, name: &str) {
        self.variable(name).is_unknown = true;
    }

    fn add_command(&mut self, command: &SimpleCommand, frame: &Rc<Frame>) {
        let literals: Vec<Option<String>> = command.words.iter().map(RawWord::literal).collect();
        let is_read = literals.iter().flatten().any(|word| word == "read");
        for word in &command.words {
            let Some(assignment) = word.assignment() else {
                continue;
            };
            if assignment.name == "IFS" && is_read {
                // `IFS= read` sets it for `read` only.
            } else if assignment.adds {
                self.forget(&assignment.name);
                // What is added to nothing is the whole value.
                self.assign(&assignment.name, assignment.value, frame);
            } else {
                self.assign(&assignment.name, assignment.value, frame);
            }
        }
        for (at, word) in literals.iter().enumerate() {
            let rest = &literals[at + 1..];
            match word.as_deref() {
                Some("for" | "select") => self.add_loop(&command.words[at + 1..], rest, frame),
                Some("set") if sets_arguments(rest) => {
                    self.changes_arguments = true;
                    self.passes_options |=
                        command.words[at + 1..].iter().any(begins_literal_option);
                }
                Some("shift") => self.changes_arguments = true,
                Some("getopts" | "read" | "mapfile" | "readarray" | "unset" | "let") => {
                    self.forget_names(rest);
                }
                Some("printf" | "wait") => {
                    let name = rest
                        .iter()
                        .position(|word| matches!(word.as_deref(), Some("-v" | "-p")));
                    self.forget_names(name.map_or(&[], |at| &rest[at + 1..]));
                }
                Some("declare" | "typeset" | "local" | "readonly") => self.declare(rest, frame),
                _ => {}
            }
        }
    }

    /// Adds the values of `for name in words`.
    fn add_loop(&mut self, words: &[RawWord], literals: &[Option<String>], frame: &Rc<Frame>) {
        let [Some(name), rest @ ..] = literals else {
            return;
        };
        if rest.first().and_then(Option::as_deref) != Some("in") {
            // The values are `"$@"`.
            self.forget(name);
            return;
        }
        for word in words.iter().skip(2) {
            self.assign(name, word.clone(), frame);
        }
    }

    /// Forgets the values of all variables that the words of `read` and the like may name.
    fn forget_names(&mut self, words: &[Option<String>]) {
        for word in words {
            match word {
                Some(word) => {
                    let name = word.split(['[', '=', '+', '-', '*', '/']).next();
                    if let Some(name) = name.filter(|name| is_name(name)) {
                        self.forget(name);
                    }
                }
                None => self.is_open = true,
            }
        }
    }

    /// Allows for attributes that change a value (`declare -l`) or make a name stand for another (`-n`).
    fn declare(&mut self, words: &[Option<String>], frame: &Rc<Frame>) {
        for word in words.iter().flatten() {
            if is_name(word) {
                self.assign(word, RawWord::default(), frame);
            }
            let Some(letters) = word.strip_prefix(['-', '+']) else {
                continue;
            };
            if letters.contains('n') {
                self.is_open = true;
            } else if letters.contains(['i', 'l', 'u', 'c']) {
                self.forget_names(words);
            }
        }
    }

    /// Returns what a parameter may hold: a variable, `1`, `@`.
    pub(crate) fn values(&self, name: &str, frame: &Frame) -> Vec<Value> {
        if name.chars().all(|c| c.is_ascii_digit()) || name == "@" || name == "*" {
            return self.arguments(name, frame);
        }
        let key = (name.to_owned(), frame.environment);
        if let Some(values) = self.known.borrow().get(&key) {
            return values.clone();
        }
        let depth = self.pending.borrow().len();
        if depth >= DEEPEST || !self.pending.borrow_mut().insert(name.to_owned()) {
            return vec![Value::Text(unknown(Doubt::Words))];
        }
        let mut values = self.values_of_variable(name, frame);
        self.pending.borrow_mut().remove(name);
        values.truncate(MOST_VALUES + 1);
        if values.len() > MOST_VALUES {
            values = vec![Value::Text(summary(&values))];
        }
        // In a circle of variables, each value has an unknown part.
        self.known.borrow_mut().insert(key, values.clone());
        values
    }

    fn values_of_variable(&self, name: &str, frame: &Frame) -> Vec<Value> {
        let mut values = Vec::new();
        for text in self.inherited(name, frame) {
            add(&mut values, Value::Text(text));
        }
        let Some(variable) = self.variables.get(name) else {
            if self.is_open {
                add(&mut values, Value::Text(unknown(Doubt::Words)));
            }
            return values;
        };
        if variable.is_unknown || self.is_open {
            add(&mut values, Value::Text(unknown(Doubt::Words)));
        }
        if variable.may_be_number {
            add(&mut values, Value::Text(unknown(Doubt::Token)));
        }
        for source in &variable.sources {
            for value in self.expand.assigned(self, &source.word, &source.frame) {
                add(&mut values, value);
            }
            if values.len() > MOST_VALUES {
                break;
            }
        }
        values
    }

    /// Returns the values that a variable may have before a script sets it.
    fn inherited(&self, name: &str, frame: &Frame) -> Vec<Text> {
        if SET_BY_BACKOFF.contains(&name) && frame.environment == Inherited::All {
            return set_by_backoff(name);
        }
        let own = special(name);
        if own.as_ref().is_some_and(|own| own.always) {
            return own.into_iter().map(|own| own.text).collect();
        }
        let mut texts: Vec<Text> = own.into_iter().map(|own| own.text).collect();
        match (frame.environment, self.environment) {
            (Inherited::None, _) | (_, Environment::MayChange) => texts.push(unknown(Doubt::Words)),
            (inherited, Environment::Fixed) => {
                let value = self.surroundings.variable(name);
                if value.is_none() && texts.is_empty() || inherited == Inherited::Part {
                    texts.push(Text::new());
                }
                texts.extend(value.map(|value| value_text(&value)));
            }
        }
        texts
    }

    /// Adds the commands of a text that may call a function.
    pub(crate) fn add_function_calls(&mut self, parsed: &Parsed, frame: &Rc<Frame>) {
        if self.functions.is_empty() {
            return;
        }
        *self.function_arguments.borrow_mut() = None;
        self.known.borrow_mut().clear();
        for script in &parsed.scripts {
            for command in &script.commands {
                for (at, word) in command.words.iter().enumerate() {
                    let may_call = match word.literal() {
                        Some(name) => self.may_define(&name),
                        None => command.words[..at].iter().all(stands_before_command),
                    };
                    if may_call {
                        let words = command.words[at + 1..].to_vec();
                        self.passes_options |= words.iter().any(begins_literal_option);
                        self.function_calls.push((words, Rc::clone(frame)));
                        break;
                    }
                }
            }
        }
    }

    /// Forgets the commands that may call a function.
    pub(crate) fn clear_function_calls(&mut self) {
        self.function_calls.clear();
    }

    /// Returns what `$1` or `$@` may hold: the script's arguments, or those of a function.
    fn arguments(&self, name: &str, frame: &Frame) -> Vec<Value> {
        let doubt = if self.passes_options {
            Doubt::Part
        } else {
            Doubt::Words
        };
        let own = frame.arguments.as_ref().filter(|_| !self.changes_arguments);
        let (Some(own), Some(others)) = (own, self.arguments_of_functions()) else {
            return vec![Value::Text(unknown(doubt))];
        };
        let mut values = Vec::new();
        for arguments in [own].into_iter().chain(&others) {
            add(
                &mut values,
                match name.parse::<usize>() {
                    Ok(number) => Value::Text(arguments.get(number).cloned().unwrap_or_default()),
                    Err(_) => Value::List(arguments.get(1..).unwrap_or_default().to_vec()),
                },
            );
        }
        values
    }

    /// Returns the arguments that functions may get, after a name; None if they are not known.
    fn arguments_of_functions(&self) -> Option<Vec<Vec<Text>>> {
        if self.function_calls.is_empty() {
            return Some(Vec::new());
        }
        if let Some(known) = &*self.function_arguments.borrow() {
            return known.clone();
        }
        // A function that passes its own arguments on.
        *self.function_arguments.borrow_mut() = Some(None);
        let found = self.find_arguments();
        *self.function_arguments.borrow_mut() = Some(found.clone());
        found
    }

    fn find_arguments(&self) -> Option<Vec<Vec<Text>>> {
        let mut found = Vec::new();
        for (words, frame) in &self.function_calls {
            for list in self.expand.commands(self, words, frame) {
                let mut arguments = vec![Text::new()];
                arguments.extend(list.into_iter().map(|word| word.text));
                let is_unknown = arguments.iter().any(|text| has_words(text));
                if is_unknown || found.len() >= MOST_VALUES {
                    return None;
                }
                if !found.contains(&arguments) {
                    found.push(arguments);
                }
            }
        }
        Some(found)
    }

    /// Returns true if a script may define a function of this name.
    pub(crate) fn may_define(&self, name: &str) -> bool {
        self.functions.contains(name) || self.functions.contains("")
    }

    /// Returns a variable that bash exports as a function: its text.
    pub(crate) fn function(&self, name: &str) -> Option<String> {
        let value = self.surroundings.variable(&format!("BASH_FUNC_{name}%%"))?;
        Some(format!("{name} {value}"))
    }
}

/// Returns true if these words of `set` change `$1`: `set -e` does not.
fn sets_arguments(words: &[Option<String>]) -> bool {
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

fn add(values: &mut Vec<Value>, value: Value) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// Returns one text for too many values.
pub(crate) fn summary(values: &[Value]) -> Text {
    let is_token = |value: &Value| match value {
        Value::Text(text) => is_token(text),
        Value::List(_) => false,
    };
    if values.iter().all(is_token) {
        unknown(Doubt::Token)
    } else {
        unknown(Doubt::Words)
    }
}

/// Returns true if a text is one word, no option, and holds nothing that a shell acts on.
pub(crate) fn is_token(text: &[Symbol]) -> bool {
    let is_plain = |symbol: &Symbol| match symbol {
        Symbol::Known(c) => c.is_alphanumeric() || "-_./:@%+,=".contains(*c),
        Symbol::MayBeAnything(doubt) => *doubt <= Doubt::Token,
    };
    let begins = matches!(text.first(), Some(Symbol::Known(c)) if *c != '-');
    begins && text.iter().all(is_plain)
}

fn value_text(value: &str) -> Text {
    if value.len() > LONGEST_VALUE * 16 {
        return unknown(Doubt::Words);
    }
    known(value)
}

/// Variables that backoff itself sets for each attempt.
fn set_by_backoff(name: &str) -> Vec<Text> {
    match name {
        "BACKOFF_ROOT_ID" | "BACKOFF_RUN_ID" => vec![unknown(Doubt::RunId)],
        "BACKOFF_REASON" | "BACKOFF_ENV" | "BACKOFF_COUNTED" => vec![unknown(Doubt::Words)],
        _ => vec![Text::new(), unknown(Doubt::Token)],
    }
}

/// A parameter that a shell sets by itself.
struct Special {
    text: Text,
    /// Every shell sets it.
    always: bool,
}

fn special(name: &str) -> Option<Special> {
    let (text, always) = match name {
        "?" | "#" | "$" | "!" | "-" => (unknown(Doubt::Token), true),
        "RANDOM" | "SRANDOM" | "SECONDS" | "LINENO" | "BASHPID" | "EPOCHSECONDS"
        | "EPOCHREALTIME" | "PPID" | "UID" | "EUID" | "HOSTNAME" | "OSTYPE" | "MACHTYPE"
        | "HOSTTYPE" | "BASH_VERSION" | "OPTIND" => (unknown(Doubt::Token), false),
        "PWD" | "OLDPWD" => {
            let mut text = known("/");
            text.extend(unknown(Doubt::Words));
            (text, false)
        }
        "_"
        | "REPLY"
        | "OPTARG"
        | "MAPFILE"
        | "COPROC"
        | "PIPESTATUS"
        | "FUNCNAME"
        | "BASH_ARGV"
        | "BASH_SOURCE"
        | "BASH_COMMAND"
        | "BASH_EXECUTION_STRING"
        | "DIRSTACK"
        | "GROUPS"
        | "BASH_REMATCH" => (unknown(Doubt::Words), false),
        _ => return None,
    };
    Some(Special { text, always })
}

/// Returns the elements of a value.
pub(crate) fn elements(value: &Value) -> Vec<Text> {
    match value {
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Text(text) => vec![text.clone()],
        Value::List(texts) => texts.clone(),
    }
}

/// Returns one element of a value.
pub(crate) fn element(value: &Value, index: Option<&str>) -> Text {
    let index = match index {
        None => Some(0),
        Some(index) => index.parse().ok(),
    };
    match (value, index) {
        (Value::Text(text), Some(0)) => text.clone(),
        (Value::Text(text), _) if has_words(text) => text.clone(),
        (Value::Text(_), Some(_)) => Text::new(),
        (Value::List(texts), Some(index)) => texts.get(index).cloned().unwrap_or_default(),
        (Value::List(texts), None) if texts.iter().any(|text| begins_option(text)) => {
            unknown(Doubt::Part)
        }
        (Value::Text(_) | Value::List(_), None) => unknown(Doubt::Words),
    }
}

/// Returns true for a reserved word or an assignment.
fn stands_before_command(word: &RawWord) -> bool {
    let bare = word.bare().unwrap_or_default();
    word.assignment().is_some() || OPENERS.contains(&&*bare)
}

/// Returns true if a word before expansion begins with `-`.
fn begins_literal_option(word: &RawWord) -> bool {
    let first = word
        .pieces
        .iter()
        .find(|piece| !matches!(piece, Piece::Quotes));
    matches!(first, Some(Piece::Text(text, _)) if begins_option(text))
}

fn begins_option(text: &[Symbol]) -> bool {
    text.first() == Some(&Symbol::Known('-'))
}

/// Returns the element values of an array, if each is one word.
pub(crate) fn list(words: Vec<Word>) -> Value {
    if words.iter().any(|word| has_words(&word.text)) {
        return Value::Text(unknown(Doubt::Words));
    }
    Value::List(words.into_iter().map(|word| word.text).collect())
}

/// Returns true if the text is nothing but unknown.
pub(crate) fn is_all_unknown(text: &[Symbol]) -> bool {
    !text.is_empty()
        && exact(text).is_none()
        && !text.iter().any(|it| matches!(it, Symbol::Known(_)))
}
