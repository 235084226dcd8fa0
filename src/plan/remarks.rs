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
    unknown.chain(without_preset(settings, command)).collect()
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
