//! Shells: their names, and what the words after a name make a shell run: a text, a file, or its input.

use super::text::{Word, exact, may_be_several_words};

const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"];

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Returns true if the first line of a file names a shell: `#!/bin/sh`, `#!/usr/bin/env bash`. Only such a file is read
/// as a script when it is the program itself.
pub(super) fn is_shell_script(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("#!").is_some_and(|interpreter| {
        interpreter
            .split(['/', ' ', '\t'])
            .any(|name| SHELLS.contains(&name))
    })
}

/// What a shell runs.
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
    StandardInput,
    /// The word for a message: it may be an option, so the operands are unknown.
    Unknown(String),
}

/// Returns what a shell runs, given the words after its name. Skips its options, and the values of those that take one;
/// a word that may be several words may be `-c` as well, so that nothing behind it is certain.
pub(super) fn operands_of_shell(words: &[Word]) -> OperandsOfShell<'_> {
    // `-c`: the next operand is a script.
    let mut has_c = false;
    // `-s`: operands are arguments of the script on standard input.
    let mut has_s = false;
    let mut index = 0;
    while let Some(word) = words.get(index) {
        // Options may stand between `-c` and the script.
        if has_c && !is_known_option(word) {
            break;
        }
        if may_be_several_words(&word.text) {
            return OperandsOfShell::Unknown(word.origin.clone());
        }
        let Some(text) = exact(&word.text) else {
            break;
        };
        let Some(letters) = text.strip_prefix(['-', '+']) else {
            break;
        };
        index += 1;
        match letters {
            "-" | "" => break,
            "-rcfile" | "-init-file" => index += 1,
            // A long option without a value.
            _ if letters.starts_with('-') => {}
            _ => {
                has_c |= letters.contains('c');
                has_s |= letters.contains('s');
                // `-o pipefail`, `-O extglob`, `-ceuo pipefail`
                if letters.contains(['o', 'O']) {
                    index += 1;
                }
            }
        }
    }
    // Empty if the value of the last option is missing.
    let operands = words.get(index..).unwrap_or_default();
    match operands {
        [script, arguments @ ..] if has_c => OperandsOfShell::Script { script, arguments },
        [file, arguments @ ..] if !has_s => OperandsOfShell::File { file, arguments },
        _ => OperandsOfShell::StandardInput,
    }
}

fn is_known_option(word: &Word) -> bool {
    exact(&word.text).is_some_and(|text| text.starts_with(['-', '+']))
}
