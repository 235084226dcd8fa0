//! Recognizes scripts that come from a download, such as `curl URL | sh`. Other code that cannot be read is unknown
//! code, which counts as a call that may send data. A download does not, although what a server sends is not known:
//! most installers are run so. A client is curl or wget.
//!
//! In the list of a script's commands, a command is followed by copies of parts of it that may run by themselves:
//! `./x` in `function f { ./x`.

use super::Calls;
use super::client_name::{base_name, begins_with_client};
use super::command::{ELSEWHERE, possible_scripts};
use super::expanded_command::ExpandedCommand;
use super::feeders::adds_words;
use crate::command::scope::Frame;
use crate::command::shells::{self, OperandsOfShell};
use crate::command::syntax::{RawWord, SimpleCommand};
use crate::command::text::{Doubt, Symbol, exact, shown};
use crate::command::word::Word;
use crate::command::words::ENDS_OF_GROUPS;
use crate::command::{ScriptFile, expansion, wrappers};

/// Commands that print their arguments or files as they are.
pub(super) const PRINTERS: [&str; 3] = ["echo", "printf", "cat"];

/// Commands and reserved words that print nothing, as they stand beside a download.
const SILENT: [&str; 16] = [
    ":", "[", "[[", "case", "cd", "exit", "export", "false", "for", "mkdir", "rm", "set", "sleep",
    "test", "trap", "true",
];

/// Programs that run a command behind options of which little is known here.
const RUN_THEIR_ARGUMENTS: [&str; 15] = [
    "backoff",
    "chronic",
    "eval",
    "firejail",
    "flock",
    "proxychains",
    "proxychains4",
    "retry",
    "runuser",
    "setpriv",
    "strace",
    "su",
    "systemd-run",
    "torify",
    "torsocks",
];

impl Calls<'_> {
    /// Returns true for `"$(curl URL)"` and `<(curl URL)`. `frame` is that of the script in which the word stands.
    pub(super) fn is_output_of_download(&self, word: &Word, frame: &Frame) -> bool {
        let script = word.output_of.as_ref();
        script.is_some_and(|script| self.is_download(&script.commands, frame))
    }

    /// Returns true if the output of these commands can only come from a client: one of them calls a client, and no
    /// other prints anything of its own. A command that reads a pipe passes on what it reads, unless it may name a
    /// local file, which it may print instead. `commands` are all of a substitution, or those of a script up to the end
    /// of a group, whose beginning is not known. Copies are asked as well: behind the head of a loop, only the copy has
    /// the program at its beginning. `frame` is that of the script.
    pub(super) fn is_download(&self, commands: &[SimpleCommand], frame: &Frame) -> bool {
        commands.iter().any(calls_client)
            && commands.iter().all(|command| {
                // Adds nothing to the download: calls the client, prints nothing, or passes on what it reads.
                let adds_nothing = calls_client(command)
                    || is_silent(command)
                    || command.reads_pipe && !self.may_have_local_file(command, frame);
                adds_nothing && !has_printer(command) && !self.may_call_function(command)
            })
    }

    /// Returns true if a word of a command may be the name of a text file.
    fn may_have_local_file(&self, command: &SimpleCommand, frame: &Frame) -> bool {
        let lists = expansion::commands(&self.scope, &command.words, frame);
        lists
            .iter()
            .flatten()
            .any(|word| self.may_be_local_file(word))
    }

    /// Returns true if a literal word of a command is the name of a function, which may print anything.
    fn may_call_function(&self, command: &SimpleCommand) -> bool {
        let mut words = command.words.iter().filter_map(RawWord::literal);
        words.any(|word| self.scope.may_be_function(&word))
    }

    /// Returns true if a word, or the value of an option in it (`-fFILE`), is the name of a text file, and so of one
    /// that may be a script, in any directory to which a script may go. Also for a word that begins with an unknown
    /// part, which may be any name: `"$(ls)"`. A quoted plain expansion (`"$NUMBER"`) is trusted to be none. A file
    /// that cannot be read does not count.
    pub(super) fn may_be_local_file(&self, word: &Word) -> bool {
        if may_name_any_file(&word.text) {
            return true;
        }
        let names = possible_scripts(&word.text).into_iter().filter_map(exact);
        let mut paths = names.flat_map(|name| self.scope.possible_paths(&name));
        paths.any(|path| {
            let file = self.surroundings.script(&path);
            matches!(file, ScriptFile::Text(_) | ScriptFile::TooLong(_))
        })
    }
}

/// Returns true for a word that may name any file, as it begins with an unknown part that is not trusted, or has this
/// behind a directory like `./` or `~/`, or behind `-f` or `--file=`. With another known beginning, it is more often a
/// pattern: `s/a/$(pwd)/`.
fn may_name_any_file(text: &[Symbol]) -> bool {
    let index = text
        .iter()
        .position(|symbol| matches!(symbol, Symbol::Unknown(_)));
    let Some((beginning, [Symbol::Unknown(doubt), ..])) = index.map(|index| text.split_at(index))
    else {
        return false;
    };
    let beginning = shown(beginning);
    let is_directory = beginning.starts_with(['.', '~']) && beginning.ends_with('/');
    let may_precede_name = is_directory || ["", "-f", "--file="].contains(&beginning.as_str());
    may_precede_name && *doubt > Doubt::TrustedPart
}

/// Returns true if these words, which begin with the program, call a client, so that what they print is a download: the
/// program is a client, is a shell whose script is a single call of one, or runs its arguments (`ssh`, `flock`,
/// `xargs`) and one of these is a client. For any other program, a client among its arguments says nothing about what
/// it prints (`./gen.sh curl`).
pub(super) fn runs_client(words: &[Word]) -> bool {
    let Some((program, behind)) = words.split_first() else {
        return false;
    };
    let name = base_name(&program.text);
    if shells::is_shell(&name) {
        let operands = shells::operands_of_shell(behind);
        return matches!(operands, OperandsOfShell::Script { script, .. } if begins_with_client(&script.text));
    }
    let passes_on = ELSEWHERE.contains(&name.as_str())
        || RUN_THEIR_ARGUMENTS.contains(&name.as_str())
        || adds_words(&program.text);
    let is_named = behind.iter().any(|word| begins_with_client(&word.text));
    begins_with_client(&program.text) || passes_on && is_named
}

/// Returns true if a command of a script calls a client, behind reserved words and known wrappers. A word with an
/// expansion counts as it is written: `$CURL` names none, `$DIR/curl` does.
fn calls_client(command: &SimpleCommand) -> bool {
    let words: Vec<Word> = command
        .words
        .iter()
        .map(|word| Word::exact(&word.literal().unwrap_or_else(|| word.source.to_string())))
        .collect();
    let program_index = ExpandedCommand::new(&words, None).program_index;
    runs_client(&words[program_index..])
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

/// Returns true if a literal word of a command is one of [`PRINTERS`], which may print more than a download. The word
/// may stand at any place, as an unknown wrapper may stand before the program, or a pipe (`curl URL | cat x -`).
fn has_printer(command: &SimpleCommand) -> bool {
    command.words.iter().any(|word| {
        word.literal()
            .is_some_and(|word| PRINTERS.contains(&word.as_str()))
    })
}
