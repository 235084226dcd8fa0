//! Recognizes scripts that come from a download, such as `curl URL | sh`. Other code that cannot be read is unknown
//! code, which counts as a call that may send data. A download does not, although what a server sends is not known:
//! most installers are run so.

use super::Calls;
use super::client_name::begins_with_client;
use crate::command::ScriptFile;
use crate::command::syntax::{RawWord, SimpleCommand};
use crate::command::text::{exact, known};
use crate::command::word::Word;
use crate::command::words::ENDS_OF_GROUPS;
use crate::command::wrappers;

/// Commands that print their arguments or files as they are.
pub(super) const PRINTERS: [&str; 3] = ["echo", "printf", "cat"];

/// Commands and reserved words that print nothing, as they stand beside a download.
const SILENT: [&str; 16] = [
    ":", "[", "[[", "case", "cd", "exit", "export", "false", "for", "mkdir", "rm", "set", "sleep",
    "test", "trap", "true",
];

impl Calls<'_> {
    /// Returns true for `"$(curl URL)"` and `<(curl URL)`.
    pub(super) fn is_output_of_download(&self, word: &Word) -> bool {
        let script = word.output_of.as_ref();
        script.is_some_and(|script| self.is_download(&script.commands))
    }

    /// Returns true if the output of a group among these commands can only come from a client: one of them calls a
    /// client, and no other prints anything of its own. A command that reads a pipe passes on what it reads, unless it
    /// names a local file, which it may print instead. Where the group begins is not known, so all commands of the script before its end are asked, copies as well: behind the
    /// head of a loop, only the copy has the program at its beginning.
    pub(super) fn is_download(&self, commands: &[SimpleCommand]) -> bool {
        commands.iter().any(calls_client)
            && commands.iter().all(|command| {
                let is_quiet = calls_client(command)
                    || is_silent(command)
                    || command.reads_pipe && !self.has_local_file(command);
                is_quiet && !prints(command) && !self.may_call_function(command)
            })
    }

    /// Returns true if a literal word of a command is the name of a text file.
    fn has_local_file(&self, command: &SimpleCommand) -> bool {
        let mut words = command.words.iter().filter_map(RawWord::literal);
        words.any(|word| self.is_local_file(&Word::exact(&word)))
    }

    /// Returns true if a literal word of a command is the name of a function, which may print anything.
    fn may_call_function(&self, command: &SimpleCommand) -> bool {
        let mut words = command.words.iter().filter_map(RawWord::literal);
        words.any(|word| self.scope.may_be_function(&word))
    }

    /// Returns true if a word is the name of a text file, and so of one that may be a script, in any directory to which
    /// a script may go. False for a word with an unknown part.
    pub(super) fn is_local_file(&self, word: &Word) -> bool {
        let Some(path) = exact(&word.text) else {
            return false;
        };
        let mut paths = self.scope.possible_paths(&path).into_iter();
        paths.any(|path| {
            let file = self.surroundings.script(&path);
            matches!(file, ScriptFile::Text(_) | ScriptFile::TooLong(_))
        })
    }
}

/// Returns true if a literal word of a command names a client.
fn calls_client(command: &SimpleCommand) -> bool {
    let mut words = command.words.iter().filter_map(RawWord::literal);
    words.any(|word| begins_with_client(&known(&word)))
}

/// Returns true if a command prints nothing on its standard output: its program is one of [`SILENT`], it ends a group,
/// or it has no program, as it is only a reserved word or an assignment.
fn is_silent(command: &SimpleCommand) -> bool {
    let words: Vec<String> = command
        .words
        .iter()
        .map(|word| word.literal().unwrap_or_else(|| word.source.to_string()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    words
        .get(wrappers::program_index(&words))
        .is_none_or(|program| SILENT.contains(program) || ENDS_OF_GROUPS.contains(program))
}

/// Returns true if a literal word of a command is one of [`PRINTERS`]; any word, as an unknown wrapper may stand before
/// the program.
fn prints(command: &SimpleCommand) -> bool {
    command.words.iter().any(|word| {
        word.literal()
            .is_some_and(|word| PRINTERS.contains(&word.as_str()))
    })
}
