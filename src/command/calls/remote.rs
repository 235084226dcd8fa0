//! Reads what `ssh` runs: a command on another machine, and commands of its options on this one; and the input of a
//! shell there, or in a container. "Reading" a text as a script means: it is added to the search.
//!
//! A `Context` holds what a script gets from its caller (arguments and environment), and where it stands, for messages.
//! Unknown code is code that cannot be read: it counts as a call of curl or wget that may send data.

use std::rc::Rc;

use super::client_name::base_name;
use super::command::ELSEWHERE;
use super::expanded_command::ExpandedCommand;
use super::scripts::begins_unknown;
use super::shell_input::starts_user_shell;
use super::{Calls, Context, Location};
use crate::command::scope::{Frame, Inherited};
use crate::command::shells::{self, OperandsOfShell};
use crate::command::syntax::SimpleCommand;
use crate::command::text::{Symbol, exact, known, may_be_several_words};
use crate::command::word::{Word, joined};
use crate::command::words;

/// Letters of options with a value, from ssh(1) of OpenSSH 9.
const LETTERS_WITH_VALUE: &str = "BbcDEeFIiJLlmOoPpQRSWw";
/// Letters of options with which ssh runs nothing on the other machine, or gives no input to it.
const LETTERS_WITHOUT_SHELL: &str = "fGNnOQVW";
/// Options of ssh whose value is a command for this machine, in small letters.
const LOCAL_COMMANDS: [&str; 3] = ["proxycommand", "localcommand", "knownhostscommand"];

/// Programs that start another one in a container, and give it their input only with an option.
const NEED_OPTION_FOR_INPUT: [&str; 5] = ["docker", "podman", "nerdctl", "kubectl", "oc"];

impl Calls<'_> {
    /// Reads the words after the `ssh` at this index as scripts of a shell on another machine, where variables are not
    /// known: first all of them as one script, as a call may stand in an option (`-o ProxyCommand=`), then the remote
    /// command alone, whose first word is a program. If that command is a shell that runs its input, or there is none,
    /// so that ssh starts a shell, reads the input in its place.
    pub(super) fn read_ssh(&mut self, command: &ExpandedCommand<'_>, name_index: usize) {
        let words = &command.words[name_index + 1..];
        let context = context_of_remote("ssh", Inherited::None);
        let remote = remote_command(words);
        let before = &words[..words.len() - remote.len()];
        let mut script = joined(words);
        if !before.iter().any(|word| may_be_several_words(&word.text)) {
            // `:` makes the first word an argument: an option or the host (`$HOST`) is no program. But behind a
            // variable of several words, any word may be the program.
            script.splice(..0, known(": "));
        }
        self.add_script(&script, context.clone());
        let runs_input = if remote.is_empty() {
            starts_shell(before)
        } else {
            runs_its_input(&joined(remote))
        };
        if runs_input {
            // The files that the input comes from are those of this machine, but its variables are not.
            let context = context_of_remote("ssh", Inherited::Unknown);
            self.read_standard_input("ssh", command, name_index, &context);
        } else {
            self.add_script(&joined(remote), context);
        }
    }

    /// Reads the commands that ssh, scp or sftp run on this machine as their options say: `-o ProxyCommand=./proxy`.
    /// One that begins with an unknown part is unknown code. Reads nothing if the word at this index is another name.
    /// `context` is that of the name itself, as only behind it files are those of another machine.
    pub(super) fn read_local_commands_of_ssh(
        &mut self,
        words: &[Word],
        name_index: usize,
        context: &Context,
    ) {
        let name = base_name(&words[name_index].text);
        if !["ssh", "scp", "sftp"].contains(&name.as_str()) {
            return;
        }
        for word in &words[name_index + 1..] {
            let Some(script) = local_command(&word.text) else {
                continue;
            };
            if begins_unknown(script) {
                self.note_unknown_code(format!("the command {}", word.shown_origin()), context);
            }
            let context = context.named("a command of ssh on this machine".to_owned());
            self.add_script(script, context.with_arguments(None));
        }
    }

    /// Reads the input of a shell in a container, which comes from this machine: `docker exec -i web sh <file`.
    /// `read_shell`, which has read the same shell, has left out such files, as it takes all files behind `docker` for
    /// those of the container. `contexts` are those of the words.
    pub(super) fn read_input_of_containers(
        &mut self,
        command: &ExpandedCommand<'_>,
        contexts: &[Context],
    ) {
        // The whole command runs elsewhere, and its input comes from there as well.
        if contexts[0].is_elsewhere() {
            return;
        }
        let words = command.words;
        let first = contexts.iter().position(Context::is_elsewhere);
        let first = first.unwrap_or(words.len());
        let is_shell = |index: &usize| {
            shells::is_shell(&base_name(&words[*index].text)) || starts_user_shell(words, *index)
        };
        // Words behind the first shell belong to it.
        let Some(index) = (first..words.len()).find(is_shell) else {
            return;
        };
        if runs_input(words, index) && (command.has_input() || passes_input_on(&words[..index])) {
            let shell = base_name(&words[index].text);
            // It gets the input.
            let runner_index = first - 1;
            let runner = base_name(&words[runner_index].text);
            let context = context_of_remote(&runner, Inherited::Unknown);
            self.read_standard_input(&shell, command, runner_index, &context);
        }
    }
}

/// Returns the command in an option that ssh runs on this machine, in any of the forms `-oProxyCommand=TEXT`,
/// `ProxyCommand=TEXT` and `ProxyCommand TEXT`. Returns None for any other word.
fn local_command(word: &[Symbol]) -> Option<&[Symbol]> {
    let option = word.strip_prefix(known("-o").as_slice()).unwrap_or(word);
    let is_sign = |symbol: &Symbol| matches!(symbol, Symbol::Known('=' | ' '));
    let sign = option.iter().position(is_sign)?;
    let name = exact(&option[..sign])?.to_ascii_lowercase();
    LOCAL_COMMANDS
        .contains(&name.as_str())
        .then_some(&option[sign + 1..])
}

/// Returns the context of a script that this program (`ssh`, `docker`) runs on another machine or in a container, whose
/// arguments are not known. `environment` is `Inherited::None` for what is found there, and `Inherited::Unknown` for an
/// input from this machine, whose files have to be read.
fn context_of_remote(runner: &str, environment: Inherited) -> Context {
    Context {
        frame: Rc::new(Frame {
            arguments: None,
            environment,
        }),
        location: Location::Script(format!("the command of {runner}").into()),
    }
}

/// Returns the words that ssh sends to the other machine, given the words after its name: those behind the name of the
/// machine and the options before and after it. Empty if there is no command. An unknown word counts as no option.
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
                let value_follows = index_of_value(letters) == Some(letters.len());
                after.get(usize::from(value_follows)..).unwrap_or_default()
            }
        };
    }
    unread
}

/// Returns the index behind the first of these option letters of ssh that takes a value, where the value begins if it
/// stands in the same word. Returns None if no letter takes one.
fn index_of_value(letters: &str) -> Option<usize> {
    let letter_index = letters.find(|letter| LETTERS_WITH_VALUE.contains(letter))?;
    Some(letter_index + 1)
}

/// Returns true if ssh with these words after its name, which hold no command for the other machine, starts a shell
/// there that gets the input of ssh: there is any word, which may name the machine, and no option keeps ssh from it.
fn starts_shell(words: &[Word]) -> bool {
    let keeps_from_it = words.iter().any(|word| {
        let text = exact(&word.text).unwrap_or_default();
        if shells::asks_for_text(&text) {
            // ssh refuses it.
            return true;
        }
        text.strip_prefix('-').is_some_and(|letters| {
            let end = index_of_value(letters).unwrap_or(letters.len());
            letters[..end].contains(|letter| LETTERS_WITHOUT_SHELL.contains(letter))
        })
    });
    !words.is_empty() && !keeps_from_it
}

/// Returns true if a script has a command that is a shell with neither a script nor an input of its own, so that the
/// shell runs the input of the whole script: `cd x && bash -s`.
fn runs_its_input(script: &[Symbol]) -> bool {
    let parsed = words::parse(script);
    let mut commands = parsed.scripts.iter().flat_map(|script| &script.commands);
    commands.any(is_shell_that_runs_input)
}

/// Returns true if a command starts a shell that runs its standard input, and the command has no pipe or redirection
/// for it. The shell may run on yet another machine.
fn is_shell_that_runs_input(command: &SimpleCommand) -> bool {
    // An expansion is no name of a shell.
    let words: Vec<Word> = command
        .words
        .iter()
        .map(|word| Word::exact(&word.literal().unwrap_or_default()))
        .collect();
    let program_index = ExpandedCommand::new(&words, None).program_index;
    let elsewhere = words
        .iter()
        .position(|word| ELSEWHERE.contains(&base_name(&word.text).as_str()));
    let mut indexes = 0..words.len();
    !command.has_input()
        && indexes.any(|index| {
            let is_behind = elsewhere.is_some_and(|elsewhere| elsewhere < index);
            let gets_input = if is_behind {
                passes_input_on(&words[..index])
            } else {
                index == program_index || starts_user_shell(&words, index)
            };
            gets_input && runs_input(&words, index)
        })
}

/// Returns true if the word at this index is a shell that runs its standard input, or a program that starts one.
fn runs_input(words: &[Word], index: usize) -> bool {
    let name = base_name(&words[index].text);
    let behind = &words[index + 1..];
    if name == "ssh" {
        return remote_command(behind).is_empty() && starts_shell(behind);
    }
    let operands = shells::operands_of_shell(behind);
    let runs_input = matches!(operands, OperandsOfShell::StandardInput { .. });
    shells::is_shell(&name) && runs_input || starts_user_shell(words, index)
}

/// Returns true if the program that runs a shell elsewhere gives its input to the shell, given the words before the
/// shell: `docker` and the like only do with `-i`, and not in the background (`-dit`), while `docker compose`, `ssh`
/// and others always do.
fn passes_input_on(words: &[Word]) -> bool {
    let texts: Vec<String> = words.iter().map(|word| base_name(&word.text)).collect();
    let has = |names: &[&str]| texts.iter().any(|text| names.contains(&text.as_str()));
    let letters = texts.iter().filter_map(|text| text.strip_prefix('-'));
    let short = letters.filter(|letters| !letters.starts_with('-'));
    // In other words of letters, `d` may belong to a value.
    let is_detached = |letters: &str| {
        letters.contains('d') && letters.chars().all(|letter| "diqtP".contains(letter))
    };
    let in_background = has(&["--detach"]) || short.clone().any(is_detached);
    let has_option =
        has(&["--interactive", "--stdin"]) || short.clone().any(|letters| letters.contains('i'));
    let needs_option = has(&NEED_OPTION_FOR_INPUT) && !has(&["compose"]);
    !needs_option || has_option && !in_background
}
