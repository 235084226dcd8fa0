//! A command after all expansions, with what the reader of its words has to know: which word is the program, and which
//! is the script of `sh -c`.

use crate::command::scope::Frame;
use crate::command::shells::{self, OperandsOfShell};
use crate::command::syntax::Script;
use crate::command::text::{exact, shown};
use crate::command::word::Word;
use crate::command::wrappers;

/// A command of a script, whose input may come from the commands before it.
#[derive(Clone, Copy)]
pub(super) struct CommandInScript<'c> {
    pub(super) script: &'c Script,
    /// Index among the commands of the script.
    pub(super) index: usize,
    /// The frame of the script: its variables have these values, also in what it gives a shell as its input.
    pub(super) frame: &'c Frame,
}

/// The words of a command after all expansions.
pub(super) struct ExpandedCommand<'c> {
    pub(super) words: &'c [Word],
    /// Index of the program that the command runs, behind reserved words, assignments and known wrappers.
    pub(super) program_index: usize,
    /// Index of the script of `sh -c`, whose arguments follow; the number of words if there is none.
    pub(super) script_index: usize,
    /// The script that the command stands in; None for the command that backoff itself runs.
    pub(super) in_script: Option<CommandInScript<'c>>,
}

impl<'c> ExpandedCommand<'c> {
    /// Finds the program and the script among the words. `in_script` is None for the command that backoff itself runs.
    pub(super) fn new(
        words: &'c [Word],
        in_script: Option<CommandInScript<'c>>,
    ) -> ExpandedCommand<'c> {
        ExpandedCommand {
            words,
            program_index: program_index(words),
            script_index: script_index(words),
            in_script,
        }
    }

    /// Returns true if the script gives the command a standard input of its own. The input of a group or function
    /// around it does not count, nor does that of backoff's own command.
    pub(super) fn has_input(&self) -> bool {
        self.in_script
            .is_some_and(|it| it.script.commands[it.index].has_input())
    }
}

/// Returns the index of the program that a command runs, behind reserved words, assignments and known wrappers. Returns
/// the number of words if there is none. A word with an unknown part may be an assignment, the value of an option, or a
/// wrapper in an unknown directory (`$DIR/env`); any other one ends the search and counts as the program.
fn program_index(words: &[Word]) -> usize {
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    wrappers::program_index(&texts)
}

/// Returns the index of the script of the first `sh -c`, at any place of the command; the number of words if there is
/// none. The words after the script are its arguments, with which it is read: so it must not be taken for a text
/// without arguments, nor a word behind it for another shell.
fn script_index(words: &[Word]) -> usize {
    for (index, word) in words.iter().enumerate() {
        let Some(path) = exact(&word.text) else {
            continue;
        };
        let name = path.rsplit('/').next().unwrap_or_default();
        if shells::is_shell(name)
            && let OperandsOfShell::Script { arguments, .. } =
                shells::operands_of_shell(&words[index + 1..])
        {
            // The arguments reach to the end of the command.
            return words.len() - arguments.len() - 1;
        }
    }
    words.len()
}
