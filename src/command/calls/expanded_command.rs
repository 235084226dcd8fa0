//! A command after all expansions, and what its parts are.

use crate::command::shells::{self, OperandsOfShell};
use crate::command::syntax::Script;
use crate::command::text::{Word, exact, shown};
use crate::command::wrappers;

/// A command of a script, whose input may come from the commands before it.
#[derive(Clone, Copy)]
pub(super) struct CommandInScript<'c> {
    pub(super) script: &'c Script,
    /// Index among the commands of the script.
    pub(super) at: usize,
}

/// The words of a command after all expansions.
pub(super) struct ExpandedCommand<'c> {
    pub(super) words: &'c [Word],
    /// Index of the program that the command runs, behind reserved words, assignments and known wrappers.
    pub(super) program_at: usize,
    /// Index of the script of `sh -c`, whose arguments follow; the number of words if there is none.
    pub(super) script_at: usize,
    /// None for the command itself.
    pub(super) in_script: Option<CommandInScript<'c>>,
}

impl<'c> ExpandedCommand<'c> {
    /// Finds the parts of a command.
    pub(super) fn new(
        words: &'c [Word],
        in_script: Option<CommandInScript<'c>>,
    ) -> ExpandedCommand<'c> {
        ExpandedCommand {
            words,
            program_at: program_at(words),
            script_at: script_at(words),
            in_script,
        }
    }
}

/// Returns the index of the program that a command runs, behind reserved words, assignments and known wrappers.
fn program_at(words: &[Word]) -> usize {
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    wrappers::program_at(&texts)
}

/// Returns the index of the script of `sh -c`; the number of words if there is none. The words after it are its
/// arguments.
fn script_at(words: &[Word]) -> usize {
    for (at, word) in words.iter().enumerate() {
        let Some(path) = exact(&word.text) else {
            continue;
        };
        let name = path.rsplit('/').next().unwrap_or_default();
        if shells::is_shell(name)
            && let OperandsOfShell::Script { arguments, .. } =
                shells::operands_of_shell(&words[at + 1..])
        {
            return words.len() - arguments.len() - 1;
        }
    }
    words.len()
}
