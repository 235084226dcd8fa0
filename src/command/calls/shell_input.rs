//! Reads the standard input of a shell as a script: a here-document, a file, or what the commands before it in a
//! pipeline print. Input that may come from this machine in another way is unknown code, while the output of a download
//! adds nothing: most installers are run so. "Reading" a text as a script means: it is added to the search.
//!
//! A `Context` holds what a script gets from its caller (arguments and environment), and where it stands, for messages.
//! Unknown code is code that cannot be read: it counts as a call of curl or wget that may send data. In the list of a
//! script's commands, a command is followed by copies of parts of it that may run by themselves: `./x` in
//! `function f { ./x`.

use super::client_name::base_name;
use super::downloads::{PRINTERS, runs_client};
use super::expanded_command::{CommandInScript, ExpandedCommand};
use super::{Calls, Context};
use crate::command::scope::Frame;
use crate::command::syntax::{Script, SimpleCommand};
use crate::command::text::{Symbol, exact, known, may_be_several_words, may_hold_code, shown};
use crate::command::word::{Word, joined};
use crate::command::words::OPENERS;
use crate::command::{expansion, shells, wrappers};

/// Words that begin the head of a compound command, which prints nothing itself. `}` does in `} always {` of zsh.
const HEADS: [&str; 8] = [
    "[[", "coproc", "for", "foreach", "function", "repeat", "select", "}",
];

impl Calls<'_> {
    /// Reads the standard input of a shell as a script: a here-document, a file, or what the commands before the shell
    /// in its pipeline print. `shell` is the name of the shell, or of a program that starts one (`su`, `ssh`), for
    /// messages, and `shell_index` its place in the command, or that of a program that runs it in a container. The
    /// script gets the arguments of `context`. The input of backoff's own command cannot be read before it runs, nor
    /// that of a shell without any input of its own, which an earlier `exec <file` may have opened: such an input is
    /// unknown code, if the shell is the program.
    pub(super) fn read_standard_input(
        &mut self,
        shell: &str,
        command: &ExpandedCommand<'_>,
        shell_index: usize,
        context: &Context,
    ) {
        // A shell that is an argument may be no shell at all: `apt install bash`.
        let is_program = is_program(command.words, shell_index);
        let what = format!("the input of {shell}");
        let Some(in_script) = command.in_script else {
            if is_program {
                self.note_unknown_code(what, context);
            }
            return;
        };
        let reader = &in_script.script.commands[in_script.index];
        if is_program && !reader.has_input() {
            self.note_unknown_code(what.clone(), context);
        }
        let context = context.named(what);
        self.read_redirected_input(reader, in_script.frame, &context);
        self.read_pipeline(in_script, &context);
    }

    /// Reads the input of the shell that `su`, `sudo -s`, `at` and others start if they get no command, given the index
    /// of that name. Reads nothing for another name.
    pub(super) fn read_input_of_user_shell(
        &mut self,
        name: &str,
        command: &ExpandedCommand<'_>,
        name_index: usize,
        context: &Context,
    ) {
        if starts_user_shell(command.words, name_index) {
            self.read_standard_input(name, command, name_index, context);
        }
    }

    /// Reads as scripts what the commands write that stand before the shell in its pipeline, and their own inputs,
    /// which they may pass on (`cat <file | sh`). `shell_command` is the command with the shell, which may be a copy. A
    /// command with copies is one member of the pipeline: which of them prints is not certain, so all are read. The
    /// output of a group is unknown code, unless it can only be a download.
    fn read_pipeline(&mut self, shell_command: CommandInScript<'_>, context: &Context) {
        let CommandInScript {
            script,
            index,
            frame,
        } = shell_command;
        let mut reader = outer_command(script, index);
        while script.commands[reader].reads_pipe && reader > 0 {
            let reads_group = script.commands[reader].reads_group;
            if reads_group && !self.is_download(&script.commands[..reader], frame) {
                self.note_unknown_code("the output of a group of commands", context);
            }
            let writer = outer_command(script, reader - 1);
            let reads_pipe = script.commands[writer].reads_pipe;
            self.read_redirected_input(&script.commands[writer], frame, context);
            // If the writer ends a group, the group as a whole begins the pipeline, and was judged above.
            let input = if reads_pipe || reads_group {
                WriterInput::Pipe
            } else if script.commands[writer].has_input() {
                WriterInput::Own
            } else {
                WriterInput::Unknown
            };
            for command in behind_heads(&script.commands[writer..reader]) {
                for words in expansion::commands(&self.scope, &command.words, frame) {
                    self.read_writer(&words, input, context);
                }
            }
            reader = writer;
        }
    }

    /// Reads as a script what a command with these words prints, if that can be told. If it cannot, the output is
    /// unknown code at the beginning of a pipeline; behind a pipe, only if it may come from a local file.
    fn read_writer(&mut self, words: &[Word], input: WriterInput, context: &Context) {
        let words = &words[index_of_writer(words)..];
        self.read_printed(words, context);
        if input != WriterInput::Pipe {
            self.note_unknown_source(words, input, context);
        }
    }

    /// Reads the here-documents and files that a command has as its standard input, each as a script of this context:
    /// the command is a shell that runs them, or may write them to one. `frame` is that of the script in which the
    /// command stands: its shell expands them, while the one that runs them may be on another machine.
    fn read_redirected_input(&mut self, command: &SimpleCommand, frame: &Frame, context: &Context) {
        for input in &command.input {
            for text in expansion::texts(&self.scope, input, frame) {
                self.add_script(&text, context.clone());
            }
        }
        for file in &command.input_files {
            let file = std::slice::from_ref(file);
            for words in expansion::commands(&self.scope, file, frame) {
                // A shell refuses a name of several words.
                if let [word] = words.as_slice() {
                    self.read_script_file(word, context);
                }
            }
        }
    }

    /// Reads what a command prints to a shell as a script: the words of `echo` and `printf`, or the files of `cat`. Any
    /// other command that gets the name of a local file may print this file, changed, and a local program may print
    /// anything: these outputs are unknown code. `words` begin with the program; without any, nothing is printed.
    fn read_printed(&mut self, words: &[Word], context: &Context) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        let name = exact(&program.text).unwrap_or_default();
        match name.as_str() {
            "echo" | "printf" => {
                let text = joined(arguments);
                // The printed text is not that of the words.
                let is_changed = match name.as_str() {
                    "printf" => !is_plain_format(arguments),
                    _ => has_escape(&text),
                };
                if is_changed || may_hold_code(&text) {
                    let origin = arguments.first().map(Word::shown_origin);
                    let origin = origin.unwrap_or_default();
                    self.note_unknown_code(format!("the script {origin}"), context);
                }
                self.add_script(&text, context.clone());
            }
            "cat" => {
                for word in arguments {
                    self.read_script_file(word, context);
                }
            }
            _ => {
                let words = behind_numbers(&name, arguments);
                if self.may_be_local_file(program) {
                    let what = format!("the output of {}", program.shown_origin());
                    self.note_unknown_code(what, context);
                } else if let Some(file) = words.iter().find(|word| self.may_be_local_file(word)) {
                    let what = format!("the output of {name} {}", file.shown_origin());
                    self.note_unknown_code(what, context);
                }
            }
        }
    }

    /// Notes a command at the beginning of a pipeline to a shell as unknown code if its output is neither a download
    /// nor read by [`Self::read_printed`]: that of any program (`gunzip -c x.gz`) except curl, wget, `echo` and
    /// `printf`, of a `cat` that passes on an input which is not known, and of a function, whatever its name is.
    fn note_unknown_source(&mut self, words: &[Word], input: WriterInput, context: &Context) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        let name = exact(&program.text).unwrap_or_default();
        let is_download = runs_client(words);
        let is_read = match name.as_str() {
            "cat" => input == WriterInput::Own || !reads_standard_input(arguments),
            name => PRINTERS.contains(&name),
        };
        let is_known = is_download || is_read;
        if !is_known || self.scope.may_be_function(&name) {
            self.note_unknown_code(format!("the output of {}", program.shown_origin()), context);
        }
    }
}

/// The standard input of a command that writes to a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriterInput {
    /// The output of the command before it, or of the group whose end it is.
    Pipe,
    /// A file or a here-document, which is read as a script.
    Own,
    /// The input of the commands around the pipeline.
    Unknown,
}

/// Returns true if `cat` with these arguments may print its standard input: without any file, or by `-` or a file like
/// `/dev/stdin`.
fn reads_standard_input(arguments: &[Word]) -> bool {
    let is_option = |text: &String| text.starts_with('-') && text.len() > 1;
    let texts = arguments.iter().map(|word| shown(&word.text));
    let files: Vec<String> = texts.filter(|text| !is_option(text)).collect();
    files.is_empty()
        || files
            .iter()
            .any(|file| file == "-" || file.starts_with("/dev/"))
}

/// Returns the index of the command of which the command at this index is a copy; the index itself if it is none.
fn outer_command(script: &Script, index: usize) -> usize {
    let outer = script.commands[..=index]
        .iter()
        .rposition(|command| !command.is_copy);
    outer.unwrap_or(index)
}

/// Returns the index of the word that is the program of a command which writes to a pipe. If there are only wrappers,
/// the last of them is the program: it may print something itself (`env`), or take its command from an option (`env -S
/// ./gen.sh`). Returns the number of words if the command runs nothing.
fn index_of_writer(words: &[Word]) -> usize {
    let program_index = ExpandedCommand::new(words, None).program_index;
    if program_index < words.len() {
        return program_index;
    }
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let wrapper = (0..words.len()).find(|index| wrappers::lacks_command(&texts[*index..]));
    wrapper.unwrap_or(words.len())
}

/// Returns the commands that may print, given a command and its copies: without those in front that begin with the head
/// of a compound command, as a copy behind them holds what runs. The last one always stays.
fn behind_heads(commands: &[SimpleCommand]) -> &[SimpleCommand] {
    let may_be_heads = &commands[..commands.len().saturating_sub(1)];
    let heads = may_be_heads
        .iter()
        .take_while(|command| begins_with_head(command));
    &commands[heads.count()..]
}

/// Returns true for a command that begins with the head of a compound one, behind reserved words at most:
/// `function f { ./x`, `if [[ a ]] ./x`.
fn begins_with_head(command: &SimpleCommand) -> bool {
    let first = command.words.iter().find(|word| {
        word.bare()
            .is_none_or(|word| !OPENERS.contains(&word.as_str()))
    });
    first.is_some_and(|word| {
        let bare = word.bare().unwrap_or_default();
        HEADS.contains(&bare.as_str()) || word.is_arithmetic()
    })
}

/// Returns true if the word at this index is the program that a command runs: only reserved words, assignments and
/// known wrappers stand before it. It may be a wrapper itself, such as `sudo -s`.
fn is_program(words: &[Word], index: usize) -> bool {
    let before = &words[..index];
    ExpandedCommand::new(before, None).program_index == index
}

/// Returns true if the word at this index starts a shell without a command, which runs its input: that of another user
/// or group, or one that `at` starts later. Most of these names are too common as arguments of other commands (`grep at
/// <file`), where they do not count.
pub(super) fn starts_user_shell(words: &[Word], index: usize) -> bool {
    let name = base_name(&words[index].text);
    let may_be_argument = !matches!(name.as_str(), "su" | "sudo" | "doas" | "runuser");
    if may_be_argument && !is_program(words, index) {
        return false;
    }
    starts_shell_without_command(&name, &words[index..])
}

/// Returns true if these words, which begin with the program of this name, make it start a shell without a command for
/// it, so that the shell runs its input. Returns false for a program that starts no shell.
fn starts_shell_without_command(name: &str, words: &[Word]) -> bool {
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut options = texts.iter().take_while(|text| **text != "--");
    if options.any(|option| shells::asks_for_text(option)) {
        return false;
    }
    let gives_command = |text: &&str| has_letter(text, "c") || text.starts_with("--c");
    let has_command = texts.iter().any(gives_command);
    match name {
        "su" | "newgrp" => !has_command,
        // Behind the name of the group, a command may stand without `-c`.
        "sg" => texts[1..].iter().filter(|text| **text != "-").count() < 2,
        // With `-u`, `runuser` runs a command and never a shell by itself.
        "runuser" => {
            let names_user = |text: &&str| has_letter(text, "u") || text.starts_with("--u");
            !has_command && !texts.iter().any(names_user)
        }
        // With these options, `at` reads a file, or lists or removes what was given to it before.
        "at" | "batch" => !texts.iter().any(|text| has_letter(text, "cdflrV")),
        "sudo" | "doas" => {
            texts.iter().any(|text| has_letter(text, "si")) && wrappers::lacks_command(&texts)
        }
        _ => false,
    }
}

/// Returns true for a word of short options with one of these letters.
fn has_letter(word: &str, letters: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    is_short && word.contains(|c| letters.contains(c))
}

/// Returns the arguments of a program without the numbers of lines and bytes at the beginning of those of `head` and
/// `tail`, which name no file: `tail -n "$(command)"`. A number that may be several words ends the search.
fn behind_numbers<'w>(name: &str, arguments: &'w [Word]) -> &'w [Word] {
    let takes_number = |option: &Word| matches!(exact(&option.text).as_deref(), Some("-n" | "-c"));
    let mut words = arguments;
    while let ("head" | "tail", [option, number, after @ ..]) = (name, words) {
        if !takes_number(option) || may_be_several_words(&number.text) {
            break;
        }
        words = after;
    }
    words
}

/// Returns true if `printf` with these arguments prints them as they are: a format without `%` and `\`, except `\n` at
/// its end; `%s\n`, which prints each value on a line of its own; or `%s` and no more than one value. Only what is
/// known of the format counts: an unknown part that may hold such a sign may also hold code, which the caller asks for.
fn is_plain_format(arguments: &[Word]) -> bool {
    let Some((format, values)) = arguments.split_first() else {
        return true;
    };
    match exact(&format.text).as_deref() {
        Some("%s\\n" | "%s\n") => true,
        Some("%s") => values.len() < 2,
        _ => {
            let line_end = known("\\n");
            let line = format.text.strip_suffix(line_end.as_slice());
            let mut symbols = line.unwrap_or(&format.text).iter();
            let has_sign = symbols.any(|symbol| matches!(symbol, Symbol::Known('%' | '\\')));
            // Such a format prints no values.
            values.is_empty() && !has_sign
        }
    }
}

/// Returns true if a text holds an escape such as `\x63`, of which `echo` may make another character; some shells do so
/// without `-e`. One of a single letter at the end, such as `\n`, changes no word of a script, and does not count.
fn has_escape(text: &[Symbol]) -> bool {
    text.windows(3).any(|signs| match signs {
        [Symbol::Known('\\'), Symbol::Known(letter), _] => {
            letter.is_ascii_alphanumeric() || *letter == '\\'
        }
        _ => false,
    })
}
