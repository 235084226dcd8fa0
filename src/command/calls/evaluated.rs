//! Reads what `eval` and `source` run, and tables of functions and aliases. Unlike other scripts, this code shares the
//! variables of the shell that reads it, so that code which cannot be read may set any of them. So even a download is
//! unknown code here, unlike in `curl URL | sh`. "Reading" a text as a script means: it is added to the search.
//!
//! A `Context` holds what a script gets from its caller (arguments and environment), and where it stands, for messages.
//! Unknown code is code that cannot be read: it counts as a call of curl or wget that may send data. All commands are
//! read in rounds, until one finds no further script, value or directory.

use super::scripts::known_parameters;
use super::{Calls, Context};
use crate::command::syntax::Assignment;
use crate::command::text::{Doubt, Symbols, exact, may_hold_code, unknown};
use crate::command::word::{Word, cut, joined};
use crate::command::{ScriptFile, expansion};

/// Commands that print assignments for `eval`, by their first words. So common that without them many scripts would
/// count as unknown code.
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
    "kubectl completion",
    "gpg-agent",
];

/// Variables of zsh and bash whose elements define functions, aliases, and the paths of programs. Which name such an
/// element defines is not followed.
const TABLES_OF_CODE: [&str; 5] = [
    "functions",
    "aliases",
    "galiases",
    "BASH_ALIASES",
    "BASH_CMDS",
];

impl Calls<'_> {
    /// Reads what an assignment to one of [`TABLES_OF_CODE`] defines. A single element (`aliases[f]=x`) or an addition
    /// (`+=`) is unknown code. Elements of a whole table (`aliases=(f x)`) are read as scripts, and only one with an
    /// unknown part is unknown code, as the names are common for arrays in bash. Does nothing for an assignment to
    /// another variable, or of a plain value (`functions=x`), which makes an ordinary variable.
    pub(super) fn read_table_of_code(&mut self, assignment: &Assignment, context: &Context) {
        if !TABLES_OF_CODE.contains(&assignment.name.as_str()) {
            return;
        }
        let what = cut(&assignment.value.source);
        // True for a single element as well.
        if assignment.adds {
            return self.note_unknown_code(what, context);
        }
        for element in assignment.value.elements() {
            // `[key]=value`
            let value = element.value_of_element();
            let value = value.as_ref().unwrap_or(element);
            for text in expansion::texts(&self.scope, value, &context.frame) {
                if may_hold_code(&text) {
                    self.note_unknown_code(what.clone(), context);
                }
                self.add_script(&text, context.with_arguments(None));
            }
        }
    }

    /// Reads the words of `eval`, joined, as a script. If a part is unknown, the script is unknown code, which may also
    /// assign to any variable. Words at the beginning that are the output of a program which is known to print only
    /// assignments (`eval "$(ssh-agent -s)"`) may assign to any variable as well, but are no unknown code.
    pub(super) fn read_eval(&mut self, words: &[Word], context: &Context) {
        let assigning_words = words.iter().take_while(|word| prints_assignments(word));
        let assigning_count = assigning_words.count();
        let code = &words[assigning_count..];
        let unknown = code.iter().find(|word| may_hold_code(&word.text));
        if assigning_count > 0 || unknown.is_some() {
            self.allow_unknown_assignments();
        }
        if let Some(word) = unknown {
            self.note_unknown_code(format!("eval {}", word.shown_origin()), context);
        }
        let context = context.named("the script of eval".to_owned());
        self.add_script(&joined(code), context);
    }

    /// Allows for code that may set any variable, from now on, in all scripts. The first time, all commands have to be
    /// read again, as each may mean something else then.
    fn allow_unknown_assignments(&mut self) {
        if !self.scope.has_unknown_code() {
            self.scope.allow_unknown_code();
            self.needs_another_round = true;
        }
    }

    /// Reads the file of `source`, given the words after that name. A file that is not found or cannot be read may
    /// assign to any variable: unlike a script that runs by itself, it shares those of the shell. It keeps the shell's
    /// arguments, but in some shells, words behind the file take their place: with such words, it is read both ways.
    pub(super) fn read_source(&mut self, words: &[Word], context: &Context) {
        let has_mark = words
            .first()
            .is_some_and(|word| exact(&word.text).as_deref() == Some("--"));
        let Some((file, arguments)) = words[usize::from(has_mark)..].split_first() else {
            return;
        };
        // `source <(minikube docker-env)`
        if prints_assignments(file) {
            self.allow_unknown_assignments();
            return;
        }
        // `source <(command)`: what the command prints is not known.
        if file.origin.starts_with("<(") {
            self.allow_unknown_assignments();
            self.note_unknown_code(format!("source {}", file.shown_origin()), context);
            return;
        }
        if !self.may_find_script(file) {
            self.allow_unknown_assignments();
        }
        self.read_script_file(file, context);
        if !arguments.is_empty() {
            let arguments = arguments_of_source(arguments, context);
            self.read_script_file(file, &context.with_arguments(arguments));
        }
    }

    /// Returns true if the path of this word is known and names a text file that can be read as a whole, in one of the
    /// directories to which a script may go.
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

/// Returns the arguments of a file that `source` gets with these words behind it; None if they are unknown. `$0` stays
/// that of the shell, whose context is given: an unknown text if its arguments are unknown.
fn arguments_of_source(words: &[Word], context: &Context) -> Option<Vec<Symbols>> {
    let mut arguments = known_parameters(&[], words)?;
    let of_shell = context.frame.arguments.as_ref();
    let name = of_shell.and_then(|arguments| arguments.first().cloned());
    arguments.insert(0, name.unwrap_or_else(|| unknown(Doubt::AnyWords)));
    Some(arguments)
}

/// Returns true for a word like `"$(ssh-agent -s)"` or `<(minikube docker-env)`: the output of one command that is
/// known to print assignments for `eval`, and of no other command.
fn prints_assignments(word: &Word) -> bool {
    let Some(script) = &word.output_of else {
        return false;
    };
    let [command] = script.commands.as_slice() else {
        return false;
    };
    let literals: Vec<String> = command
        .words
        .iter()
        .map(|word| word.literal().unwrap_or_default())
        .collect();
    let line = literals.join(" ");
    let line = match literals.first() {
        // The line without the directory of its program.
        Some(program) => &line[program.rfind('/').map_or(0, |slash| slash + 1)..],
        None => return false,
    };
    PRINT_ASSIGNMENTS.iter().any(|known| {
        let behind = line.strip_prefix(known);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
    })
}
