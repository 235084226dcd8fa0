//! Remarks about valid settings that may not be intended. Each check is a function with its text.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::idempotence::{Sent, curl_hides_status, sent_by};
use super::program::Command;
use crate::cli::suggest;
use crate::cli::table::{OPTIONS, option};
use crate::config::presets::{self, PresetName};
use crate::config::settings::{Settings, variable};
use crate::config::values;
use crate::run::variables::SET_BY_BACKOFF;

/// Returns the remarks to print after a failed first attempt.
pub(super) fn on_failure(settings: &Settings, command: &Command<'_>) -> Vec<String> {
    let checks = [
        number_as_pattern(settings),
        without_preset(command),
        hides_status(command),
    ];
    checks.into_iter().flatten().collect()
}

/// Explains `-r 3`, which other tools read as three retries.
fn number_as_pattern(settings: &Settings) -> Option<String> {
    let said = settings.said("retry-match")?;
    let count = values::whole(said.text.to_str()?, 0, 99).ok()?;
    let attempts = count + 1;
    Some(format!(
        "{said} looks for an expression in the output; to retry {count} times, use -n {attempts}"
    ))
}

/// Returns a remark if `--for auto` adds no rules.
fn without_preset(command: &Command<'_>) -> Option<String> {
    let program = command.wrapped.first().copied().unwrap_or_default();
    let is_empty = command.presets.contains(&PresetName::Auto) && presets::for_program(program).is_none();
    is_empty.then(|| format!("--for auto knows no preset for {program:?}; --list-presets shows those there are"))
}

/// Returns a remark about `curl -s` without `-S`.
fn hides_status(command: &Command<'_>) -> Option<String> {
    let (program, arguments) = command.wrapped.split_first()?;
    let hides = *program == "curl" && command.is_judged(program) && curl_hides_status(arguments);
    hides.then(|| "curl -s says nothing of an HTTP status; with -sS, 404 and its like are not retried".to_owned())
}

/// Returns a remark for the first retry of a request that may have taken effect, if no preset judges its client.
pub(super) fn on_retry(settings: &Settings, command: &Command<'_>) -> Option<String> {
    if settings.said("idempotent").is_some() {
        return None;
    }
    let sent = sent_by(command.words, |client| !command.is_judged(client));
    let Sent { client, option, .. } = sent.filter(|sent| !sent.is_hidden)?;
    Some(format!(
        "{client} {option}: a retry sends the request again, even if it took effect; --for {client} or --idempotent no \
         prevents that, --idempotent yes hides this remark"
    ))
}

/// Returns two lists of variables that belong to no option and that no outer run has set: typos of known variables, and
/// the rest, which may belong to another program.
pub(super) fn unknown_variables(variables: &[(OsString, OsString)]) -> (Vec<String>, Vec<String>) {
    // Outer runs set their variables only along with BACKOFF_DEPTH.
    let is_within = variable(variables, "BACKOFF_DEPTH").is_some();
    let is_known = |name: &OsString| {
        let is_setting = |name: &[u8]| OPTIONS.iter().any(|opt| opt.has_variable(name) && !opt.is_action());
        is_within && SET_BY_BACKOFF.iter().any(|known| name == known) || is_setting(name.as_bytes())
    };
    let options = || OPTIONS.iter().map(|opt| opt.long);
    let (mut typos, mut others) = (Vec::new(), Vec::new());
    for (name, value) in variables {
        if value.is_empty() || is_known(name) {
            continue;
        }
        let name = name.to_string_lossy();
        let key = name.trim_start_matches("BACKOFF_");
        let line = |hint| format!("unknown variable {name:?}{hint}");
        match suggest::one_slip_away(key, options()).map(option) {
            Some(opt) if opt.is_action() => {
                typos.push(line(format!("; --{} is taken from the command line alone", opt.long)));
            }
            Some(opt) => typos.push(line(format!("; did you mean {}?", opt.variable()))),
            None => others.push(line(suggest::did_you_mean(key, options()))),
        }
    }
    (typos, others)
}

/// Returns a line for each option that is set or has a default: `base = 2s (policy slow, /etc/backoff.toml:7)`.
pub(super) fn all_settings(settings: &Settings) -> impl Iterator<Item = String> {
    let options = OPTIONS.iter().filter(|opt| opt.is_setting());
    options.filter_map(|opt| match (settings.shown(opt.long), opt.default()) {
        (Some((text, source)), _) => Some(format!("{} = {text} ({source})", opt.long)),
        (None, default) => {
            let (value, exceptions) = default?.split_at(opt.default_value().len());
            Some(format!("{} = {value} (default{exceptions})", opt.long))
        }
    })
}

/// Returns the rules of presets: `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`.
pub(super) fn preset_rules(command: &Command<'_>) -> Vec<String> {
    let mut rules = Vec::new();
    for (_, preset) in presets::chosen(&command.presets, command.wrapped.first().copied()) {
        for row in preset.rows() {
            let verdict = row.verdict.words().0;
            rules.push(format!("for {} = {verdict} {row} ({})", preset.name, row.source));
        }
    }
    rules
}
