//! Remarks about valid settings that may not be intended. Each check is a function with its text, and returns None if
//! there is nothing to say.

use std::ffi::OsStr;

use super::nesting::variable;
use crate::cli::declared::Declared;
use crate::cli::tips;
use crate::config::Merged;
use crate::config::settings::{Settings, Variables};
use crate::presets::clients;
use crate::presets::for_program;
use crate::presets::names::{PresetName, chosen};
use crate::presets::program::WrappedCommand;
use crate::run::plan::{Nesting, NotIdempotent, OutputOptions};
use crate::run::variables::SET_BY_BACKOFF;
use crate::text::similar;

/// Returns the remarks to print after a failed first attempt. Any earlier, they would bother a user whose command
/// succeeds. `command` is the program that presets judge.
pub(super) fn on_failure(settings: &Settings, command: &WrappedCommand<'_>) -> Vec<String> {
    let remarks = [
        number_as_pattern(settings),
        without_preset(command),
        hidden_status(command),
    ];
    remarks.into_iter().flatten().collect()
}

/// Explains `-r 3`, which other tools read as three retries, but which is a pattern here. None unless the text is a
/// number up to 99, because a larger one such as 503 is meant as a pattern.
fn number_as_pattern(settings: &Settings) -> Option<String> {
    let setting = settings.find("retry-match")?;
    let text = setting.shown();
    let is_number = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let retries: u8 = text.parse().ok().filter(|_| is_number)?;
    let looks = format!("{setting} looks for a pattern in the output");
    Some(format!(
        // `-n` also counts the first attempt.
        "{looks}; to retry {retries} times, use -n {}",
        retries + 1
    ))
}

/// Returns a remark if `--for auto` adds no rules because the program has no preset. Otherwise the user might think
/// that the command is judged.
fn without_preset(command: &WrappedCommand<'_>) -> Option<String> {
    let program = command.wrapped.first().copied().unwrap_or_default();
    if !command.presets.contains(&PresetName::Auto) || for_program(program).is_some() {
        return None;
    }
    Some(format!(
        "--for auto has no preset for {program:?}; --list-presets lists presets"
    ))
}

/// Warnings and remarks about valid settings.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Always printed.
    pub(super) warnings: Vec<String>,
    /// Printed with `-v`.
    pub(super) remarks: Vec<String>,
    /// Printed if the first attempt fails.
    pub(super) on_failure: Vec<String>,
}

impl Remarks {
    /// Returns warnings about unknown `BACKOFF_...` variables that are probably typos, or have another tool's name for
    /// an option. A setting that is silently ignored would only show when it is needed. Other variables may be another
    /// program's. Nested runs inherit the variables, so only the outermost run warns, unless `-v` is given.
    pub(super) fn on_variables(
        variables: &Variables,
        declared: &[Declared],
        nesting: &Nesting,
        output: &OutputOptions,
    ) -> Remarks {
        let mut remarks = Remarks::default();
        if output.verbosity < 1 && nesting.depth > 0 {
            return remarks;
        }
        for (name, value) in variables {
            // An empty variable counts as unset.
            if value.is_empty() || is_known(variables, declared, name) {
                continue;
            }
            let name = name.to_string_lossy();
            if let Some(tip) = tip_for_variable(declared, name.trim_start_matches("BACKOFF_")) {
                let warning = format!("unknown variable {name:?}; tip: {tip}");
                remarks.warnings.push(warning);
            }
        }
        remarks
    }

    /// With `-v`, adds the reason why the command must not run twice, if the words of the command show it. In that case
    /// the user did not ask for it. `why_not` is None if the command may run twice.
    pub(super) fn add_not_idempotent(
        &mut self,
        output: &OutputOptions,
        why_not: Option<&NotIdempotent>,
    ) {
        if let Some(why_not) = why_not
            && !why_not.is_by_option
            && output.verbosity >= 1
        {
            let remark = format!("--idempotent no: {}", why_not.why);
            self.remarks.push(remark);
        }
    }
}

/// Returns true for the variable of an option, and for those that an outer run sets. Without an outer run, the latter
/// are also unknown, because a user who sets one takes it for an option.
fn is_known(variables: &Variables, declared: &[Declared], name: &OsStr) -> bool {
    // Outer runs set their variables only together with this one.
    let is_within = variable(variables, "BACKOFF_DEPTH").is_some();
    let is_set_by_outer = is_within && SET_BY_BACKOFF.iter().any(|known| name == *known);
    let is_variable_of = |option: &Declared| option.has_variable() && *name == *option.variable();
    is_set_by_outer || declared.iter().any(is_variable_of)
}

/// Returns a tip for a variable that is certainly meant for backoff, because it has another tool's name for an option
/// or is one typo away from a known name. None for any other. `key` is its name without `BACKOFF_`.
fn tip_for_variable(declared: &[Declared], key: &str) -> Option<String> {
    if let Some(tip) = tips::tip_for_variable(key) {
        return Some(tip);
    }
    let long = similar(key, declared.iter().map(|option| &*option.long))?;
    let option = declared.iter().find(|option| option.long == long)?;
    // An option that prints something instead of a run has no variable.
    if !option.has_variable() {
        return Some(format!("give --{long} on the command line"));
    }
    Some(format!("try {}", option.variable()))
}

/// Returns the lines of `-vv`: the file, each option that is set or has a default, such as
/// `base = 2s (policy slow in /etc/backoff.toml)`, and each rule of a preset, such as
/// `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`.
pub(super) fn settings_and_rules(merged: &Merged, command: &WrappedCommand<'_>) -> Vec<String> {
    let mut lines = vec![merged.config.line.clone()];
    let options = merged.declared.iter().filter(|option| option.is_setting());
    lines.extend(options.filter_map(|option| merged.settings.line(option)));
    for preset in chosen(&command.presets, command.wrapped.first().copied()) {
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

/// Returns a remark about `curl -s` without `-S`, which prints no error message. The preset needs the HTTP status in
/// it. Only if the preset judges the command.
fn hidden_status(command: &WrappedCommand<'_>) -> Option<String> {
    let hides = command.is_judged("curl") && clients::hides_errors(&command.wrapped);
    if !hides {
        return None;
    }
    Some(
        "curl -s hides the HTTP status; use -sS so that 404 and similar are not retried".to_owned(),
    )
}
