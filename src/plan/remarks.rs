//! Remarks about valid settings that may not be intended. Each check is a function with its text.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::idempotence::hides_status;
use super::in_effect;
use crate::cli::suggest;
use crate::cli::table::{OPTIONS, Opt, option};
use crate::command::program::{Command, wrapped_program};
use crate::config::policies::Config;
use crate::config::presets::{self, PresetName};
use crate::config::settings::{Settings, Variables, variable};
use crate::config::values;
use crate::policy::delay::Delays;
use crate::policy::session::Limits;
use crate::run::variables::SET_BY_BACKOFF;
use crate::text::printable;

/// Returns the remarks to print after a failed first attempt.
pub(super) fn on_failure(
    settings: &Settings,
    command: &Command<'_>,
    words: &[&str],
) -> Vec<String> {
    let checks: [fn(&Settings, &Command<'_>) -> _; 3] =
        [number_as_pattern, without_preset, hides_status];
    let mut remarks: Vec<String> = checks
        .iter()
        .filter_map(|check| check(settings, command))
        .collect();
    remarks.extend(without_headers(settings, words));
    remarks
}

/// Explains `-r 3`, which other tools read as three retries.
fn number_as_pattern(settings: &Settings, _: &Command<'_>) -> Option<String> {
    let setting = settings.find("retry-match")?;
    let count = values::whole(setting.text.to_str()?, 0, 99).ok()?;
    let looks = format!("{setting} looks for a pattern in the output");
    Some(format!(
        "{looks}; to retry {count} times, use -n {}",
        count + 1
    ))
}

/// Returns a remark if `--for auto` adds no rules.
fn without_preset(_: &Settings, command: &Command<'_>) -> Option<String> {
    let program = command.wrapped.first().copied().unwrap_or_default();
    let is_empty =
        command.presets.contains(&PresetName::Auto) && presets::for_program(program).is_none();
    is_empty
        .then(|| format!("--for auto has no preset for {program:?}; --list-presets lists presets"))
}

/// Returns a remark, only for `-v`, if `--retry-after` has no answer to read, as curl prints none.
fn without_headers(settings: &Settings, words: &[&str]) -> Option<String> {
    settings.get("retry-after", values::retry_after).ok()??;
    let wrapped = wrapped_program(words);
    let (program, words) = wrapped.split_first()?;
    let name = program.rsplit('/').next()?;
    let prints_headers = words.iter().any(|word| match word.strip_prefix("--") {
        Some(long) => HEADERS_OF_CURL
            .iter()
            .any(|option| long.starts_with(option)),
        None => word.starts_with('-') && word.contains(['D', 'i', 'I', 'v']),
    });
    if name != "curl" || prints_headers || settings.count("verbose") == Ok(0) {
        return None;
    }
    Some("--retry-after sees no headers, as curl prints none; tip: add -D /dev/stderr".to_owned())
}

/// Options of curl that print the headers of an answer.
const HEADERS_OF_CURL: [&str; 5] = ["dump-header", "include", "show-headers", "head", "verbose"];

/// Variables that can only mean backoff's number of attempts.
const OTHER_ATTEMPTS: [&str; 5] = [
    "RETRIES",
    "MAX_RETRIES",
    "TRIES",
    "MAX_TRIES",
    "MAX_ATTEMPTS",
];

/// Returns warnings about variables that are probably typos, and remarks about others, which may be another program's.
pub(super) fn unknown_variables(variables: &Variables) -> (Vec<String>, Vec<String>) {
    // Outer runs set their variables only along with BACKOFF_DEPTH.
    let is_within = variable(variables, "BACKOFF_DEPTH").is_some();
    let is_set_by_outer =
        |name: &OsString| is_within && SET_BY_BACKOFF.iter().any(|known| name == known);
    let is_variable_of =
        |opt: &Opt, name: &OsString| !opt.is_action() && opt.has_variable(name.as_bytes());
    let mut typos = Vec::new();
    let mut others = Vec::new();
    for (name, value) in variables {
        if value.is_empty()
            || is_set_by_outer(name)
            || OPTIONS.iter().any(|opt| is_variable_of(opt, name))
        {
            continue;
        }
        let name = name.to_string_lossy();
        let key = name.trim_start_matches("BACKOFF_");
        match meant(key, value) {
            Some(tip) => typos.push(format!("unknown variable {name:?}; tip: {tip}")),
            None => others.push(format!("unknown variable {name:?}{}", similar(key))),
        }
    }
    (typos, others)
}

/// Returns a tip for the name of a variable that is certainly meant for backoff: of an option that is gone, or one typo
/// away from a known one.
fn meant(key: &str, value: &OsStr) -> Option<String> {
    if let Some((long, text)) = suggest::replacement(key, value.to_str()) {
        let text = printable(&text);
        return Some(match option(long).is_action() {
            true => format!("give --{long}={text} on the command line"),
            false => format!("try {}={text}", option(long).variable()),
        });
    }
    if OTHER_ATTEMPTS.contains(&key) {
        return Some("try BACKOFF_ATTEMPTS, which counts the first one, too".to_owned());
    }
    let long = suggest::one_slip_away(key, OPTIONS.iter().map(|opt| opt.long))?;
    Some(match option(long).is_action() {
        true => format!("give --{long} on the command line"),
        false => format!("try {}", option(long).variable()),
    })
}

/// Returns a tip for another tool's name of an option that a variable can set; empty if there is none.
fn similar(key: &str) -> String {
    // The option, with which the tip begins.
    let foreign = suggest::foreign(key).and_then(|tip| tip.split([' ', ',']).next());
    let settable = foreign.map(option).filter(|opt| !opt.is_action());
    settable.map_or_else(String::new, |opt| format!("; tip: try {}", opt.variable()))
}

/// Returns a line for each option that is set or has a default, such as
/// `base = 2s (policy slow at /etc/backoff.toml:7:8)`, and for each rule of a preset, such as
/// `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`.
pub(super) fn settings_and_rules(
    settings: &Settings,
    command: &Command<'_>,
    config: &Config,
    limits: &Limits,
    delays: &Delays,
) -> Vec<String> {
    let mut lines = vec![format!("config = {} ({})", config.file, config.reason)];
    let options = OPTIONS.iter().filter(|opt| opt.is_setting());
    lines.extend(options.filter_map(|opt| in_effect::line(settings, limits, delays, opt)));
    for (_, preset) in presets::chosen(&command.presets, command.wrapped.first().copied()) {
        for row in preset.rows() {
            let verdict = row.verdict.word();
            lines.push(format!(
                "for {} = {verdict} {row} ({})",
                preset.name, row.source
            ));
        }
    }
    lines
}
