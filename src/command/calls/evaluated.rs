//! Reads what `eval` and `source` run. Unlike other scripts, this code shares the variables of the shell that reads it,
//! so that code which cannot be read may set any of them. "Reading" a text as a script means: it is added to the
//! search.
//!
//! A `Context` holds what a script gets from its caller (arguments and environment), and where it stands, for messages.

use super::scripts::joined;
use super::{Calls, Context};
use crate::command::ScriptFile;
use crate::command::text::{Word, exact, may_hold_code};

/// Programs that print assignments for `eval`. So common that without them many scripts would count as unknown code.
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
    /// Reads the words of `eval`, joined, as a script. If a part is unknown, the script may assign to any variable, and
    /// counts as unknown code, too. But if the first such word is the output of a program that is known to print only
    /// assignments, no word is read, and nothing counts as unknown code.
    pub(super) fn read_eval(&mut self, words: &[Word], context: &Context) {
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

    /// Allows for code that may set any variable, from now on. The first time, all commands have to be read again, as
    /// each may mean something else then.
    fn allow_unknown_assignments(&mut self) {
        if !self.scope.has_unknown_code() {
            self.scope.allow_unknown_code();
            self.needs_another_round = true;
        }
    }

    /// Reads the file of `source`, given the words after that name. If it cannot be read, it may assign to any
    /// variable: unlike a script that runs by itself, it shares those of the shell. It also keeps the shell's
    /// arguments; words behind the file do not count as its own.
    pub(super) fn read_source(&mut self, words: &[Word], context: &Context) {
        let mut operands = words
            .iter()
            .filter(|word| exact(&word.text).as_deref() != Some("--"));
        let Some(file) = operands.next() else {
            return;
        };
        // `source <(minikube docker-env)`
        if prints_assignments(&file.origin) {
            self.allow_unknown_assignments();
            return;
        }
        // `source <(command)`: what the command prints is not known.
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

    /// Returns true if the path of this word is known and names a file that can be read in one of the directories to
    /// which a script may go.
    fn may_find_script(&self, file: &Word) -> bool {
        let Some(path) = exact(&file.text) else {
            return false;
        };
        let paths = self.scope.possible_paths(&path);
        paths
            .iter()
            .any(|path| matches!(self.surroundings.script(path), ScriptFile::Text(_)))
    }
}

/// Returns true for a word like `"$(ssh-agent -s)"`: the substitution of one command that is known to print assignments
/// for `eval`. `origin` is the word as it is written, of which only the beginning is kept.
fn prints_assignments(origin: &str) -> bool {
    let script = origin.trim_start_matches(['"', '$', '(', '`', '<', ' ']);
    let program = script.split([' ', ')']).next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let is_substitution = script.len() < origin.len();
    is_substitution && PRINT_ASSIGNMENTS.contains(&name) && !script.contains(['|', ';', '&'])
}
