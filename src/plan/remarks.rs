//! Remarks about valid settings that may not be intended. Each check is a function with its text.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::idempotence::hides_status;
use crate::cli::suggest;
use crate::cli::table::{OPTIONS, Opt, option};
use crate::command::program::Command;
use crate::config::policies::Config;
use crate::config::presets::{self, PresetName};
use crate::config::setting::Source;
use crate::config::settings::{Settings, Variables, variable};
use crate::config::values;
use crate::run::variables::SET_BY_BACKOFF;

/// Returns the remarks to print after a failed first attempt.
pub(super) fn on_failure(settings: &Settings, command: &Command<'_>) -> Vec<String> {
    let checks: [fn(&Settings, &Command<'_>) -> _; 3] =
        [number_as_pattern, without_preset, hides_status];
    checks
        .iter()
        .filter_map(|check| check(settings, command))
        .collect()
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

/// Returns warnings about variables that are probably typos, and remarks about others, which may be another program's.
pub(super) fn unknown_variables(variables: &Variables) -> (Vec<String>, Vec<String>) {
    // Outer runs set their variables only along with BACKOFF_DEPTH.
    let is_within = variable(variables, "BACKOFF_DEPTH").is_some();
    let is_set_by_outer =
        |name: &OsString| is_within && SET_BY_BACKOFF.iter().any(|known| name == known);
    let is_variable_of =
        |opt: &Opt, name: &OsString| !opt.is_action() && opt.has_variable(name.as_bytes());
    let (mut typos, mut others) = (Vec::new(), Vec::new());
    for (name, value) in variables {
        if value.is_empty()
            || is_set_by_outer(name)
            || OPTIONS.iter().any(|opt| is_variable_of(opt, name))
        {
            continue;
        }
        let name = name.to_string_lossy();
        let key = name.trim_start_matches("BACKOFF_");
        let tip = |long: &str| format!("; tip: try {}", option(long).variable());
        // The option, with which the tip begins.
        let foreign = || suggest::foreign(key)?.split([' ', ',']).next();
        // A variable cannot set an action.
        let settable = || foreign().filter(|long| !option(long).is_action());
        let (list, tip) = match suggest::one_slip_away(key, OPTIONS.iter().map(|opt| opt.long)) {
            Some(long) if option(long).is_action() => (
                &mut typos,
                format!("; tip: give --{long} on the command line"),
            ),
            Some(long) => (&mut typos, tip(long)),
            None => (&mut others, settable().map(tip).unwrap_or_default()),
        };
        list.push(format!("unknown variable {name:?}{tip}"));
    }
    (typos, others)
}

/// Returns a line for each option that is set or has a default, such as
/// `base = 2s (policy slow at /etc/backoff.toml:7:8)`, and for each rule of a preset, such as
/// `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`.
pub(super) fn settings_and_rules(
    settings: &Settings,
    command: &Command<'_>,
    config: &Config,
) -> Vec<String> {
    let mut lines = vec![format!("config = {} ({})", config.file, config.reason)];
    for opt in OPTIONS.iter().filter(|opt| opt.is_setting()) {
        // Splits `5; unlimited with --deadline` before the semicolon.
        let (value, exceptions) = opt.default.split_at(opt.default_value().len());
        // An option of higher precedence may lift a given limit, too.
        let may_lift = ["attempts", "max-delay"].contains(&opt.long)
            && settings.source(opt.long) != Some(Source::Flag);
        lines.push(match settings.shown(opt.long) {
            Some((text, source)) if may_lift => {
                format!("{} = {text} ({source}{exceptions})", opt.long)
            }
            Some((text, source)) => format!("{} = {text} ({source})", opt.long),
            None if value.is_empty() => continue,
            None => format!("{} = {value} (default{exceptions})", opt.long),
        });
    }
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
