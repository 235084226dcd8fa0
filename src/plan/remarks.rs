//! For `-v`: nothing is wrong, but it may not be what was meant.

use std::ffi::OsString;

use super::rules::program;
use crate::cli::suggest;
use crate::cli::table::{self, OPTIONS};
use crate::config::presets::{self, PresetName};
use crate::config::settings::Settings;
use crate::run::variables::SET_BY_BACKOFF;

pub(super) fn remarks(settings: &Settings, variables: &[(OsString, OsString)], command: &[OsString]) -> Vec<String> {
    let set = variables.iter().filter(|(_, value)| !value.is_empty());
    let unknown = set.filter_map(|(name, _)| unknown(&name.to_string_lossy()));
    let known = unknown.chain(without_preset(settings, command));
    known.chain(hides_status(settings, command)).collect()
}

/// Of a variable that belongs to no option, and that no outer run has set.
fn unknown(name: &str) -> Option<String> {
    if SET_BY_BACKOFF.contains(&name) || OPTIONS.iter().any(|opt| opt.variable() == name) {
        return None;
    }
    let key = name.strip_prefix("BACKOFF_")?.to_ascii_lowercase();
    let hint = suggest::did_you_mean(&key, OPTIONS.iter().map(|opt| opt.long), |long| {
        table::option(long).variable()
    });
    Some(format!("the variable {name:?} has no meaning{hint}"))
}

/// Of `--for auto` that adds no rules: what the presets know may stand behind another program, as in `env curl`.
fn without_preset(settings: &Settings, command: &[OsString]) -> Option<String> {
    let names = &settings.presets.as_ref()?.value;
    let program = program(command).unwrap_or_default();
    let is_empty = names.contains(&PresetName::Auto) && presets::for_program(program).is_none();
    is_empty.then(|| format!("--for auto knows no preset for {program:?}; --list-presets shows what it may name"))
}

/// Of `curl -s` without `-S`, which does not say what an HTTP server has answered.
fn hides_status(settings: &Settings, command: &[OsString]) -> Option<String> {
    let names = &settings.presets.as_ref()?.value;
    let program = program(command).filter(|program| *program == "curl")?;
    names
        .iter()
        .find(|name| name.preset(Some(program)).is_some_and(|preset| preset.name == "curl"))?;
    let words = command[1..].iter().filter_map(|word| word.to_str());
    let has = |letter: char, long: &str| {
        let is_it = |word: &str| match word.strip_prefix('-') {
            Some(name) if name.starts_with('-') => word == long,
            Some(letters) => letters
                .chars()
                .take_while(char::is_ascii_alphabetic)
                .any(|other| other == letter),
            None => false,
        };
        words.clone().any(is_it)
    };
    let hides = has('s', "--silent") && !has('S', "--show-error");
    hides.then(|| "curl -s says nothing of an HTTP status; with -sS, 404 and its like are not retried".to_owned())
}
