//! Shell completions. `clap_complete` knows the options; each shell's own machinery completes the
//! wrapped command and its arguments.

use clap_complete::{Shell, generate};

use crate::cli;

fn of_options(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut cli::documented_parser(), "backoff", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

pub(super) fn bash() -> String {
    of_options(Shell::Bash)
}

pub(super) fn zsh() -> String {
    of_options(Shell::Zsh)
}

pub(super) fn fish() -> String {
    of_options(Shell::Fish)
}
