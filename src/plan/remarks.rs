//! Nothing is wrong, but it may not be what was meant.

use std::ffi::OsString;

use super::request::curl_hides_status;
use crate::cli::suggest;
use crate::cli::table::{self, OPTIONS};
use crate::config::presets::{self, PresetName};
use crate::config::settings::Settings;
use crate::run::variables::SET_BY_BACKOFF;

/// For `-v`: which variables have no meaning.
pub(super) fn remarks(variables: &[(OsString, OsString)]) -> Vec<String> {
    let set = variables.iter().filter(|(_, value)| !value.is_empty());
    set.filter_map(|(name, _)| unknown(&name.to_string_lossy())).collect()
}

/// For when the first attempt has failed.
pub(super) fn on_failure(settings: &Settings, words: &[&str]) -> Vec<String> {
    let Some(presets) = &settings.presets else {
        return Vec::new();
    };
    let program = words.first().copied().unwrap_or_default();
    let found = [
        without_preset(&presets.value, program),
        hides_status(&presets.value, program, words.get(1..).unwrap_or_default()),
    ];
    found.into_iter().flatten().collect()
}

/// Of a variable that belongs to no option, and that no outer run has set.
fn unknown(name: &str) -> Option<String> {
    let opt = OPTIONS.iter().find(|opt| opt.variable() == name);
    match opt {
        _ if SET_BY_BACKOFF.contains(&name) => return None,
        Some(opt) if opt.is_action() => {
            return Some(format!(
                "the variable {name:?} has no meaning; only an option asks for --{}",
                opt.long
            ));
        }
        Some(_) => return None,
        None => {}
    }
    let key = name.strip_prefix("BACKOFF_")?.to_ascii_lowercase();
    let known = OPTIONS.iter().filter(|opt| !opt.is_action()).map(|opt| opt.long);
    let hint = suggest::did_you_mean(&key, known, |long| table::option(long).variable());
    Some(format!("the variable {name:?} has no meaning{hint}"))
}

/// Of `--for auto` that adds no rules.
fn without_preset(names: &[PresetName], program: &str) -> Option<String> {
    let is_empty = names.contains(&PresetName::Auto) && !presets::is_known(program);
    is_empty.then(|| format!("--for auto knows no preset for {program:?}; --list-presets shows what it may name"))
}

/// Of `curl -s` without `-S`, which does not say what an HTTP server has answered.
fn hides_status(names: &[PresetName], program: &str, arguments: &[&str]) -> Option<String> {
    let is_judged = program == "curl" && names.iter().any(|name| name.is_for(program));
    let hides = is_judged && curl_hides_status(arguments);
    hides.then(|| "curl -s says nothing of an HTTP status; with -sS, 404 and its like are not retried".to_owned())
}
