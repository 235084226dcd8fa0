//! Finds calls of curl and wget in a command, and in every script among its words.
//!
//! Each mention of a client's name as a word begins a call, so an unknown wrapper hides nothing. Texts that a shell will
//! read, or that mention a client, are scripts of their own.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::http::{CLIENTS, Client};
use super::scope::{Frame, Inherited, Scope};
use super::syntax::{Parsed, Script, SimpleCommand, is_name};
use super::text::{Doubt, Symbol, Text, Word, exact, has_words, known, mentions, shown, unknown};
use super::wrappers::{self, OperandsOfShell};
use super::{Environment, ScriptFile, Surroundings, expansion, words};

/// Limit on the symbols of all scripts together.
const MOST_SYMBOLS: usize = 1 << 19;
/// Limit on the rounds until no further script comes to light.
const MOST_ROUNDS: usize = 6;
/// Limit on the calls in one command.
const MOST_CALLS: usize = 64;

/// Programs that run a command on another machine or in a container.
const ELSEWHERE: [&str; 12] = [
    "ssh",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "lxc",
    "vagrant",
    "chroot",
    "nsenter",
    "multipass",
    "machinectl",
];
/// Programs behind which variables may be missing.
const CLEANERS: [&str; 7] = [
    "env",
    "sudo",
    "doas",
    "su",
    "runuser",
    "setpriv",
    "systemd-run",
];
/// Commands that read their words as scripts.
const READERS: [&str; 8] = [
    "trap", "su", "watch", "script", "flock", "runuser", "at", "batch",
];
/// Programs that print assignments for `eval`.
const PRINT_ASSIGNMENTS: [&str; 14] = [
    "ssh-agent",
    "brew",
    "opam",
    "minikube",
    "docker-machine",
    "rbenv",
    "pyenv",
    "direnv",
    "dircolors",
    "fnm",
    "mise",
    "conda",
    "kubectl",
    "gpg-agent",
];

/// A call of a client.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) client: &'static Client,
    pub(super) words: Vec<Word>,
    pub(super) place: Place,
    pub(super) certainty: Certainty,
    /// Calls with the same number are the same call with other values of variables.
    pub(super) id: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The client's name stands there.
    Named,
    /// The program may be any.
    Guessed,
}

/// Code that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownCode {
    pub(super) what: String,
    pub(super) place: Place,
}

/// Where a call was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Among the words of the command.
    Command,
    /// In a text with this name, such as `the script of bash -c`.
    Text(Rc<str>),
}

/// A text that is read as a script.
struct ScriptText {
    parsed: Rc<Parsed>,
    context: Context,
}

#[derive(Debug, Clone)]
struct Context {
    frame: Rc<Frame>,
    place: Place,
}

/// A command of a script with what stands before it in its pipeline.
struct Piped<'p> {
    script: &'p Script,
    at: usize,
}

pub(super) struct Calls<'s> {
    scope: Scope<'s>,
    surroundings: &'s dyn Surroundings,
    texts: Vec<ScriptText>,
    seen: BTreeSet<(Text, Frame)>,
    symbols: usize,
    next_id: usize,
    has_grown: bool,
    /// A text has the name of a client in it.
    pub(super) mentioned: Vec<&'static str>,
    pub(super) found: Vec<Call>,
    pub(super) unknown: Vec<UnknownCode>,
}

impl<'s> Calls<'s> {
    /// Finds the calls in a command.
    pub(super) fn find(
        command: &[&str],
        surroundings: &'s dyn Surroundings,
        environment: Environment,
    ) -> Calls<'s> {
        let mut calls = Calls {
            scope: Scope::new(&expansion::Bash, surroundings, environment),
            surroundings,
            texts: Vec::new(),
            seen: BTreeSet::new(),
            symbols: 0,
            next_id: 0,
            has_grown: false,
            mentioned: Vec::new(),
            found: Vec::new(),
            unknown: Vec::new(),
        };
        let words: Vec<Word> = command.iter().map(|word| Word::exact(word)).collect();
        let frame = Rc::new(Frame {
            arguments: None,
            environment: Inherited::All,
        });
        let context = Context {
            frame,
            place: Place::Command,
        };
        for word in &words {
            calls.note_mentions(&word.text);
        }
        let script_at = script_at(&words);
        for (at, word) in words.iter().enumerate() {
            if at != script_at {
                calls.scope.add_word(word, &context.frame);
            }
        }
        calls.search(&words, &context);
        calls
    }

    /// Goes through all texts until no further one comes to light.
    fn search(&mut self, command: &[Word], context: &Context) {
        for _ in 0..MOST_ROUNDS {
            self.has_grown = false;
            self.found.clear();
            self.unknown.clear();
            self.scope.clear_function_calls();
            for text in &self.texts {
                let ScriptText { parsed, context } = text;
                self.scope.add_function_calls(parsed, &context.frame);
            }
            self.command(command, context, None);
            let mut at = 0;
            while at < self.texts.len() {
                let parsed = Rc::clone(&self.texts[at].parsed);
                let context = self.texts[at].context.clone();
                if parsed.is_cut {
                    self.suspect("a script that cannot be followed".to_owned(), &context);
                }
                for script in &parsed.scripts {
                    self.script(script, &context);
                }
                at += 1;
            }
            if !self.has_grown || self.symbols > MOST_SYMBOLS {
                return;
            }
        }
        self.suspect("scripts within scripts".to_owned(), context);
    }

    fn suspect(&mut self, what: String, context: &Context) {
        self.unknown.push(UnknownCode {
            what,
            place: context.place.clone(),
        });
    }

    fn note_mentions(&mut self, text: &[Symbol]) {
        for client in CLIENTS {
            if !self.mentioned.contains(&client.name) && mentions(text, client.name) {
                self.mentioned.push(client.name);
            }
        }
    }

    fn has_mention(text: &[Symbol]) -> bool {
        CLIENTS.iter().any(|client| mentions(text, client.name))
    }

    /// Adds a text that a shell reads.
    fn add_text(&mut self, text: &[Symbol], context: Context) {
        // An unknown part may hold quotes and operators.
        let text: Text = text
            .iter()
            .map(|symbol| match symbol {
                Symbol::MayBeAnything(doubt) if *doubt > Doubt::Token => {
                    Symbol::MayBeAnything(Doubt::Words)
                }
                other => *other,
            })
            .collect();
        let key = (text, (*context.frame).clone());
        if self.seen.contains(&key) {
            return;
        }
        self.symbols += key.0.len() + 1;
        if self.symbols > MOST_SYMBOLS {
            self.suspect("too many scripts".to_owned(), &context);
            self.scope.open();
            return;
        }
        self.note_mentions(&key.0);
        let parsed = words::parse(&key.0);
        self.seen.insert(key);
        self.scope.add(&parsed, &context.frame);
        self.has_grown = true;
        self.texts.push(ScriptText {
            parsed: Rc::new(parsed),
            context,
        });
    }

    fn script(&mut self, script: &Script, context: &Context) {
        for (at, command) in script.commands.iter().enumerate() {
            for word in &command.words {
                if let Some(assignment) = word.assignment() {
                    for text in expansion::texts(&self.scope, &assignment.value, &context.frame) {
                        self.mention_in(&text, context);
                    }
                }
            }
            for input in &command.input {
                for text in expansion::texts(&self.scope, input, &context.frame) {
                    self.mention_in(&text, context);
                }
            }
            let assignments = command
                .words
                .iter()
                .take_while(|word| word.assignment().is_some());
            let words = &command.words[assignments.count()..];
            self.next_id += MOST_CALLS;
            for list in expansion::commands(&self.scope, words, &context.frame) {
                let piped = Piped { script, at };
                self.command(&list, context, Some(&piped));
            }
        }
    }

    /// Adds a text if it mentions a client, and is more than a name.
    fn mention_in(&mut self, text: &[Symbol], context: &Context) {
        let is_script = |symbol: &Symbol| match symbol {
            Symbol::Known(c) => c.is_whitespace() || ";|&$(`<>'\"\\".contains(*c),
            Symbol::MayBeAnything(_) => true,
        };
        if !text.iter().any(is_script) || !Self::has_mention(text) {
            return;
        }
        let frame = Frame {
            arguments: None,
            environment: context.frame.environment,
        };
        let context = Context {
            frame: Rc::new(frame),
            place: context.place.clone(),
        };
        self.add_text(text, context);
    }

    /// Finds the calls in one command.
    fn command(&mut self, words: &[Word], context: &Context, piped: Option<&Piped<'_>>) {
        let start = program_at(words);
        self.unknown_program(words, start, context);
        let script_at = script_at(words);
        let mut inner = context.clone();
        let mut parts = 0;
        for (at, word) in words.iter().enumerate() {
            let name = base_name(&word.text);
            let is_part = self.named_call(words, at, context, parts)
                | self.script_of(&name, words, at, start, script_at, &inner, piped);
            parts += usize::from(is_part);
            if parts == MOST_CALLS {
                self.suspect("a command of many parts".to_owned(), context);
                return;
            }
            inner = behind(&name, inner);
            if takes_all(&word.text) {
                // The rest is a script of its own.
                break;
            }
        }
        self.own_script(words, start, context);
        for (at, word) in words.iter().enumerate() {
            if takes_all(&word.text) {
                break;
            }
            if at != script_at {
                for text in scripts_in(&word.text) {
                    self.mention_in(text, &inner);
                }
            }
        }
    }

    /// Adds the call that begins at a word. Returns true if one does.
    fn named_call(&mut self, words: &[Word], at: usize, context: &Context, number: usize) -> bool {
        let word = &words[at];
        let client = CLIENTS
            .into_iter()
            .find(|client| is_named(&word.text, client.name));
        let Some(client) = client else {
            return false;
        };
        self.found.push(Call {
            client,
            words: words_of_call(words, at),
            place: context.place.clone(),
            certainty: Certainty::Named,
            id: self.next_id + number + 1,
        });
        true
    }

    /// Reads the scripts that the program at a word runs. Returns true if the program runs scripts.
    #[expect(clippy::too_many_arguments, reason = "the parts of one command")]
    fn script_of(
        &mut self,
        name: &str,
        words: &[Word],
        at: usize,
        start: usize,
        script_at: usize,
        context: &Context,
        piped: Option<&Piped<'_>>,
    ) -> bool {
        if exact(&words[at].text).is_none() {
            return false;
        }
        if wrappers::is_shell(name) && at < script_at {
            self.shell(words, at, at == start, context, piped);
            return true;
        }
        self.reader(name, words, at, at == start, context)
    }

    /// Adds a call for a program of which the name is not known.
    fn unknown_program(&mut self, words: &[Word], start: usize, context: &Context) {
        let Some(word) = words.get(start) else {
            return;
        };
        for client in CLIENTS {
            if may_be_named(&word.text, client.name) {
                self.found.push(Call {
                    client,
                    words: words_of_call(words, start),
                    place: context.place.clone(),
                    certainty: Certainty::Guessed,
                    id: self.next_id,
                });
            }
        }
    }

    /// Reads the script of a shell that stands at this word.
    fn shell(
        &mut self,
        words: &[Word],
        at: usize,
        is_program: bool,
        context: &Context,
        piped: Option<&Piped<'_>>,
    ) {
        let name = shown(&words[at].text);
        let operands = wrappers::operands_of_shell(&words[at + 1..]);
        let is_fed = words[..at].iter().any(|word| is_feeder(&word.text));
        let rest = match &operands {
            OperandsOfShell::Script(rest) | OperandsOfShell::File(rest) => rest,
            OperandsOfShell::Unknown(word) => {
                return self.suspect(format!("the script of {name} {word}"), context);
            }
            _ => return self.standard_input(&name, is_program, context, piped),
        };
        let Some((first, arguments)) = rest.split_first() else {
            return;
        };
        let is_script = matches!(operands, OperandsOfShell::Script(_));
        // Parameters from `$0` on.
        let parameters = if is_script { arguments } else { rest };
        let is_known = arguments.iter().all(|word| !has_words(&word.text)) && !is_fed;
        let context = Context {
            frame: Rc::new(Frame {
                arguments: is_known.then(|| texts(parameters)),
                environment: context.frame.environment,
            }),
            place: Place::Text(format!("the script of {name} -c").into()),
        };
        if !is_script {
            self.file(first, &context);
            return;
        }
        if is_mostly_unknown(&first.text) {
            self.suspect(format!("the script {}", first.origin), &context);
        }
        self.add_text(&first.text, context);
    }

    /// Reads a script file.
    fn file(&mut self, word: &Word, context: &Context) {
        if context.frame.environment == Inherited::None {
            // The file is elsewhere.
            return;
        }
        let Some(path) = exact(&word.text) else {
            if !word.origin.starts_with("<(") {
                self.suspect(format!("the script {}", word.origin), context);
            }
            return;
        };
        if word.origin.starts_with("<(") {
            return;
        }
        if path.contains("{}") {
            // `find -exec sh {}`
            self.suspect(format!("the script {path}"), context);
            return;
        }
        let context = Context {
            frame: Rc::clone(&context.frame),
            place: Place::Text(path.as_str().into()),
        };
        for path in self.scope.paths(&path) {
            match self.surroundings.script(&path) {
                ScriptFile::Text(text) => self.add_text(&known(&text), context.clone()),
                ScriptFile::NotThere => {}
                ScriptFile::NotRead => {
                    self.suspect(format!("the script {path}, which is not read"), &context);
                }
            }
        }
    }

    /// Reads what a shell finds on its standard input: a here-document, a file, the output of `echo`.
    fn standard_input(
        &mut self,
        name: &str,
        is_program: bool,
        context: &Context,
        piped: Option<&Piped<'_>>,
    ) {
        let Some(piped) = piped else {
            if is_program {
                self.suspect(format!("the input of {name}"), context);
            }
            return;
        };
        let place = Place::Text(format!("the input of {name}").into());
        let context = Context {
            frame: Rc::clone(&context.frame),
            place,
        };
        let commands = &piped.script.commands;
        let mut at = piped.at;
        self.inputs(&commands[at], &context);
        while commands[at].reads_pipe && at > 0 {
            at -= 1;
            self.inputs(&commands[at], &context);
            let lists = expansion::commands(&self.scope, &commands[at].words, &context.frame);
            for list in lists {
                self.printed(&list, &context);
            }
        }
    }

    fn inputs(&mut self, command: &SimpleCommand, context: &Context) {
        for input in &command.input {
            for text in expansion::texts(&self.scope, input, &context.frame) {
                self.add_text(&text, context.clone());
            }
        }
        for file in &command.input_files {
            for words in
                expansion::commands(&self.scope, std::slice::from_ref(file), &context.frame)
            {
                if let [word] = words.as_slice() {
                    self.file(word, context);
                }
            }
        }
    }

    /// Reads what `echo`, `printf` or `cat` print as a script.
    fn printed(&mut self, words: &[Word], context: &Context) {
        let Some((program, rest)) = words.split_first() else {
            return;
        };
        match exact(&program.text).as_deref() {
            Some("echo" | "printf") => {
                let text = joined(rest);
                if text
                    .iter()
                    .any(|symbol| matches!(symbol, Symbol::MayBeAnything(doubt) if *doubt > Doubt::Token))
                {
                    self.suspect(format!("the script {}", rest[0].origin), context);
                }
                self.add_text(&text, context.clone());
            }
            Some("cat") => {
                for word in rest {
                    self.file(word, context);
                }
            }
            _ => {}
        }
    }

    /// Reads the words of `eval`, `source`, `ssh`, `alias` and other commands that take scripts.
    ///
    /// Returns true if the command is one of them.
    fn reader(
        &mut self,
        name: &str,
        words: &[Word],
        at: usize,
        is_program: bool,
        context: &Context,
    ) -> bool {
        let rest = &words[at + 1..];
        match name {
            "eval" => self.eval(rest, context),
            "source" | "." if is_program => self.source(rest, context),
            "alias" => self.alias(rest, context),
            "cd" | "pushd" => {
                let directory = rest.first().and_then(|word| exact(&word.text));
                self.has_grown |= self.scope.add_directory(directory);
            }
            "ssh" => self.ssh(rest),
            name if READERS.contains(&name) => self.words_with_blanks(rest, context),
            _ => return false,
        }
        true
    }

    /// Reads `NAME=TEXT`: the text may be run wherever the name stands.
    fn alias(&mut self, words: &[Word], context: &Context) {
        for word in words {
            let sign = word.text.iter().position(|it| *it == Symbol::Known('='));
            if let Some(sign) = sign {
                let mut text = word.text[sign + 1..].to_vec();
                text.push(Symbol::Known(' '));
                text.extend(unknown(Doubt::Words));
                self.mention_in(&text, context);
            }
        }
    }

    /// Reads what a shell on another machine gets.
    fn ssh(&mut self, words: &[Word]) {
        let context = Context {
            frame: Rc::new(Frame {
                arguments: None,
                environment: Inherited::None,
            }),
            place: Place::Text("the command of ssh".into()),
        };
        self.add_text(&joined(words), context);
    }

    /// Reads each word with a blank in it, as only a script has one.
    fn words_with_blanks(&mut self, words: &[Word], context: &Context) {
        for word in words {
            let is_script = word
                .text
                .iter()
                .any(|it| matches!(it, Symbol::Known(c) if c.is_whitespace()));
            if is_script {
                self.add_text(&word.text, context.clone());
            }
        }
    }

    fn eval(&mut self, words: &[Word], context: &Context) {
        let text = joined(words);
        let unknown = words.iter().find(|word| is_unknown(&word.text));
        if let Some(word) = unknown {
            self.open_scope();
            if prints_assignments(&word.origin) {
                return;
            }
            self.suspect(format!("eval {}", word.origin), context);
        }
        let context = Context {
            frame: Rc::clone(&context.frame),
            place: Place::Text("the script of eval".into()),
        };
        self.add_text(&text, context);
    }

    fn open_scope(&mut self) {
        if !self.scope.is_open() {
            self.scope.open();
            self.has_grown = true;
        }
    }

    fn source(&mut self, words: &[Word], context: &Context) {
        let Some(file) = words.first() else {
            return;
        };
        if prints_assignments(&file.origin) {
            self.open_scope();
            return;
        }
        let is_pipe = file.origin.starts_with("<(");
        let is_missing = match exact(&file.text) {
            Some(path) if !is_pipe => self
                .scope
                .paths(&path)
                .iter()
                .all(|path| !matches!(self.surroundings.script(path), ScriptFile::Text(_))),
            _ => true,
        };
        if is_missing {
            self.open_scope();
        }
        if is_pipe {
            self.suspect(format!("source {}", file.origin), context);
        } else {
            self.file(file, context);
        }
    }

    /// Reads the program if it is a script itself, or a function that bash has exported.
    fn own_script(&mut self, words: &[Word], start: usize, context: &Context) {
        let Some(path) = words.get(start).and_then(|word| exact(&word.text)) else {
            return;
        };
        let place = Place::Text(path.as_str().into());
        let arguments = words[start..]
            .iter()
            .map(|word| word.text.clone())
            .collect();
        if context.place != Place::Command
            && is_name(&path)
            && let Some(function) = self.scope.function(&path)
        {
            let context = Context {
                frame: Rc::clone(&context.frame),
                place: Place::Text(format!("the function {path}").into()),
            };
            self.add_text(&known(&function), context);
        }
        if !path.contains('/') || context.frame.environment == Inherited::None {
            return;
        }
        for path in self.scope.paths(&path) {
            if let ScriptFile::Text(text) = self.surroundings.script(&path)
                && wrappers::is_shell_script(&text)
            {
                let context = Context {
                    frame: Rc::new(Frame {
                        arguments: Some(arguments),
                        environment: context.frame.environment,
                    }),
                    place,
                };
                self.add_text(&known(&text), context);
                return;
            }
        }
    }
}

/// Returns the words of a call, and the name itself if it may hold words: `$CURL`.
fn words_of_call(words: &[Word], at: usize) -> Vec<Word> {
    let mut rest = call_words(words, at);
    if has_words(&words[at].text) {
        rest.insert(0, words[at].clone());
    }
    rest
}

/// Returns the words of a call after the client's name, with what `xargs` adds.
fn call_words(words: &[Word], at: usize) -> Vec<Word> {
    let rest = words[at + 1..].to_vec();
    let Some(feeder) = words[..at].iter().position(|word| is_feeder(&word.text)) else {
        return rest;
    };
    let mark = replaced_mark(&words[feeder..at]);
    let has_mark = |word: &&Word| mark.as_ref().is_some_and(|mark| holds(&word.text, mark));
    if let (Some(mark), true) = (&mark, rest.iter().any(|word| has_mark(&word))) {
        return rest.iter().map(|word| with_mark(word, mark)).collect();
    }
    if mark.is_some() && exact(&words[feeder].text).is_some_and(|name| name.ends_with("xargs")) {
        return rest;
    }
    let added = Word {
        text: unknown(Doubt::Words),
        origin: format!("the words that {} adds", shown(&words[feeder].text)),
    };
    [rest, vec![added]].concat()
}

/// Returns the text that `xargs -I` and `parallel` replace.
fn replaced_mark(words: &[Word]) -> Option<String> {
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    for (at, text) in texts.iter().enumerate().skip(1) {
        match text.as_str() {
            "-I" => return texts.get(at + 1).cloned(),
            "-i" | "--replace" => return Some("{}".to_owned()),
            _ => {}
        }
        for prefix in ["-I", "-i", "--replace="] {
            if let Some(mark) = text.strip_prefix(prefix) {
                return Some(mark.to_owned());
            }
        }
    }
    texts[0].ends_with("parallel").then(|| "{}".to_owned())
}

fn holds(text: &[Symbol], mark: &str) -> bool {
    mentions(text, mark)
}

/// Replaces the mark by a text that may be anything.
fn with_mark(word: &Word, mark: &str) -> Word {
    let mark = known(mark);
    let mut text = Text::new();
    let mut at = 0;
    while at < word.text.len() {
        if word.text[at..].starts_with(&mark) {
            text.extend(unknown(Doubt::Part));
            at += mark.len();
        } else {
            text.push(word.text[at]);
            at += 1;
        }
    }
    Word {
        text,
        origin: word.origin.clone(),
    }
}

/// Returns true for programs that add words to a command.
fn is_feeder(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name == "xargs" || name == "gxargs" || name == "parallel"
    })
}

/// Returns the context of a script behind a program of this name.
fn behind(name: &str, context: Context) -> Context {
    let environment = if ELSEWHERE.contains(&name) {
        Inherited::None
    } else if CLEANERS.contains(&name) {
        Inherited::Part
    } else {
        return context;
    };
    if environment <= context.frame.environment {
        return context;
    }
    Context {
        frame: Rc::new(Frame {
            arguments: context.frame.arguments.clone(),
            environment,
        }),
        place: context.place,
    }
}

/// Returns a word without directories.
fn base_name(text: &[Symbol]) -> String {
    let shown = shown(text);
    shown.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns the index of the program that a command runs, behind reserved words, assignments and known wrappers.
fn program_at(words: &[Word]) -> usize {
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    wrappers::program_at(&texts)
}

/// Returns the part of a word that names a program: without directories, tag, digest and version.
fn is_named(text: &[Symbol], client: &str) -> bool {
    let name = file_name(text);
    let client: Text = known(client);
    if !name.starts_with(&client) || holds(text, "://") {
        return false;
    }
    let rest = &name[client.len()..];
    match rest.first() {
        // `curl:8.5`, `curl@sha256:...`
        Some(Symbol::Known(':' | '@')) => true,
        // `curl-8.5`, `curl.exe`
        _ => {
            exact(rest).as_deref() == Some(".exe")
                || rest.iter().all(|symbol| match symbol {
                    Symbol::Known(c) => c.is_ascii_digit() || ".-".contains(*c),
                    Symbol::MayBeAnything(_) => true,
                })
        }
    }
}

/// Returns what stands after the last slash, except for those of a digest.
fn file_name(text: &[Symbol]) -> &[Symbol] {
    let end = text
        .iter()
        .position(|it| *it == Symbol::Known('@'))
        .unwrap_or(text.len());
    let slash = text[..end].iter().rposition(|it| *it == Symbol::Known('/'));
    &text[slash.map_or(0, |at| at + 1)..]
}

/// Returns true if a word of which a part is unknown may be the name of a client.
fn may_be_named(text: &[Symbol], client: &str) -> bool {
    let name = file_name(text);
    let is_open = name
        .iter()
        .any(|it| matches!(it, Symbol::MayBeAnything(doubt) if *doubt > Doubt::Token));
    if !is_open || is_named(text, client) {
        return false;
    }
    let known_part = |symbol: &&Symbol| matches!(symbol, Symbol::Known(_));
    let beginning: Text = name.iter().take_while(known_part).copied().collect();
    let mut ending: Text = name.iter().rev().take_while(known_part).copied().collect();
    ending.reverse();
    let client = known(client);
    let has_version = |text: &Text| {
        text.iter()
            .all(|it| matches!(it, Symbol::Known(c) if !c.is_alphabetic()))
    };
    client.starts_with(&beginning) && (client.ends_with(&ending) || has_version(&ending))
}

fn joined(words: &[Word]) -> Text {
    let mut text = Text::new();
    for word in words {
        if !text.is_empty() {
            text.push(Symbol::Known(' '));
        }
        text.extend_from_slice(&word.text);
    }
    text
}

fn is_unknown(text: &[Symbol]) -> bool {
    text.iter()
        .any(|it| matches!(it, Symbol::MayBeAnything(doubt) if *doubt > Doubt::Token))
}

/// Returns true if the code of a script is unknown, and not only a word in it.
fn is_mostly_unknown(text: &[Symbol]) -> bool {
    let first = text
        .iter()
        .find(|it| !matches!(it, Symbol::Known(c) if c.is_whitespace()));
    matches!(first, Some(Symbol::MayBeAnything(doubt)) if *doubt > Doubt::Token)
}

/// Returns true for `"$(ssh-agent -s)"` and the like.
fn prints_assignments(origin: &str) -> bool {
    let script = origin.trim_start_matches(['"', '$', '(', '`', '<', ' ']);
    let program = script.split([' ', ')']).next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let is_substitution = script.len() < origin.len();
    is_substitution && PRINT_ASSIGNMENTS.contains(&name) && !script.contains(['|', ';', '&'])
}

/// Returns the index of the script of `sh -c`; the number of words if there is none. The words after it are its
/// arguments.
fn script_at(words: &[Word]) -> usize {
    for (at, word) in words.iter().enumerate() {
        let Some(path) = exact(&word.text) else {
            continue;
        };
        let name = path.rsplit('/').next().unwrap_or_default();
        if wrappers::is_shell(name)
            && let OperandsOfShell::Script(rest) = wrappers::operands_of_shell(&words[at + 1..])
        {
            return words.len() - rest.len();
        }
    }
    words.len()
}

/// Returns true for a command that reads all words after it as a script.
fn takes_all(text: &[Symbol]) -> bool {
    matches!(exact(text).as_deref(), Some("eval" | "ssh"))
}

/// Returns the parts of a word that may be scripts: `text`, `-Stext`, `--option=text`.
fn scripts_in(text: &[Symbol]) -> Vec<&[Symbol]> {
    let mut scripts = vec![text];
    if text.first() != Some(&Symbol::Known('-')) || text.len() < 3 {
        return scripts;
    }
    scripts.push(&text[2..]);
    if let Some(sign) = text.iter().position(|it| *it == Symbol::Known('=')) {
        scripts.push(&text[sign + 1..]);
    }
    scripts
}

fn texts(words: &[Word]) -> Vec<Text> {
    words.iter().map(|word| word.text.clone()).collect()
}
