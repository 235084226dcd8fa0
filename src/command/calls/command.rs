//! Reads one command: the calls of clients among its words, and the scripts that it runs.

use std::rc::Rc;

use super::client_name::{base_name, is_named, may_be_named};
use super::expanded_command::ExpandedCommand;
use super::feeders::words_of_call;
use super::{Call, Calls, Certainty, Context, MOST_CALLS};
use crate::command::http::tables::CLIENTS;
use crate::command::scope::{Frame, Inherited};
use crate::command::shells;
use crate::command::text::{Symbol, Word, exact};

/// Programs that run a command on another machine or in a container.
const ELSEWHERE: [&str; 12] = [
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
    /// Adds the calls in one command, and the scripts that it runs.
    pub(super) fn read_command(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        self.add_guessed_calls(command, context);
        let mut inner = context.clone();
        let mut parts = 0;
        for (at, word) in command.words.iter().enumerate() {
            let is_call = self.add_named_call(command.words, at, context, parts);
            let runs_scripts = self.read_scripts_of_word(command, at, &inner);
            if is_call || runs_scripts {
                parts += 1;
            }
            if parts == MOST_CALLS {
                self.note_unknown_code("a command of many parts", context);
                return;
            }
            inner = context_behind(&base_name(&word.text), inner);
            if reads_rest_as_script(&word.text) {
                break;
            }
        }
        self.read_program_as_script(command, context);
        for (at, word) in command.words.iter().enumerate() {
            if reads_rest_as_script(&word.text) {
                break;
            }
            if at != command.script_at {
                for text in possible_scripts(&word.text) {
                    self.add_if_client_is_mentioned(text, &inner);
                }
            }
        }
    }

    /// Adds the call that begins at a word, the call `number` of the command. Returns true if one does.
    fn add_named_call(
        &mut self,
        words: &[Word],
        at: usize,
        context: &Context,
        number: usize,
    ) -> bool {
        let word = &words[at];
        let client = CLIENTS
            .into_iter()
            .find(|client| is_named(&word.text, client.name));
        let Some(client) = client else {
            return false;
        };
        self.found.push(Call {
            client,
            words: words_of_call(words, at),
            place: context.place.clone(),
            certainty: Certainty::Named,
            id: self.next_id + number + 1,
        });
        true
    }

    /// Reads the scripts that the program at a word runs. Returns true if the program runs scripts.
    fn read_scripts_of_word(
        &mut self,
        command: &ExpandedCommand<'_>,
        at: usize,
        context: &Context,
    ) -> bool {
        let word = &command.words[at];
        if exact(&word.text).is_none() {
            return false;
        }
        let name = base_name(&word.text);
        // Words behind the script of another shell are its arguments.
        if shells::is_shell(&name) && at < command.script_at {
            self.read_shell(command, at, context);
            return true;
        }
        self.read_command_with_scripts(&name, command, at, context)
    }

    /// Adds a call for each client that the program may be, if its name is unknown.
    fn add_guessed_calls(&mut self, command: &ExpandedCommand<'_>, context: &Context) {
        let Some(program) = command.words.get(command.program_at) else {
            return;
        };
        for client in CLIENTS {
            if may_be_named(&program.text, client.name) {
                self.found.push(Call {
                    client,
                    words: words_of_call(command.words, command.program_at),
                    place: context.place.clone(),
                    certainty: Certainty::Guessed,
                    id: self.next_id,
                });
            }
        }
    }
}

/// Returns the context of what stands behind a program of this name, which may change or clear variables.
fn context_behind(name: &str, context: Context) -> Context {
    let environment = if ELSEWHERE.contains(&name) {
        Inherited::None
    } else if MAY_CLEAR_VARIABLES.contains(&name) {
        Inherited::Part
    } else {
        return context;
    };
    if environment <= context.frame.environment {
        return context;
    }
    Context {
        frame: Rc::new(Frame {
            arguments: context.frame.arguments.clone(),
            environment,
        }),
        place: context.place,
    }
}

/// Returns true for a command that joins all words after it to one script.
fn reads_rest_as_script(text: &[Symbol]) -> bool {
    matches!(exact(text).as_deref(), Some("eval" | "ssh"))
}

/// Returns the parts of a word that may be scripts: `text`, `-Stext`, `--option=text`.
fn possible_scripts(text: &[Symbol]) -> Vec<&[Symbol]> {
    let mut scripts = vec![text];
    if text.first() != Some(&Symbol::Known('-')) || text.len() < 3 {
        return scripts;
    }
    scripts.push(&text[2..]);
    if let Some(sign) = text.iter().position(|symbol| *symbol == Symbol::Known('=')) {
        scripts.push(&text[sign + 1..]);
    }
    scripts
}
