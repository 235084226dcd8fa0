//! Finds the program whose failures the presets of `--for` judge: behind `sudo`, `env`, `timeout`, `sh -c` and the
//! like. A preset holds the rules for one tool, such as curl, by which failures of it are worth a retry.
//!
//! Only names decide. At an unknown word, the search ends with the program found so far.

use super::wrappers::{DEEPEST, inner_command};
use crate::presets::for_program;
use crate::presets::names::PresetName;

/// Facts about the command for rules and checks.
pub(crate) struct WrappedCommand<'c> {
    /// The names of `--for`; `auto` is one of them.
    pub(crate) presets: Vec<PresetName>,
    /// Name and arguments of the program that presets judge ([`wrapped_program`]); empty without presets, and if there
    /// is no command.
    pub(crate) wrapped: Vec<&'c str>,
}

impl<'c> WrappedCommand<'c> {
    /// Finds the wrapped program behind `sudo` and the like. `presets` are those of `--for`; without any, nothing asks
    /// for the program, so that it is not searched for.
    pub(crate) fn new(words: &[&'c str], presets: Vec<PresetName>) -> WrappedCommand<'c> {
        let wrapped = if presets.is_empty() {
            Vec::new()
        } else {
            wrapped_program(words)
        };
        WrappedCommand { presets, wrapped }
    }

    /// Returns true if `--for` names the preset of this program: then the user says that the command is such a program,
    /// or runs one, whatever its own name is. With `--for auto` it is only concluded.
    pub(crate) fn is_named(&self, program: &str) -> bool {
        self.presets
            .iter()
            .any(|preset| *preset != PresetName::Auto && preset.is_for(program))
    }

    /// Returns true if a preset of `--for` judges failures of this program, named or by `auto`: with `auto` for each
    /// program that has a preset. Whether the command is or runs this program is another question.
    pub(crate) fn is_judged(&self, program: &str) -> bool {
        self.presets.iter().any(|preset| preset.is_for(program))
    }
}

/// Returns the name and the arguments of the program that presets judge: the innermost one that has a preset, or else
/// the innermost of all. `sudo curl URL` is `curl URL`, and `npx cowsay` is `npx cowsay`, as only npx has a preset. The
/// name is that by which presets know the program ([`name_for_presets`]). Empty if there is no command.
fn wrapped_program<'c>(command: &[&'c str]) -> Vec<&'c str> {
    let mut words = command.to_vec();
    // The innermost so far that has a preset.
    let mut last_known = None;
    for _ in 0..DEEPEST {
        let Some(program) = words.first_mut() else {
            break;
        };
        *program = name_for_presets(program);
        if for_program(words[0]).is_some() {
            last_known = Some(words.clone());
        }
        match inner_command(words[0], &words[1..]) {
            Some(inner) if !inner.is_empty() => words = inner,
            _ => break,
        }
    }
    last_known.unwrap_or(words)
}

/// Returns the name by which presets know the program at this path: without its directory, and without its version if
/// only the shorter name has a preset: `pip` for `/usr/bin/pip3.11`. A name that has a preset itself keeps its version.
fn name_for_presets(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or_default();
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c));
    let is_versioned =
        unversioned != name && for_program(name).is_none() && for_program(unversioned).is_some();
    if is_versioned { unversioned } else { name }
}

/// Returns true if the command is backoff itself, behind wrappers or not. Behind one that has a preset (`npx`), it is
/// not found.
pub(crate) fn is_backoff(words: &[&str]) -> bool {
    wrapped_program(words).first() == Some(&"backoff")
}

#[cfg(test)]
mod tests;
