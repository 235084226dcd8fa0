//! Finds script files: those that a shell or `source` gets, and words of a command that name one, as a program may run
//! them. "Reading" a file means: its text is added to the search with `add_script`.
//!
//! A `Context` holds what a command or script gets from its caller (arguments and environment), and where it stands,
//! for messages. Unknown code is code that cannot be read: it counts as a call of curl or wget that may send data. All
//! commands are read in rounds, until one finds no further script, value or directory.

use std::rc::Rc;

use super::expanded_command::ExpandedCommand;
use super::feeders::adds_words;
use super::scripts::known_parameters;
use super::{Calls, Context, Location};
use crate::command::ScriptFile;
use crate::command::shells;
use crate::command::text::{
    Doubt, NameAndValue, Symbol, begins_option, exact, known, name_and_value, shown, unknown,
};
use crate::command::word::{Word, joined};

impl Calls<'_> {
    /// Reads a file that certainly is a script, from each directory to which a script may have gone. A missing file
    /// adds nothing, as nothing would run, and neither does a file of another machine, one that is no text, or the pipe
    /// of a download (`<(curl URL)`). A file whose name or directory is unknown, or that is too long or cannot be read,
    /// is unknown code, as is any other pipe. The script gets the arguments of `context`.
    pub(super) fn read_script_file(&mut self, file: &Word, context: &Context) {
        let is_elsewhere = context.is_elsewhere();
        if is_elsewhere {
            return;
        }
        if file.origin.starts_with("<(") {
            // The output of the command is not known. A download adds nothing: most installers are run so.
            if !self.is_output_of_download(file, &context.frame) {
                self.note_unknown_code(format!("the script {}", file.shown_origin()), context);
            }
            return;
        }
        let Some(path) = exact(&file.text) else {
            self.note_unknown_code(format!("the script {}", file.shown_origin()), context);
            return;
        };
        if path == "/dev/null" {
            return;
        }
        if stands_for_other_files(&path) || self.scope.may_be_in_unknown_directory(&path) {
            self.note_unknown_code(format!("the script {path}"), context);
            return;
        }
        let file_context = context.named(path.clone());
        for candidate in self.scope.possible_paths(&path) {
            match self.surroundings.script(&candidate) {
                ScriptFile::Text(text) => {
                    self.add_script_of_file(&candidate, &text, file_context.clone());
                }
                ScriptFile::NotThere => {}
                ScriptFile::TooLong(text) => {
                    self.note_unread_file(&candidate, &text, context);
                }
                ScriptFile::NotRead => self.note_unread_file(&candidate, "", context),
            }
        }
    }

    /// Notes a script file that is not read as unknown code. `beginning` is what is known of its text.
    fn note_unread_file(&mut self, path: &str, beginning: &str, context: &Context) {
        self.note_mentions(&known(beginning));
        self.note_unknown_code(format!("the unread script {path}"), context);
    }

    /// Adds the text of a script file, and its directory to those in which further files may stand: many scripts go
    /// there first. `path` is the one by which the file was found. A new directory asks for another round, as files
    /// that were missing may stand in it.
    fn add_script_of_file(&mut self, path: &str, text: &str, context: Context) {
        self.needs_another_round |= self.scope.add_directory_of_script(path);
        self.add_script(&known(text), context);
    }

    /// Reads the program of the command as a script if it is a file that a shell runs, or a function that bash has
    /// exported, which may have any name. A name without a slash is taken for a program of the system, unless a
    /// directory that is known has a script of this name. A path that may mean an unknown file is unknown code.
    pub(super) fn read_program_as_script(
        &mut self,
        command: &ExpandedCommand<'_>,
        context: &Context,
    ) {
        let Some(program) = command.words.get(command.program_index) else {
            return;
        };
        let Some(path) = exact(&program.text) else {
            self.note_unknown_program(program, context);
            return;
        };
        // Only a shell runs functions, and backoff runs its own command without one.
        if context.location != Location::Command
            && let Some(function) = self.scope.exported_function(&path)
        {
            let context = context.named(format!("the function {path}"));
            self.add_script(&known(&function), context);
        }
        // On another machine, files are others.
        if context.is_elsewhere() {
            return;
        }
        // A name such as `[`, without a slash, is no pattern, but a program.
        let may_name_file = path.contains('/') || path.contains("{}");
        if may_name_file && stands_for_other_files(&path) {
            self.note_unknown_code(format!("the program {path}"), context);
        }
        if is_relative_path(&path) && self.scope.may_be_in_unknown_directory(&path) {
            self.note_unknown_code(format!("the program {path}"), context);
        }
        self.read_word_as_script_file(command, command.program_index, context);
    }

    /// Notes a program with an unknown part as unknown code if it may be a script: its name behind a slash is unknown
    /// (`./"$name"`), or a script with this end of its path stands in backoff's directory or in one to which a script
    /// may go (`"$DIR/post.sh"`). Does nothing for a program without a slash, which is at most a guessed call
    /// (`add_guessed_calls`), and for one of another machine.
    pub(super) fn note_unknown_program(&mut self, program: &Word, context: &Context) {
        let is_elsewhere = context.is_elsewhere();
        if is_elsewhere || !program.text.contains(&Symbol::Known('/')) {
            return;
        }
        let path = shown(&program.text);
        let known_end = path.rsplit("...").next().unwrap_or_default();
        let has_known_name = known_end.starts_with('/') && !stands_for_other_files(known_end);
        if !has_known_name || self.is_script_file(known_end.trim_start_matches('/')) {
            self.note_unknown_code(format!("the program {}", program.shown_origin()), context);
        }
    }

    /// Returns true if a file of this relative path is a script that a shell runs, in backoff's directory or any to
    /// which a script may go.
    fn is_script_file(&self, path: &str) -> bool {
        let mut paths = self.scope.possible_paths(path).into_iter();
        paths.any(|path| match self.surroundings.script(&path) {
            ScriptFile::Text(text) | ScriptFile::TooLong(text) => shells::runs_in_shell(&text),
            ScriptFile::NotThere | ScriptFile::NotRead => false,
        })
    }

    /// Reads the word at this index as a script file: the program itself, or any other word with a slash that names the
    /// script of a shell, as some unknown wrapper may run it (`unshare ./post.sh`). Any other file adds nothing, nor
    /// does one that cannot be read: unlike in [`Self::read_script_file`], it may be no script at all.
    pub(super) fn read_word_as_script_file(
        &mut self,
        command: &ExpandedCommand<'_>,
        index: usize,
        context: &Context,
    ) {
        let Some(path) = exact(&command.words[index].text) else {
            return;
        };
        let is_program = index == command.program_index;
        let has_slash = path.contains('/');
        let may_be_file = has_slash || is_program;
        let is_elsewhere = context.is_elsewhere();
        if is_elsewhere || !may_be_file {
            return;
        }
        // A program without a slash is one of the system, unless `PATH` begins with the directory of the file: so the
        // file has to look like a script.
        let is_certainly_run = is_program && has_slash;
        for candidate in self.scope.possible_paths(&path) {
            match self.surroundings.script(&candidate) {
                ScriptFile::Text(text) if may_run_in_shell(&path, &text, is_certainly_run) => {
                    let context = context_of_file(command.words, index, &path, context);
                    self.add_script_of_file(&candidate, &text, context);
                }
                ScriptFile::TooLong(text) if may_run_in_shell(&path, &text, is_certainly_run) => {
                    self.note_unread_file(&candidate, &text, context);
                }
                _ => {}
            }
        }
    }

    /// Notes the directory of `cd` or `pushd`, in which scripts may stand, given the words after that name: the home
    /// directory if there is none. The script's own directory (`cd "$(dirname "$0")"`) adds nothing, although its value
    /// is unknown: it was noted when the script was read. A path behind it (`/hooks`) counts from there, as from each
    /// directory that was noted.
    pub(super) fn read_cd(&mut self, words: &[Word]) {
        let mut operands = words.iter().filter(|word| !is_option(word));
        let Some(word) = operands.next() else {
            return self.note_directory(Some("~".to_owned()));
        };
        match behind_own_directory(word) {
            Some([]) => {}
            Some([Symbol::Known('/'), below @ ..]) => self.note_directory(exact(below)),
            _ => self.note_directory(exact(&word.text)),
        }
    }

    /// Notes a directory to which a script goes; None for an unknown one. If it is new, asks for another round, as more
    /// files may be found then.
    fn note_directory(&mut self, directory: Option<String>) {
        let is_new = match directory {
            Some(directory) => self.scope.add_directory(&directory),
            None => self.scope.allow_unknown_directory(),
        };
        self.needs_another_round |= is_new;
    }

    /// Follows the options of `env`, given the words after that name: reads the text of `-S`, with the words behind it,
    /// as a script, and notes the directory of `-C`. The first word that is no option ends the options. The command
    /// behind them is left to the callers, which look at each word of a command.
    pub(super) fn read_env(&mut self, words: &[Word], context: &Context) {
        let mut unread = words;
        while let Some((word, after)) = unread.split_first() {
            if !is_option(word) {
                return;
            }
            unread = after;
            match option_of_env(&word.text) {
                EnvOption::Script([]) => {
                    return self.add_script(&joined(after), context.clone());
                }
                EnvOption::Script(text) => {
                    let begin = Word {
                        text: text.to_vec(),
                        origin: Rc::clone(&word.origin),
                        output_of: None,
                    };
                    return self.add_script(&joined(&[&[begin], after].concat()), context.clone());
                }
                EnvOption::Directory([]) => {
                    self.note_directory(after.first().and_then(|word| exact(&word.text)));
                    unread = after.get(1..).unwrap_or_default();
                }
                EnvOption::Directory(path) => self.note_directory(exact(path)),
                EnvOption::ValueFollows => unread = after.get(1..).unwrap_or_default(),
                EnvOption::Other => {}
            }
        }
    }
}

/// The meaning of an option of `env` for the command. The text of a variant is the value of the option; it is empty if
/// the value is the next word.
enum EnvOption<'w> {
    /// `-S`: the beginning of a script, to which the next words belong.
    Script(&'w [Symbol]),
    /// `-C`: the directory of the command.
    Directory(&'w [Symbol]),
    /// Another option whose value is the next word.
    ValueFollows,
    /// Any other option, with its value in the same word if it takes one.
    Other,
}

/// Returns what an option of `env` means: `--split-string=TEXT`, `-STEXT`, or letters of which one takes what follows
/// it as its value, as in `-vS TEXT`. A long name may be cut short.
fn option_of_env(text: &[Symbol]) -> EnvOption<'_> {
    if text.starts_with(&known("--")) {
        let NameAndValue { name, value } = name_and_value(text);
        let name = exact(name).unwrap_or_default();
        // The first letter tells the options that matter here from all others of `env`.
        return match name.get(2..3) {
            Some("s") => EnvOption::Script(value.unwrap_or_default()),
            Some("c") => EnvOption::Directory(value.unwrap_or_default()),
            Some("a" | "u") if value.is_none() => EnvOption::ValueFollows,
            _ => EnvOption::Other,
        };
    }
    let takes_value = |symbol: &Symbol| matches!(symbol, Symbol::Known('S' | 'C' | 'a' | 'u'));
    let Some(index) = text.iter().position(takes_value) else {
        return EnvOption::Other;
    };
    let value = &text[index + 1..];
    match text[index] {
        Symbol::Known('S') => EnvOption::Script(value),
        Symbol::Known('C') => EnvOption::Directory(value),
        _ if value.is_empty() => EnvOption::ValueFollows,
        _ => EnvOption::Other,
    }
}

/// Returns the context of the script file that the word at this index names by `path`: the word is its `$0`, and those
/// behind it are its other arguments, which are unknown if one may be several. An `xargs` before it adds unknown ones.
fn context_of_file(words: &[Word], index: usize, path: &str, context: &Context) -> Context {
    let mut arguments = known_parameters(&[], &words[index..]);
    if words[..index].iter().any(|word| adds_words(&word.text))
        && let Some(arguments) = &mut arguments
    {
        arguments.push(unknown(Doubt::AnyWords));
    }
    context.named(path.to_owned()).with_arguments(arguments)
}

/// Returns true if a shell may run a file with this path and text, of which the beginning is enough. A file that is not
/// certainly run has to look like a script of a shell, as a word may name any file; one that is run is a script unless
/// its first line names another interpreter.
fn may_run_in_shell(path: &str, text: &str, is_certainly_run: bool) -> bool {
    if is_certainly_run {
        shells::runs_in_shell(text)
    } else {
        shells::names_shell(text) || path.ends_with(".sh")
    }
}

/// Returns true for a path that stands for other files, which are not known: `{}` of `find -exec sh {}`, `*.sh` as the
/// value of a loop over such files, or a descriptor, which the shell may have opened before.
fn stands_for_other_files(path: &str) -> bool {
    path.contains(['*', '?', '['])
        || path.contains("{}")
        || path.starts_with("/dev/fd/")
        || path.starts_with("/proc/self/fd/")
}

/// Returns true for a path with a slash that does not begin at the root: `./post.sh`, `../post.sh`, `bin/post`.
fn is_relative_path(path: &str) -> bool {
    path.contains('/') && !path.starts_with('/')
}

/// Returns what stands behind the directory of the script itself, with which a word begins: `/hooks` for `"$(dirname
/// "$0")/hooks"`, and an empty text for that directory alone. Returns None for any other word, and if the word may lead
/// to a directory above.
fn behind_own_directory(word: &Word) -> Option<&[Symbol]> {
    let [Symbol::Unknown(_), behind @ ..] = word.text.as_slice() else {
        return None;
    };
    let origin = &word.origin;
    let is_own = origin.contains("dirname")
        && (origin.contains("$0") || origin.contains("BASH_SOURCE"))
        // `..` leads to another directory, and a program behind `|` may change the path.
        && !origin.contains("..")
        && !origin.contains('|');
    is_own.then_some(behind)
}

/// Returns true for an option, which `-` alone is not.
fn is_option(word: &Word) -> bool {
    begins_option(&word.text) && word.text.len() > 1
}
