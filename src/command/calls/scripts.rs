//! Finds the scripts that a command runs: of shells, `eval`, `source`, `ssh` and others, or the program itself.
//!
//! "Reading" a text as a script means here: it is added to the search with `add_script`, and its commands are looked at
//! when the round comes to it. A script that cannot be read is noted as unknown code, which counts as a call that may
//! send data.
//!
//! A client is curl or wget. A `Context` holds what a command or script gets from its caller (arguments and
//! environment), and where it stands, for messages.

use std::slice;

use super::command::possible_scripts;
use super::expanded_command::ExpandedCommand;
use super::feeders::adds_words;
use super::{Calls, Context, may_separate_words};
use crate::command::http::tables::mentions_client;
use crate::command::shells::{self, OperandsOfShell};
use crate::command::text::{
    Doubt, Symbol, Symbols, exact, known, may_be_several_words, name_and_value, shown, unknown,
};
use crate::command::word::Word;

/// Commands that let a shell run some of their words as scripts.
const COMMANDS_WITH_SCRIPTS: [&str; 10] = [
    "trap", "su", "watch", "script", "flock", "runuser", "at", "batch", "newgrp", "sg",
];

impl Calls<'_> {
    /// Reads what the shell at this index of the command runs: the script of `-c`, a file, or its input. `context` is
    /// what the shell itself gets; its script gets the words behind the script or file as arguments instead. Words that
    /// leave open what the shell runs are unknown code. A downloaded script (`sh -c "$(curl URL)"`) adds nothing, as in
    /// `curl URL | sh`.
    pub(super) fn read_shell(
        &mut self,
        command: &ExpandedCommand<'_>,
        shell_index: usize,
        context: &Context,
    ) {
        let (before, from_shell) = command.words.split_at(shell_index);
        let name = shown(&from_shell[0].text);
        match shells::operands_of_shell(&from_shell[1..]) {
            OperandsOfShell::Script { script, .. }
                if self.is_output_of_download(script, &context.frame) => {}
            OperandsOfShell::Script { script, arguments } => {
                let script_context = context.named(format!("the script of {name} -c"));
                if begins_unknown(&script.text) {
                    // The script is read all the same, for its known parts.
                    let what = format!("the script {}", script.shown_origin());
                    self.note_unknown_code(what, &script_context);
                }
                // `$0` is the first word after the script.
                let parameters = known_parameters(before, arguments);
                self.add_script(&script.text, script_context.with_arguments(parameters));
            }
            OperandsOfShell::File { file, arguments } => {
                // `$0` is the file.
                let words = [slice::from_ref(file), arguments].concat();
                let parameters = known_parameters(before, &words);
                self.read_script_file(file, &context.with_arguments(parameters));
            }
            OperandsOfShell::StandardInput { arguments } => {
                // `$0` is the shell.
                let words = [&from_shell[..1], arguments].concat();
                let parameters = known_parameters(before, &words);
                let context = context.with_arguments(parameters);
                self.read_standard_input(&name, command, shell_index, &context);
            }
            OperandsOfShell::Nothing => {}
            OperandsOfShell::Unknown(word) => {
                self.note_unknown_code(format!("the script of {name} {word}"), context);
            }
        }
    }

    /// Reads the words of `eval`, `source`, `ssh`, `alias` and other commands that take scripts, or notes the directory
    /// of `cd`, in which scripts may stand. `name` is the file name of the word at `name_index`. Returns true if it is
    /// the name of such a command, by which the word counts as a part of the whole. `sudo` and `doas` do not count,
    /// although their `-s` and `-i` start a shell: mostly they run the words behind them, which count by themselves.
    pub(super) fn read_command_with_scripts(
        &mut self,
        name: &str,
        command: &ExpandedCommand<'_>,
        name_index: usize,
        context: &Context,
    ) -> bool {
        let arguments = &command.words[name_index + 1..];
        // As arguments of other commands, `source` and `.` are too common.
        let is_program = name_index == command.program_index;
        match name {
            "eval" => self.read_eval(arguments, context),
            "source" | "." if is_program => self.read_source(arguments, context),
            "alias" => self.read_alias(arguments, context),
            // A directory of another machine has none of the scripts of this one.
            "cd" | "pushd" if context.is_elsewhere() => {}
            "cd" | "pushd" => self.read_cd(arguments),
            "env" => self.read_env(arguments, context),
            "ssh" => self.read_ssh(command, name_index),
            name if COMMANDS_WITH_SCRIPTS.contains(&name) => {
                // A program with an unknown part (`watch "$DIR/x.sh"`) is left out below.
                if name == "watch"
                    && let Some(program) = program_of_watch(arguments)
                    && exact(&program.text).is_none()
                {
                    self.note_unknown_program(program, context);
                }
                self.read_words_as_scripts(name, arguments, context);
                self.read_input_of_user_shell(name, command, name_index, context);
            }
            "sudo" | "doas" => {
                self.read_input_of_user_shell(name, command, name_index, context);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// Reads the text of each `NAME=TEXT` of `alias` as a script, as it is run wherever the name stands. The words that
    /// then follow the name are unknown; they are added only to a text with a slash or a client, as most aliases only
    /// add options to a program. A text without these that is a single word is left out: it is only another name.
    fn read_alias(&mut self, words: &[Word], context: &Context) {
        for word in words {
            let Some(value) = name_and_value(&word.text).value else {
                continue;
            };
            let is_word = !value.iter().any(may_separate_words);
            if value.contains(&Symbol::Known('/')) || mentions_client(value) {
                let text = [value, &known(" "), &unknown(Doubt::AnyWords)].concat();
                self.add_script(&text, context.clone());
            } else if !is_word {
                self.add_script(value, context.clone());
            }
        }
    }

    /// Reads as a script each word that is known (`trap ./clean.sh EXIT`) or has a blank in it: which word the program
    /// takes for one is not looked for, as options, names and times do no harm if read so. A word with an unknown part,
    /// but without a blank, is more often a name, and is left out, unless it stands behind `-c` or is the first of
    /// `trap`: then it is a script for certain, and unknown code if it begins with an unknown part. Parts of a word
    /// that may be scripts (`--option=SCRIPT`, `-cSCRIPT`) count like words. `name` is that of the program.
    fn read_words_as_scripts(&mut self, name: &str, words: &[Word], context: &Context) {
        for (index, word) in words.iter().enumerate() {
            // By its place, the whole word is one.
            let is_script = match index.checked_sub(1) {
                Some(before) => ends_with_c(&words[before].text),
                None => name == "trap",
            };
            for text in possible_scripts(&word.text) {
                let is_glued = text.len() < word.text.len() && holds_script_of_c(&word.text);
                let is_certain = is_script || is_glued;
                if is_certain && begins_unknown(text) {
                    let what = format!("the script {}", word.shown_origin());
                    self.note_unknown_code(what, context);
                }
                let has_blank = text
                    .iter()
                    .any(|symbol| matches!(symbol, Symbol::Known(c) if c.is_whitespace()));
                if is_certain || has_blank || exact(text).is_some() {
                    self.add_script(text, context.clone());
                }
            }
        }
    }
}

/// Returns the program among these words behind `watch`: the first that begins with neither a dash nor a digit, as the
/// value in `-n 2` does. None if there is none.
fn program_of_watch(words: &[Word]) -> Option<&Word> {
    let may_be_program = |word: &&Word| {
        let first = word.text.first();
        !matches!(first, Some(Symbol::Known(c)) if *c == '-' || c.is_ascii_digit())
    };
    words.iter().find(may_be_program)
}

/// Returns true for an option whose value, the next word, is a script: `-c`, `-lc`, `--command`.
fn ends_with_c(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| {
        let is_short = text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
        is_short || text == "--command"
    })
}

/// Returns true for an option with a script in the same word: `-cSCRIPT`, `--command=SCRIPT`.
fn holds_script_of_c(text: &[Symbol]) -> bool {
    text.starts_with(&known("-c")) || text.starts_with(&known("--command="))
}

/// Returns true if a script begins with an unknown part that may hold code, so that it may run any program: `$CMD
/// --all`, but not `curl $URL`. Behind a known name, an unknown part is an argument of the program, which is judged
/// there.
pub(super) fn begins_unknown(text: &[Symbol]) -> bool {
    let first = text
        .iter()
        .find(|symbol| !matches!(symbol, Symbol::Known(c) if c.is_whitespace()));
    matches!(first, Some(Symbol::Unknown(doubt)) if doubt.may_hold_code())
}

/// Returns the texts of `arguments`, which a script gets as its parameters; None if there may be more of them than
/// there are words, so that it is not certain which is `$1`. One may be several words, or an `xargs` may add some,
/// which is looked for in `before`, the words before the shell that runs the script. Callers for which an `xargs` is
/// impossible, or who allow for it themselves, give no words there.
pub(super) fn known_parameters(before: &[Word], arguments: &[Word]) -> Option<Vec<Symbols>> {
    let may_get_more = before.iter().any(|word| adds_words(&word.text));
    let may_be_more = arguments
        .iter()
        .any(|word| may_be_several_words(&word.text));
    if may_get_more || may_be_more {
        return None;
    }
    Some(texts(arguments))
}

pub(super) fn texts(words: &[Word]) -> Vec<Symbols> {
    words.iter().map(|word| word.text.clone()).collect()
}
