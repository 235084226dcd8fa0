//! For `-v`: nothing is wrong, but it may not be what was meant.

use std::ffi::OsString;

use super::resolve::value;
use super::streams;
use crate::cli::suggest;
use crate::cli::table::{self, OPTIONS};
use crate::config::presets;
use crate::config::settings::{Settings, Usage};
use crate::run::variables::SET_BY_BACKOFF;

pub(super) fn remarks(settings: &Settings<'_>, command: &[OsString]) -> Result<Vec<String>, Usage> {
    let unknown = settings.variables().filter_map(|name| unknown(&name.to_string_lossy()));
    Ok(unknown.chain(without_preset(settings, command)?).collect())
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
fn without_preset(settings: &Settings<'_>, command: &[OsString]) -> Result<Option<String>, Usage> {
    let has_auto = |text: &str| Ok(text.split(',').any(|name| name.trim() == "auto"));
    let program = streams::program(command).unwrap_or_default();
    let is_empty = value(settings.read("for", has_auto)?) == Some(true) && presets::for_program(program).is_none();
    Ok(is_empty.then(|| format!("--for auto knows no preset for {program:?}; --list-presets shows what it may name")))
}
