//! Finds the program that a command finally runs, for `--for auto`: behind `sudo`, `env`, `timeout`, `sh -c` and the
//! like.
//!
//! Only names decide. At an unknown word, the search ends with the program found so far.
//!
//! Finds the outer runs, too, which are known from variables.

use crate::config::presets::{PresetName, for_program};
use crate::config::settings::{Variables, variable};
use crate::run::plan::Nesting;
use crate::run::variables::{AROUND, COUNTED};
use crate::run::wrappers::{DEEPEST, inner_command};

/// The command, as rules and checks see it.
pub(super) struct Command<'c> {
    /// `--for`
    pub(super) presets: Vec<PresetName>,
    /// Name and arguments of the wrapped program; empty without presets.
    pub(super) wrapped: Vec<&'c str>,
}

impl<'c> Command<'c> {
    pub(super) fn new(words: &[&'c str], presets: Vec<PresetName>) -> Command<'c> {
        let wrapped = presets
            .first()
            .map(|_| wrapped_program(words))
            .unwrap_or_default();
        Command { presets, wrapped }
    }

    /// Returns true if a preset judges failures of this program.
    pub(super) fn is_judged(&self, program: &str) -> bool {
        self.presets.iter().any(|preset| preset.is_for(program))
    }
}

/// Returns the name and arguments of the last program on the way to the one finally run that has a preset, or else of
/// the one finally run. The name has no directory, and no version that no preset knows.
pub(super) fn wrapped_program<'c>(command: &[&'c str]) -> Vec<&'c str> {
    let (mut words, mut last_known) = (command.to_vec(), None);
    for _ in 0..DEEPEST {
        let Some(program) = words.first_mut() else {
            break;
        };
        *program = name(program);
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

/// Returns the file name, without its version if only the shorter name has a preset: `pip3.11`, `psql-15`.
fn name(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or_default();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c));
    let is_versioned = for_program(name).is_none() && for_program(plain).is_some();
    if is_versioned { plain } else { name }
}

/// Describes the outer runs from the variables of the innermost one. `warns` is `--nested warn`.
pub(super) fn nesting(variables: &Variables, warns: bool, words: &[&str]) -> Nesting {
    let text = |name| variable(variables, name)?.to_str();
    let number = |name| text(name)?.parse().ok().filter(|number: &u64| *number > 0);
    let Some(depth) = number("BACKOFF_DEPTH") else {
        return Nesting::default();
    };
    // The outermost run sets no `BACKOFF_AROUND`, as no other limit multiplies its own.
    let around = if depth == 1 { Some(1) } else { number(AROUND) };
    let outer_attempts =
        around.and_then(|around| around.checked_mul(number("BACKOFF_ATTEMPT_LIMIT")?));
    let is_uuid =
        |id: &&str| id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    // One warning is enough for all attempts of the outer run.
    let is_first = number("BACKOFF_ATTEMPT").is_none_or(|attempt| attempt == 1);
    Nesting {
        depth,
        // A single outer attempt multiplies nothing. An inner backoff warns by itself; checked last, as it is the
        // slowest step of a start.
        warn: warns
            && is_first
            && outer_attempts != Some(1)
            && wrapped_program(words).first() != Some(&"backoff"),
        outer_attempts,
        counted: text(COUNTED).map(str::to_owned),
        root_id: text("BACKOFF_ROOT_ID").filter(is_uuid).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests;
