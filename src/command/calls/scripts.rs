//! Finds the scripts that a command runs: of shells, `eval`, `source`, `ssh` and others, or the program itself.

use std::rc::Rc;

use super::expanded_command::{CommandInScript, ExpandedCommand};
use super::feeders::adds_words;
use super::{Calls, Context, Place};
use crate::command::scope::{Frame, Inherited};
use crate::command::shells::{self, OperandsOfShell};
use crate::command::syntax::{SimpleCommand, is_name};
use crate::command::text::{
    Doubt, Symbol, Symbols, Word, exact, known, may_be_several_words, may_hold_code, shown, unknown,
};
use crate::command::{ScriptFile, expansion};

/// Commands that run those of their words that are scripts.
const COMMANDS_WITH_SCRIPTS: [&str; 8] = [
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

impl Calls<'_> {
    /// Reads the script of the shell that stands at this word.
    pub(super) fn read_shell(
        &mut self,
        command: &ExpandedCommand<'_>,
        at: usize,
        context: &Context,
    ) {
        let words = command.words;
        let name = shown(&words[at].text);
        let inner = context.named(format!("the script of {name} -c"));
        match shells::operands_of_shell(&words[at + 1..]) {
            OperandsOfShell::Script { script, arguments } => {
                if begins_unknown(&script.text) {
                    self.note_unknown_code(format!("the script {}", script.origin), &inner);
                }
                // `$0` is the first word after the script.
                let parameters = known_parameters(&words[..at], arguments);
                self.add_script(&script.text, inner.with_arguments(parameters));
            }
            OperandsOfShell::File { file, arguments } => {
                // `$0` is the file.
                let mut parameters = known_parameters(&words[..at], arguments);
                if let Some(parameters) = &mut parameters {
                    parameters.insert(0, file.text.clone());
                }
                self.read_script_file(file, &inner.with_arguments(parameters));
            }
            OperandsOfShell::StandardInput => {
                self.read_standard_input(&name, command, at, context);
            }
            OperandsOfShell::Unknown(word) => {
                self.note_unknown_code(format!("the script of {name} {word}"), context);
            }
        }
    }

    /// Reads a script file.
    fn read_script_file(&mut self, file: &Word, context: &Context) {
        // A substitution is a script of its own that is read anyway.
        let is_substitution = file.origin.starts_with("<(");
        let is_elsewhere = context.frame.environment == Inherited::None;
        if is_substitution || is_elsewhere {
            return;
        }
        let Some(path) = exact(&file.text) else {
            self.note_unknown_code(format!("the script {}", file.origin), context);
            return;
        };
        if path.contains("{}") {
            // `find -exec sh {}`
            self.note_unknown_code(format!("the script {path}"), context);
            return;
        }
        let context = context.named(path.clone());
        for path in self.scope.possible_paths(&path) {
            match self.surroundings.script(&path) {
                ScriptFile::Text(text) => self.add_script(&known(&text), context.clone()),
                ScriptFile::NotThere => {}
                ScriptFile::NotRead => {
                    let what = format!("the script {path}, which is not read");
                    self.note_unknown_code(what, &context);
                }
            }
        }
    }

    /// Reads the standard input of a shell as a script: a here-document, a file, the output of `echo`.
    fn read_standard_input(
        &mut self,
        shell: &str,
        command: &ExpandedCommand<'_>,
        at: usize,
        context: &Context,
    ) {
        let Some(CommandInScript { script, at: index }) = command.in_script else {
            // A shell that is an argument may be no shell at all: `apt install bash`.
            if at == command.program_at {
                self.note_unknown_code(format!("the input of {shell}"), context);
            }
            return;
        };
        let context = context.named(format!("the input of {shell}"));
        let mut index = index;
        self.read_redirected_input(&script.commands[index], &context);
        while script.commands[index].reads_pipe && index > 0 {
            index -= 1;
            let before = &script.commands[index];
            self.read_redirected_input(before, &context);
            for list in expansion::commands(&self.scope, &before.words, &context.frame) {
                self.read_printed(&list, &context);
            }
        }
    }

    /// Reads the here-documents and files that a command has as its standard input.
    fn read_redirected_input(&mut self, command: &SimpleCommand, context: &Context) {
        for input in &command.input {
            for text in expansion::texts(&self.scope, input, &context.frame) {
                self.add_script(&text, context.clone());
            }
        }
        for file in &command.input_files {
            let file = std::slice::from_ref(file);
            for words in expansion::commands(&self.scope, file, &context.frame) {
                if let [word] = words.as_slice() {
                    self.read_script_file(word, context);
                }
            }
        }
    }

    /// Reads the output of `echo`, `printf` or `cat` as a script.
    fn read_printed(&mut self, words: &[Word], context: &Context) {
        let Some((program, rest)) = words.split_first() else {
            return;
        };
        match exact(&program.text).as_deref() {
            Some("echo" | "printf") => {
                let text = joined(rest);
                if may_hold_code(&text) {
                    self.note_unknown_code(format!("the script {}", rest[0].origin), context);
                }
                self.add_script(&text, context.clone());
            }
            Some("cat") => {
                for word in rest {
                    self.read_script_file(word, context);
                }
            }
            _ => {}
        }
    }

    /// Reads the words of `eval`, `source`, `ssh`, `alias` and other commands that take scripts.
    ///
    /// Returns true if the word at this index names one of them.
    pub(super) fn read_command_with_scripts(
        &mut self,
        name: &str,
        command: &ExpandedCommand<'_>,
        at: usize,
        context: &Context,
    ) -> bool {
        let rest = &command.words[at + 1..];
        match name {
            "eval" => self.read_eval(rest, context),
            "source" | "." if at == command.program_at => self.read_source(rest, context),
            "alias" => self.read_alias(rest, context),
            "cd" | "pushd" => {
                if let Some(directory) = rest.first().and_then(|word| exact(&word.text))
                    && self.scope.add_directory(directory)
                {
                    self.needs_another_round = true;
                }
            }
            "ssh" => self.read_ssh(rest),
            name if COMMANDS_WITH_SCRIPTS.contains(&name) => {
                self.read_words_with_blanks(rest, context);
            }
            _ => return false,
        }
        true
    }

    /// Reads `NAME=TEXT`: the text may be run wherever the name stands.
    fn read_alias(&mut self, words: &[Word], context: &Context) {
        for word in words {
            let sign = word
                .text
                .iter()
                .position(|symbol| *symbol == Symbol::Known('='));
            if let Some(sign) = sign {
                let mut text = word.text[sign + 1..].to_vec();
                text.push(Symbol::Known(' '));
                text.extend(unknown(Doubt::AnyWords));
                self.add_if_client_is_mentioned(&text, context);
            }
        }
    }

    /// Reads the words of ssh as a script, which a shell on another machine runs.
    fn read_ssh(&mut self, words: &[Word]) {
        let context = Context {
            frame: Rc::new(Frame {
                arguments: None,
                environment: Inherited::None,
            }),
            place: Place::Script("the command of ssh".into()),
        };
        self.add_script(&joined(words), context);
    }

    /// Reads each word with a blank in it as a script: in other words of these commands there is no blank.
    fn read_words_with_blanks(&mut self, words: &[Word], context: &Context) {
        for word in words {
            let has_blank = word
                .text
                .iter()
                .any(|symbol| matches!(symbol, Symbol::Known(c) if c.is_whitespace()));
            if has_blank {
                self.add_script(&word.text, context.clone());
            }
        }
    }

    /// Reads the words of `eval` as a script. If one is unknown, the script may assign to any variable.
    fn read_eval(&mut self, words: &[Word], context: &Context) {
        let unknown = words.iter().find(|word| may_hold_code(&word.text));
        if let Some(word) = unknown {
            self.allow_unknown_assignments();
            if prints_assignments(&word.origin) {
                return;
            }
            self.note_unknown_code(format!("eval {}", word.origin), context);
        }
        let context = context.named("the script of eval".to_owned());
        self.add_script(&joined(words), context);
    }

    /// Allows for code that may set any variable.
    fn allow_unknown_assignments(&mut self) {
        if !self.scope.has_unknown_code() {
            self.scope.allow_unknown_code();
            self.needs_another_round = true;
        }
    }

    /// Reads the file of `source`. If it cannot be read, it may assign to any variable.
    fn read_source(&mut self, words: &[Word], context: &Context) {
        let Some(file) = words.first() else {
            return;
        };
        if prints_assignments(&file.origin) {
            self.allow_unknown_assignments();
            return;
        }
        if file.origin.starts_with("<(") {
            self.allow_unknown_assignments();
            self.note_unknown_code(format!("source {}", file.origin), context);
            return;
        }
        if !self.may_find_script(file) {
            self.allow_unknown_assignments();
        }
        self.read_script_file(file, context);
    }

    /// Returns true if the path is known and names a script in one of the directories.
    fn may_find_script(&self, file: &Word) -> bool {
        let Some(path) = exact(&file.text) else {
            return false;
        };
        let paths = self.scope.possible_paths(&path);
        paths
            .iter()
            .any(|path| matches!(self.surroundings.script(path), ScriptFile::Text(_)))
    }

    /// Reads the program itself if it is a script of a shell, or a function that bash has exported.
    pub(super) fn read_program_as_script(
        &mut self,
        command: &ExpandedCommand<'_>,
        context: &Context,
    ) {
        let program = command.words.get(command.program_at);
        let Some(path) = program.and_then(|word| exact(&word.text)) else {
            return;
        };
        // Only a shell runs functions.
        if context.place != Place::Command
            && is_name(&path)
            && let Some(function) = self.scope.exported_function(&path)
        {
            let context = context.named(format!("the function {path}"));
            self.add_script(&known(&function), context);
        }
        if !path.contains('/') || context.frame.environment == Inherited::None {
            return;
        }
        for candidate in self.scope.possible_paths(&path) {
            if let ScriptFile::Text(text) = self.surroundings.script(&candidate)
                && shells::is_shell_script(&text)
            {
                let arguments = texts(&command.words[command.program_at..]);
                let context = context.named(path).with_arguments(Some(arguments));
                self.add_script(&known(&text), context);
                return;
            }
        }
    }
}

/// Returns true for `"$(ssh-agent -s)"` and the like.
fn prints_assignments(origin: &str) -> bool {
    let script = origin.trim_start_matches(['"', '$', '(', '`', '<', ' ']);
    let program = script.split([' ', ')']).next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let is_substitution = script.len() < origin.len();
    is_substitution && PRINT_ASSIGNMENTS.contains(&name) && !script.contains(['|', ';', '&'])
}

/// Returns true if a script begins with an unknown part that may hold code: `$CMD --all`, but not `curl $URL`.
fn begins_unknown(text: &[Symbol]) -> bool {
    let first = text
        .iter()
        .find(|symbol| !matches!(symbol, Symbol::Known(c) if c.is_whitespace()));
    matches!(first, Some(Symbol::Unknown(doubt)) if doubt.may_hold_code())
}

/// Joins words with blanks to one text.
fn joined(words: &[Word]) -> Symbols {
    let mut text = Symbols::new();
    for word in words {
        if !text.is_empty() {
            text.push(Symbol::Known(' '));
        }
        text.extend_from_slice(&word.text);
    }
    text
}

/// Returns the parameters of a script, or None if there may be more of them than there are words. `before` are the words
/// before the shell, such as `xargs`, which adds some.
fn known_parameters(before: &[Word], arguments: &[Word]) -> Option<Vec<Symbols>> {
    let may_get_more = before.iter().any(|word| adds_words(&word.text));
    let may_be_more = arguments
        .iter()
        .any(|word| may_be_several_words(&word.text));
    if may_get_more || may_be_more {
        return None;
    }
    Some(texts(arguments))
}

fn texts(words: &[Word]) -> Vec<Symbols> {
    words.iter().map(|word| word.text.clone()).collect()
}
