//! Shells: their names, and what the words after a name make a shell run: a text, a file, or its input. All of these
//! are searched for calls of curl and wget.

use super::text::{exact, may_be_several_words};
use super::word::Word;

const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"];

/// Long options of bash, which takes them with a single dash as well. Other shells take such a word for letters.
const LONG_OPTIONS: [&str; 14] = [
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "rcfile",
    "restricted",
    "verbose",
    "wordexp",
];

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Returns true if the first line of a file names a shell: `#!/bin/sh`, `#!/usr/bin/env bash`.
pub(super) fn names_shell(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("#!").is_some_and(|interpreter| {
        interpreter
            .split(['/', ' ', '\t'])
            .any(|name| SHELLS.contains(&name))
    })
}

/// Returns true if a shell runs this text when its file is the program: its first line names a shell, or no interpreter
/// at all. The system refuses the latter, and shells and most wrappers then give it to a shell.
pub(super) fn runs_in_shell(text: &str) -> bool {
    !text.starts_with("#!") || names_shell(text)
}

/// The script that a shell runs.
pub(super) enum OperandsOfShell<'w> {
    /// `-c SCRIPT`, and the words after it from `$0` on.
    Script {
        script: &'w Word,
        arguments: &'w [Word],
    },
    /// A script file, which is `$0`, and the words after it.
    File {
        file: &'w Word,
        arguments: &'w [Word],
    },
    /// A script on standard input, with the operands of `-s`.
    StandardInput { arguments: &'w [Word] },
    /// The shell runs nothing: it prints its version or its options, or refuses to.
    Nothing,
    /// The word for a message: it may be an option, so the operands are unknown.
    Unknown(String),
}

/// The meaning of a shell's operands, by its options.
#[derive(Default)]
struct ShellOptions {
    /// `-c`: the first operand is a script.
    has_c: bool,
    /// `-s`: operands are arguments of the script on standard input.
    has_s: bool,
}

impl ShellOptions {
    /// Notes the letters of an option such as `-ceu`. `option` is the option without its sign; a long one has no
    /// letters.
    fn add(&mut self, option: &str) {
        if !option.starts_with('-') {
            self.has_c |= option.contains('c');
            self.has_s |= option.contains('s');
        }
    }
}

/// Returns what a shell runs, given the words after its name. Skips its options, and the values of those that take one.
/// A word that may be several words may be `-c` as well, so that nothing behind it is certain; but behind a `-c`, it is
/// taken for the script. Nothing is certain either behind a word whose meaning depends on the shell ([`LONG_OPTIONS`]).
pub(super) fn operands_of_shell(words: &[Word]) -> OperandsOfShell<'_> {
    let mut options = ShellOptions::default();
    let mut index = 0;
    while let Some(word) = words.get(index) {
        // Options may stand between `-c` and the script, which is the first other word, even if it is unknown.
        if options.has_c && !is_known_option(word) {
            break;
        }
        if may_be_several_words(&word.text) {
            return OperandsOfShell::Unknown(word.shown_origin());
        }
        // Unknown, but one word: taken for an operand, as in `sh "$FILE"`.
        let Some(text) = exact(&word.text) else {
            break;
        };
        let Some(option) = text.strip_prefix(['-', '+']) else {
            break;
        };
        if asks_for_text(&text) {
            return OperandsOfShell::Nothing;
        }
        if LONG_OPTIONS.contains(&option) {
            return OperandsOfShell::Unknown(text);
        }
        index += 1;
        // `-` and `--` end the options.
        if option.is_empty() || option == "-" {
            break;
        }
        options.add(option);
        if takes_value(option) {
            index += 1;
        }
    }
    // Empty if the value of the last option is missing.
    let operands = words.get(index..).unwrap_or_default();
    match operands {
        [script, arguments @ ..] if options.has_c => OperandsOfShell::Script { script, arguments },
        [file, arguments @ ..] if !options.has_s => OperandsOfShell::File { file, arguments },
        arguments => OperandsOfShell::StandardInput { arguments },
    }
}

/// Returns true for an option by which a shell, or a program that starts one, only prints a text about itself.
pub(super) fn asks_for_text(option: &str) -> bool {
    option == "--version" || option == "--help"
}

/// Returns true if the next word is the value of this option of a shell, which is given without its sign: `-o
/// pipefail`, `-O extglob`, `-ceuo pipefail`, `--rcfile FILE`.
fn takes_value(option: &str) -> bool {
    if option.starts_with('-') {
        option == "-rcfile" || option == "-init-file"
    } else {
        option.contains(['o', 'O'])
    }
}

fn is_known_option(word: &Word) -> bool {
    exact(&word.text).is_some_and(|text| text.starts_with(['-', '+']))
}
