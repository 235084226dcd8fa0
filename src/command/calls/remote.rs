//! Reads what `ssh` runs: a command on another machine; and the input of a shell there, or in a container. "Reading" a
//! text as a script means: it is added to the search.
//!
//! A `Context` holds what a script gets from its caller (arguments and environment), and where it stands, for messages.

use std::rc::Rc;

use super::client_name::base_name;
use super::expanded_command::ExpandedCommand;
use super::{Calls, Context, Location};
use crate::command::scope::{Frame, Inherited};
use crate::command::shells::{self, OperandsOfShell};
use crate::command::syntax::SimpleCommand;
use crate::command::text::{Symbol, exact, known, may_be_several_words};
use crate::command::word::{Word, joined};
use crate::command::words;

/// Letters of options with a value, from ssh(1) of OpenSSH 9.
const LETTERS_WITH_VALUE: &str = "BbcDEeFIiJLlmOoPpQRSWw";

impl Calls<'_> {
    /// Reads the words after the `ssh` at this index as a script, which a shell on another machine runs, whose
    /// variables are not known: all of them, as a call may stand in an option (`-o ProxyCommand=`), and the remote
    /// command by itself, whose first word is a program. The first of all is none, but an option or the host, unless a
    /// variable before the remote command may be several words. If the remote command is a shell that runs its input,
    /// reads that instead; so, too, without a remote command, if the script gives ssh an input of its own, as ssh then
    /// starts a shell.
    pub(super) fn read_ssh(&mut self, command: &ExpandedCommand<'_>, name_index: usize) {
        let words = &command.words[name_index + 1..];
        let context = context_of_remote(Inherited::None);
        let remote = remote_command(words);
        let before = &words[..words.len() - remote.len()];
        let mut script = joined(words);
        if !before.iter().any(|word| may_be_several_words(&word.text)) {
            // A host in a variable is no program.
            script.splice(..0, known(": "));
        }
        self.add_script(&script, context.clone());
        let runs_input = if remote.is_empty() {
            command.has_input()
        } else {
            runs_its_input(&joined(remote))
        };
        if runs_input {
            // Files of the input are those of this machine, but not the variables.
            let context = context_of_remote(Inherited::Unknown);
            self.read_standard_input("ssh", command, name_index, &context);
        } else {
            self.add_script(&joined(remote), context);
        }
    }

    /// Reads the input of a shell in a container, which comes from this machine: `docker exec -i web sh <file`. To
    /// `read_shell`, which has read the same shell, files of this machine are not there, so that it left this one out.
    /// `contexts` are those of the words.
    pub(super) fn read_input_of_containers(
        &mut self,
        command: &ExpandedCommand<'_>,
        contexts: &[Context],
    ) {
        // The whole command runs elsewhere, where its input comes from, too.
        if contexts[0].is_elsewhere() {
            return;
        }
        let words = command.words.iter().map(|word| base_name(&word.text));
        let mut shells_elsewhere = words
            .enumerate()
            .filter(|(index, name)| contexts[*index].is_elsewhere() && shells::is_shell(name));
        // Words behind the first one belong to it.
        let Some((index, name)) = shells_elsewhere.next() else {
            return;
        };
        let operands = shells::operands_of_shell(&command.words[index + 1..]);
        if matches!(operands, OperandsOfShell::StandardInput { .. }) {
            let context = context_of_remote(Inherited::Unknown);
            self.read_standard_input(&name, command, index, &context);
        }
    }
}

/// Returns the context of a script on another machine or in a container, whose arguments are not known. `environment`
/// is `None` for what is found there, and `Unknown` for an input from this machine, whose files have to be read.
fn context_of_remote(environment: Inherited) -> Context {
    Context {
        frame: Rc::new(Frame {
            arguments: None,
            environment,
        }),
        location: Location::Script("the command of ssh".into()),
    }
}

/// Returns the words that ssh sends to the other machine, given the words after its name: those behind the name of the
/// machine and the options before and after it. Empty if ssh only starts a shell there. An unknown word counts as no
/// option.
fn remote_command(words: &[Word]) -> &[Word] {
    let mut has_host = false;
    let mut unread = words;
    while let Some((word, after)) = unread.split_first() {
        let text = exact(&word.text).unwrap_or_default();
        unread = match text.strip_prefix('-') {
            None if has_host => return unread,
            None => {
                has_host = true;
                after
            }
            Some(letters) => {
                let value_follows = letters
                    .find(|letter| LETTERS_WITH_VALUE.contains(letter))
                    .is_some_and(|index| index + 1 == letters.len());
                after.get(usize::from(value_follows)..).unwrap_or_default()
            }
        };
    }
    unread
}

/// Returns true if a script has a command that is a shell without a script and an input of its own, so that it runs the
/// input of the whole: `cd x && bash -s`.
fn runs_its_input(script: &[Symbol]) -> bool {
    let parsed = words::parse(script);
    let mut commands = parsed.scripts.iter().flat_map(|script| &script.commands);
    commands.any(is_shell_without_script)
}

/// Returns true if a command is a shell that runs its standard input, and gets none by a pipe or a redirection. `su`
/// and `sudo -s`, which start one, do not count.
fn is_shell_without_script(command: &SimpleCommand) -> bool {
    // An expansion is no name of a shell.
    let words: Vec<Word> = command
        .words
        .iter()
        .map(|word| Word::exact(&word.literal().unwrap_or_default()))
        .collect();
    let program_index = ExpandedCommand::new(&words, None).program_index;
    let Some((program, arguments)) = words[program_index..].split_first() else {
        return false;
    };
    let operands = shells::operands_of_shell(arguments);
    shells::is_shell(&base_name(&program.text))
        && !command.has_input()
        && matches!(operands, OperandsOfShell::StandardInput { .. })
}
