//! Reads one command: the calls of clients among its words, and the scripts that it runs.
//!
//! No list of wrappers is needed to find a call: any word that names a client begins one. The known wrappers only tell
//! which word is the program, as it may be a script, or a call if its name is unknown.
//!
//! A client is curl or wget. A `Context` holds what a command or script gets from its caller (arguments and
//! environment), and where it stands, for messages. Unknown code is code that cannot be read: it counts as a call that
//! may send data. All commands are read in rounds, each of which begins from nothing, until one finds no more. A
//! `Feeder` is `xargs` or `parallel`: it runs a command with words of its input at the end or in the place of marks.

use std::cmp::Ordering;
use std::rc::Rc;

use super::client_name::{base_name, is_named, may_be_named};
use super::expanded_command::ExpandedCommand;
use super::feeders::{Feeder, MOST_WORDS_OF_WRAPPER, words_of_call};
use super::{Call, Calls, Certainty, Context, MOST_CALLS};
use crate::command::http::tables::CLIENTS;
use crate::command::scope::{Frame, Inherited};
use crate::command::shells;
use crate::command::text::{Symbol, begins_option, exact, name_and_value};
use crate::command::word::Word;

/// Programs that run a command on another machine or in a container.
pub(super) const ELSEWHERE: [&str; 12] = [
    "ssh",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "lxc",
    "vagrant",
    "chroot",
    "nsenter",
    "multipass",
    "machinectl",
];

/// Programs behind which variables may be missing.
const MAY_CLEAR_VARIABLES: [&str; 7] = [
    "env",
    "sudo",
    "doas",
    "su",
    "runuser",
    "setpriv",
    "systemd-run",
];

impl Calls<'_> {
    /// Adds the calls in one command to the findings of this round, and the scripts that it runs to those to be read. A
    /// word may begin a call, run a script, or be a script that some unknown program runs. Words behind `eval` and
    /// `ssh` are read only as the script that these make of them.
    pub(super) fn read_command(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        self.add_guessed_calls(command, context);
        let feeder = Feeder::before(command.words, command.words.len());
        let Some(feeder) = feeder else {
            return self.read_words(command, command, context);
        };
        // In scripts, a mark such as `{}` counts as unknown, as code may be put in its place.
        let words = feeder.with_unknown_marks(command.words);
        let fed_command = ExpandedCommand::new(&words, command.in_script);
        let contexts = contexts_of_words(&fed_command, context);
        self.read_fed_command(&feeder, command, &words, &contexts[feeder.first]);
        self.read_words(command, &fed_command, context);
    }

    /// Reads each word of a command: as the name of a client, a program that runs scripts, or a script itself. Scripts
    /// are read as they stand in `scripts`, which is the same command, word for word, with each mark of `xargs` or
    /// `parallel` unknown. Behind the last of `MOST_CALLS` parts (calls and scripts), the words count as unknown code.
    fn read_words(
        &mut self,
        command: &ExpandedCommand<'_>,
        scripts: &ExpandedCommand<'_>,
        context: &Context,
    ) {
        let contexts = contexts_of_words(scripts, context);
        let read_count = words_read_alone(scripts.words);
        // By this count of calls and scripts so far, calls get their IDs.
        let mut part_count = 0;
        for index in 0..read_count {
            let is_call = self.add_named_call(command.words, index, context, part_count);
            // A script that a word runs has the context behind it: behind `sudo`, fewer variables are known.
            let runs_scripts = self.read_scripts_of_word(scripts, index, &contexts[index + 1]);
            self.read_possible_program(scripts, index, &contexts[index]);
            self.read_local_commands_of_ssh(scripts.words, index, &contexts[index]);
            if is_call || runs_scripts {
                part_count += 1;
            }
            if part_count == MOST_CALLS {
                self.note_unknown_code("a command of many parts", context);
                return;
            }
        }
        self.read_input_of_containers(scripts, &contexts);
        self.read_program_as_script(scripts, &contexts[scripts.program_index]);
        for (index, word) in scripts.words[..read_count].iter().enumerate() {
            // The script of `sh -c` was added above, with its arguments.
            if index != scripts.script_index {
                // As the innermost program would run it, with the fewest variables known.
                self.add_possible_scripts(word, &contexts[read_count]);
            }
        }
    }

    /// Adds the parts of a word that may be scripts and mention a client.
    fn add_possible_scripts(&mut self, word: &Word, context: &Context) {
        for text in possible_scripts(&word.text) {
            self.add_if_client_is_mentioned(text, context);
        }
    }

    /// Reads the word at this index as a script file, as some unknown wrapper may run it. The command's own program is
    /// left to [`Self::read_program_as_script`]. If the word is a `{}` behind `-exec`, `find` puts any file in its
    /// place: this is unknown code.
    fn read_possible_program(
        &mut self,
        command: &ExpandedCommand<'_>,
        index: usize,
        context: &Context,
    ) {
        if is_found_file(command.words, index) {
            self.note_unknown_code("find -exec {}", context);
        }
        if index != command.program_index {
            self.read_word_as_script_file(command, index, context);
        }
    }

    /// Adds a call if the word at this index names a client, and returns true if it does; if it is not certain where
    /// the call ends, adds one for each end, with the same ID. `parts_before` is how many calls and scripts of the
    /// command stand before the call. They make its ID, which so is the same for all values of its variables, unless a
    /// variable before it holds a call or script only in some values: an Idempotency-Key has to be the same in all.
    fn add_named_call(
        &mut self,
        words: &[Word],
        index: usize,
        context: &Context,
        parts_before: usize,
    ) -> bool {
        let name = name_in_word(&words[index].text);
        let client = CLIENTS
            .into_iter()
            .find(|client| is_named(name, client.name));
        let Some(client) = client else {
            return false;
        };
        let call_words = words_of_call(words, index);
        // Words behind one that may end the call may belong to another call, so the call is judged with it and
        // without: in `find -exec curl -d x URL \; -exec curl -G URL \;` the `-G`, which sends no data, is not of the
        // first call.
        let end = call_words
            .iter()
            .position(|word| may_end_call(&word.text))
            .unwrap_or(call_words.len());
        let mut variants = vec![call_words.clone()];
        if end < call_words.len() {
            variants.push(call_words[..end].to_vec());
        }
        for words in variants {
            self.found.push(Call {
                client,
                words,
                location: context.location.clone(),
                certainty: Certainty::Named,
                // The first ID is that of guessed calls.
                id: self.first_id + parts_before + 1,
            });
        }
        true
    }

    /// Adds the scripts that the word at this index runs if it names a shell or another command with scripts (`eval`,
    /// `ssh`); any word may, as an unknown wrapper may run it. `context` is that behind the word; scripts of `ssh` get
    /// another. Returns true for such a name (but not for `sudo`), even if no script is found: the word then counts as
    /// a part of the command. A shell behind the script of another shell is only an argument of that, and does not
    /// count. An `alias -g` is noted as unknown code, as it may change any later command.
    fn read_scripts_of_word(
        &mut self,
        command: &ExpandedCommand<'_>,
        index: usize,
        context: &Context,
    ) -> bool {
        let word = &command.words[index];
        if exact(&word.text).is_none() {
            return false;
        }
        let name = base_name(&word.text);
        if name == "alias" && defines_global_alias(&command.words[index + 1..]) {
            self.note_unknown_code("alias -g", context);
        }
        // Words behind the script of another shell are its arguments, unless `find` runs several commands.
        let is_behind_exec = index > 0 && begins_command_of_find(&command.words[index - 1].text);
        let may_be_program = index < command.script_index || is_behind_exec;
        if shells::is_shell(&name) && may_be_program {
            self.read_shell(command, index, context);
            return true;
        }
        self.read_command_with_scripts(&name, command, index, context)
    }

    /// Adds a call for each client that the command's program may be, if its name is not known (`$CMD`): its words are
    /// judged as the client's, and may send data (`$CMD -d x`). The program that `xargs` or `parallel` runs counts like
    /// the command's own.
    fn add_guessed_calls(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        let feeder = Feeder::before(command.words, command.words.len());
        let fed_index = feeder.map(|feeder| feeder.program_index(command.words));
        for index in [Some(command.program_index), fed_index]
            .into_iter()
            .flatten()
        {
            let Some(program) = command.words.get(index) else {
                continue;
            };
            for client in CLIENTS {
                if may_be_named(&program.text, client.name) {
                    self.found.push(Call {
                        client,
                        words: words_of_call(command.words, index),
                        location: context.location.clone(),
                        certainty: Certainty::Guessed,
                        id: self.first_id,
                    });
                }
            }
        }
    }
}

/// Returns true for a word behind which another command or input may begin: the end of `-exec` of find, the `:::` of
/// parallel, or the name of a client. The call may end before it, and is then judged both ways.
fn may_end_call(text: &[Symbol]) -> bool {
    let is_end =
        exact(text).is_some_and(|text| [";", "+", ":::", ":::+", "::::"].contains(&&*text));
    is_end || CLIENTS.iter().any(|client| is_named(text, client.name))
}

/// Returns the context of each word of a command, and last of what stands behind all words: what a program gets there,
/// which behind `sudo` or `ssh` is not all variables.
fn contexts_of_words(command: &ExpandedCommand<'_>, context: &Context) -> Vec<Context> {
    let mut contexts = vec![context.clone()];
    for index in 0..command.words.len() {
        contexts.push(context_behind(command, index, contexts[index].clone()));
    }
    contexts
}

/// Returns the number of words up to and with the first `eval` or `ssh`, which joins all words after it to one script,
/// so that they are not looked at by themselves; that of all words if there is none. Words behind a path
/// (`/usr/bin/ssh`) are read both ways, which finds no less.
fn words_read_alone(words: &[Word]) -> usize {
    let joining = words
        .iter()
        .position(|word| matches!(exact(&word.text).as_deref(), Some("eval" | "ssh")));
    joining.map_or(words.len(), |index| index + 1)
}

/// Returns the context of what stands behind the word at this index, given that of the word itself. Any word with such
/// a name counts, as an unknown wrapper may run it: behind `sudo` and the like, variables may be missing; behind `ssh`
/// and the like, they are unknown. Files are others only if `ssh` is the program: as a later word, it may be a mere
/// argument (`make docker ./post.sh`), so that files of this machine have to be read; as an earlier one, it is the
/// value of a wrapper's option (`sudo -u vagrant ./post.sh`), and counts like `sudo`. A later word never gives back
/// what an earlier one took.
fn context_behind(command: &ExpandedCommand<'_>, index: usize, context: Context) -> Context {
    let name = base_name(&command.words[index].text);
    let environment = if ELSEWHERE.contains(&name.as_str()) {
        match index.cmp(&command.program_index) {
            Ordering::Less => Inherited::Part,
            Ordering::Equal => Inherited::None,
            Ordering::Greater => Inherited::Unknown,
        }
    } else if MAY_CLEAR_VARIABLES.contains(&name.as_str()) {
        Inherited::Part
    } else {
        return context;
    };
    // The context of the word leaves as little already, or less: a greater environment holds less.
    if environment <= context.frame.environment {
        return context;
    }
    Context {
        frame: Rc::new(Frame {
            arguments: context.frame.arguments.clone(),
            environment,
        }),
        location: context.location,
    }
}

/// Returns true if the word at this index is or holds the `{}` of `find -exec {}` or `find -exec env {}`, so that any
/// file that `find` finds may be the program. The marks of `xargs`, which may be `{}` as well, do not count: in these
/// words, they are unknown parts already.
fn is_found_file(words: &[Word], index: usize) -> bool {
    let is_mark = exact(&words[index].text).is_some_and(|text| text.contains("{}"));
    let before = &words[index.saturating_sub(MOST_WORDS_OF_WRAPPER)..index];
    let exec = before
        .iter()
        .rposition(|word| begins_command_of_find(&word.text));
    match exec {
        Some(exec) if is_mark => {
            // With only wrappers behind `-exec`, the word is the program.
            let wrapper = &before[exec + 1..];
            ExpandedCommand::new(wrapper, None).program_index == wrapper.len()
        }
        _ => false,
    }
}

/// Returns true for `-exec` and its likes.
fn begins_command_of_find(text: &[Symbol]) -> bool {
    let options = ["-exec", "-execdir", "-ok", "-okdir"];
    exact(text).is_some_and(|text| options.contains(&text.as_str()))
}

/// Returns true if these words behind `alias` have the option `-g`, by which zsh replaces the alias anywhere in a
/// command.
fn defines_global_alias(words: &[Word]) -> bool {
    words.iter().any(|word| {
        exact(&word.text).is_some_and(|text| text.starts_with('-') && text.contains('g'))
    })
}

/// Returns the parts of a word that may be scripts, as the options of unknown programs are not known: the text of
/// `-Stext`, `--option=text`, `NAME=text` and an alias of git (`alias.name=!text`). The whole word is always the first
/// of them, and some are no scripts at all. `may_be_local_file` takes them for names of files (`-fFILE`).
pub(super) fn possible_scripts(text: &[Symbol]) -> Vec<&[Symbol]> {
    let mut scripts = vec![text];
    if text.len() >= 3 && begins_option(text) {
        // Behind the letter of an option such as `-S`. In `--long`, it is no script, and does no harm.
        scripts.push(&text[2..]);
    }
    if let Some(value) = name_and_value(text).value {
        scripts.push(value);
        if let [Symbol::Known('!'), command @ ..] = value {
            scripts.push(command);
        }
    }
    scripts
}

/// Returns what may be the name of a program: the word, or the value of an option (`--entrypoint=curl`).
fn name_in_word(text: &[Symbol]) -> &[Symbol] {
    if begins_option(text) {
        return name_and_value(text).value.unwrap_or(text);
    }
    text
}
