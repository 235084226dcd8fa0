//! Remarks about valid settings that may not be intended. Each check is a function with its text, and returns None if
//! there is nothing to remark.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::in_effect::{self, Deciders};
use crate::cli::suggest;
use crate::command::http;
use crate::command::program::{WrappedCommand, wrapped_program};
use crate::config::policies::Config;
use crate::config::presets::{self, PresetName};
use crate::config::settings::{Settings, Variables, variable};
use crate::options::opt::Spec;
use crate::options::similar::one_slip_away;
use crate::options::values::whole;
use crate::options::{OPTIONS, RETRY_AFTER, RETRY_MATCH, VERBOSE};
use crate::run::plan::{Nesting, NotIdempotent, OutputOptions};
use crate::run::variables::SET_BY_BACKOFF;
use crate::text::printable;

/// Returns the remarks to print after a failed first attempt: before it, they would trouble a user whose command
/// succeeds. `words` are those of the command, `command` is the program that presets judge.
pub(super) fn on_failure(
    settings: &Settings,
    command: &WrappedCommand<'_>,
    words: &[&str],
) -> Vec<String> {
    let remarks = [
        number_as_pattern(settings),
        without_preset(command),
        hidden_status(command),
        without_headers(settings, words),
    ];
    remarks.into_iter().flatten().collect()
}

/// Explains `-r 3`, which other tools read as three retries, while it is a pattern here. None for a text that is no
/// number up to 99: a larger one, such as 503, is meant as a pattern.
fn number_as_pattern(settings: &Settings) -> Option<String> {
    let setting = settings.find(&RETRY_MATCH)?;
    let retries = whole(setting.text.to_str()?, 0, 99).ok()?;
    let looks = format!("{setting} looks for a pattern in the output");
    Some(format!(
        // `-n` counts the first attempt, too.
        "{looks}; to retry {retries} times, use -n {}",
        retries + 1
    ))
}

/// Returns a remark if `--for auto` adds no rules, as the program has no preset: then the user may take the command for
/// judged although it is not.
fn without_preset(command: &WrappedCommand<'_>) -> Option<String> {
    let program = command.wrapped.first().copied().unwrap_or_default();
    if !command.presets.contains(&PresetName::Auto) || presets::for_program(program).is_some() {
        return None;
    }
    Some(format!(
        "--for auto has no preset for {program:?}; --list-presets lists presets"
    ))
}

/// Returns a remark if `--retry-after` is given and can find no header, as it looks in the output, where curl prints
/// none unless an option says so. Only with `-v`, as the rest of the output may name a wait, too.
fn without_headers(settings: &Settings, words: &[&str]) -> Option<String> {
    settings.get(&RETRY_AFTER).ok()??;
    // Not `WrappedCommand::wrapped`, which is empty without `--for`.
    let wrapped = wrapped_program(words);
    let (program, words) = wrapped.split_first()?;
    let name = program.rsplit('/').next()?;
    let prints_headers = words.iter().any(|word| prints_headers(word));
    if name != "curl" || prints_headers || settings.count(&VERBOSE) == Ok(0) {
        return None;
    }
    Some("--retry-after sees no headers, as curl prints none; tip: add -D /dev/stderr".to_owned())
}

/// Returns true if an argument of curl is, or may be, an option that prints the headers of an answer: by a letter
/// (`-i`, `-sD`) or a long name, which curl also takes cut short (`--inc`). Any other word with such a letter after a
/// `-` counts, too, as this only drops a remark.
fn prints_headers(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => {
            !long.is_empty()
                && HEADERS_OF_CURL
                    .iter()
                    .any(|option| option.starts_with(long))
        }
        None => word.starts_with('-') && word.contains(['D', 'i', 'I', 'v']),
    }
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

/// Warnings and remarks about valid settings.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Printed in any case.
    pub(super) warnings: Vec<String>,
    /// Printed with `-v`.
    pub(super) remarks: Vec<String>,
    /// Printed if the first attempt fails.
    pub(super) on_failure: Vec<String>,
}

impl Remarks {
    /// Returns warnings about unknown variables `BACKOFF_...` that are probably typos, and, with `-v`, remarks about
    /// others, which may be another program's. A setting that is silently ignored would show only when it is needed.
    pub(super) fn on_variables(
        variables: &Variables,
        nesting: &Nesting,
        output: &OutputOptions,
    ) -> Remarks {
        let mut remarks = Remarks::default();
        let is_verbose = output.verbosity >= 1;
        for (name, value) in variables {
            // An empty variable counts as unset.
            if value.is_empty() || is_known(variables, name) {
                continue;
            }
            let name = name.to_string_lossy();
            let key = name.trim_start_matches("BACKOFF_");
            match tip_for_typo(key, value) {
                // Inner runs inherit the variables; the outermost has printed the warnings.
                Some(tip) if is_verbose || nesting.depth == 0 => {
                    let warning = format!("unknown variable {name:?}; tip: {tip}");
                    remarks.warnings.push(warning);
                }
                None if is_verbose => {
                    let remark = format!("unknown variable {name:?}{}", tip_for_foreign(key));
                    remarks.remarks.push(remark);
                }
                _ => {}
            }
        }
        remarks
    }

    /// Adds, with `-v`, the reason why the command must not run twice, if it was found in the words of the command:
    /// then the user has not asked for it. `why_not` is None if the command may run twice.
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

/// Returns true for the variable of an option, and for those that an outer run sets. Without an outer run, those are
/// unknown, too, as a user who sets one takes it for an option.
fn is_known(variables: &Variables, name: &OsStr) -> bool {
    // Outer runs set their variables only along with this one.
    let is_within = variable(variables, "BACKOFF_DEPTH").is_some();
    let is_set_by_outer = is_within && SET_BY_BACKOFF.iter().any(|known| name == *known);
    is_set_by_outer || OPTIONS.iter().any(|opt| is_variable_of(opt, name))
}

fn is_variable_of(opt: &Spec, name: &OsStr) -> bool {
    !opt.is_action() && opt.has_variable(name.as_bytes())
}

/// Returns a tip for a variable that is certainly meant for backoff: of an option that is gone, another word for the
/// number of attempts, or one typo away from a known name. Returns None for any other. `key` is its name without
/// `BACKOFF_`; the tip about an option that is gone repeats the `value`.
fn tip_for_typo(key: &str, value: &OsStr) -> Option<String> {
    if let Some(suggest::Replacement { opt, value }) = suggest::replacement(key, value.to_str()) {
        let text = printable(&value);
        // An option that prints something in place of a run has no variable.
        if opt.is_action() {
            return Some(format!("give --{}={text} on the command line", opt.long));
        }
        return Some(format!("try {}={text}", opt.variable()));
    }
    if OTHER_ATTEMPTS.contains(&key) {
        return Some("try BACKOFF_ATTEMPTS, which counts the first one, too".to_owned());
    }
    let long = one_slip_away(key, OPTIONS.iter().map(|opt| opt.long))?;
    let opt = OPTIONS.iter().find(|opt| opt.long == long)?;
    if opt.is_action() {
        return Some(format!("give --{long} on the command line"));
    }
    Some(format!("try {}", opt.variable()))
}

/// Returns a tip, to be appended to a message, for another tool's name of an option that a variable can set; an empty
/// text if there is none. `key` is the name of the variable without `BACKOFF_`.
fn tip_for_foreign(key: &str) -> String {
    match suggest::foreign(key) {
        Some(foreign) if !foreign.opt.is_action() => {
            format!("; tip: try {}", foreign.opt.variable())
        }
        _ => String::new(),
    }
}

/// Returns the lines of `-vv`: the file, each option that is set or has a default, such as
/// `base = 2s (policy slow at /etc/backoff.toml:7:8)`, and each rule of a preset, such as
/// `for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)`.
pub(super) fn settings_and_rules(
    settings: &Settings,
    command: &WrappedCommand<'_>,
    config: &Config,
    deciders: &Deciders,
) -> Vec<String> {
    let mut lines = vec![format!("config = {} ({})", config.file, config.reason)];
    let options = OPTIONS.iter().filter(|opt| opt.is_setting());
    lines.extend(options.filter_map(|opt| in_effect::line(settings, deciders, opt)));
    for preset in presets::chosen(&command.presets, command.wrapped.first().copied()) {
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

/// Returns a remark about `curl -s` without `-S`, which prints no error message: in that, the preset finds the HTTP
/// status. Only if the preset judges the command.
fn hidden_status(command: &WrappedCommand<'_>) -> Option<String> {
    let words = command.wrapped.strip_prefix(&["curl"])?;
    let hides = command.is_judged("curl") && http::hides_errors(words);
    if !hides {
        return None;
    }
    Some(
        "curl -s hides the HTTP status; use -sS so that 404 and similar are not retried".to_owned(),
    )
}
