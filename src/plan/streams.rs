//! Streams and what is looked for in them: from options to [`StreamOptions`] and the rules of a
//! [`Classifier`].

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::classes;
use super::resolve::{shell, value};
use crate::config::presets::{self, Preset};
use crate::config::settings::{Layer, Settings, Sourced, Usage};
use crate::config::values;
use crate::policy::classifier::{Classifier, Rule};
use crate::policy::sets::CodeSet;
use crate::run::streams::{InputMode, OutputMode, StreamOptions};
use crate::search::pattern::{Pattern, Patterns};

const INPUTS: &[(&str, InputMode)] = &[
    ("auto", InputMode::Auto),
    ("inherit", InputMode::Inherit),
    ("replay", InputMode::Replay),
    ("null", InputMode::Null),
];
const STDOUTS: &[(&str, OutputMode)] = &[
    ("stream", OutputMode::Stream),
    ("final", OutputMode::Final),
    ("success", OutputMode::Success),
    ("null", OutputMode::Null),
];
const STDERRS: &[(&str, OutputMode)] = &[
    ("stream", OutputMode::Stream),
    ("final", OutputMode::Final),
    ("failure", OutputMode::Failure),
    ("null", OutputMode::Null),
];
const WATCHED: &[(&str, [bool; 2])] = &[
    ("stdout", [true, false]),
    ("stderr", [false, true]),
    ("both", [true, true]),
];

const DEFAULT_INPUT_LIMIT: u64 = 1 << 30;

/// Reads an expression; how much of it, whoever wants it knows.
pub(super) type ReadPattern = fn(&str) -> values::Parsed<Pattern>;

/// Resolves rules and streams together: patterns are known by their place in one list.
pub(super) fn rules_and_streams(
    settings: &Settings<'_>,
    policy_rules: &[Layer],
    command: &[OsString],
    read_pattern: ReadPattern,
) -> Result<(Classifier, StreamOptions), Usage> {
    let mut patterns: Vec<Pattern> = Vec::new();
    let mut of_option = |long: &str| -> Result<Vec<usize>, Usage> {
        let given = settings.read_all(long, read_pattern)?;
        let first = patterns.len();
        patterns.extend(given.into_iter().map(|given| given.value));
        Ok((first..patterns.len()).collect())
    };
    let success_match = of_option("success-match")?;
    let fail_match = of_option("fail-match")?;
    let mut rules = Vec::new();
    for (long, stops) in [("stop-match", true), ("retry-match", false)] {
        for pattern in of_option(long)? {
            rules.push(rule(long, stops, None, Some(pattern)));
        }
    }
    for (long, stops) in [("stop-exit", true), ("retry-exit", false)] {
        if let Some(codes) = value(settings.read(long, values::codes)?) {
            rules.push(rule(long, stops, Some(codes), None));
        }
    }
    for (long, stops) in [("stop-signal", true), ("retry-signal", false)] {
        if let Some(signals) = value(settings.read(long, values::signals)?) {
            rules.push(Rule {
                signals: Some(signals),
                ..rule(long, stops, None, None)
            });
        }
    }
    for preset in presets(settings, command)? {
        for row in &preset.rows {
            let pattern = match row.text {
                // A text of ours that does not compile is a defect, which a test finds.
                Some(text) => match read_pattern(&format!("(?i){text}")) {
                    Ok(pattern) => {
                        patterns.push(pattern);
                        Some(patterns.len() - 1)
                    }
                    Err(_) => continue,
                },
                None => None,
            };
            let stops = row.verdict == presets::Verdict::Stop;
            let name = format!("--for {}", preset.name);
            rules.push(Rule {
                stops,
                codes: row.codes,
                signals: None,
                pattern,
                name,
            });
        }
    }
    let classifier = Classifier {
        success_exit: value(settings.read("success-exit", values::codes)?).unwrap_or_else(zero),
        success_match,
        fail_match,
        rules,
        classes: classes::rules(policy_rules, read_pattern, &mut patterns)?,
        stop_on_timeout: settings.is_on("stop-on-timeout")?,
        asks: shell(settings, "retry-if")?.is_some(),
    };
    let patterns = Patterns::new(patterns);
    let streams = StreamOptions {
        input: value(settings.read("stdin", |text| values::one_of(text, INPUTS))?).unwrap_or(InputMode::Auto),
        input_limit: value(settings.read("stdin-limit", values::size)?).unwrap_or(DEFAULT_INPUT_LIMIT),
        keep: [keep(settings, "stdout", STDOUTS)?, keep(settings, "stderr", STDERRS)?],
        pty: settings.is_on("pty")?,
        watched: value(settings.read("match-on", |text| values::one_of(text, WATCHED))?).unwrap_or([true, true]),
        superseded: classifier.superseded(patterns.len()),
        patterns: Arc::new(patterns),
        retry_after: settings.is_on("retry-after")?,
        copy: classifier.asks,
        idle: settings
            .read("idle-timeout", values::duration)?
            .is_some_and(|idle| !idle.value.is_zero()),
    };
    Ok((classifier, streams))
}

fn rule(long: &str, stops: bool, codes: Option<CodeSet>, pattern: Option<usize>) -> Rule {
    Rule {
        stops,
        codes,
        signals: None,
        pattern,
        name: format!("--{long}"),
    }
}

fn zero() -> CodeSet {
    let mut zero = CodeSet::default();
    zero.add(0..=0);
    zero
}

fn keep(settings: &Settings<'_>, long: &str, words: &[(&str, OutputMode)]) -> Result<OutputMode, Usage> {
    Ok(value(settings.read(long, |text| values::one_of(text, words))?).unwrap_or(OutputMode::Stream))
}

/// The command's file name, by which `--for auto` goes.
pub(super) fn program(command: &[OsString]) -> Option<&str> {
    Path::new(command.first()?).file_name()?.to_str()
}

/// `--for`: the presets named; `auto` is the one for the command, if there is one.
fn presets(settings: &Settings<'_>, command: &[OsString]) -> Result<Vec<Preset>, Usage> {
    let program = program(command);
    let found: Option<Sourced<Vec<Option<Preset>>>> = settings.read("for", |text| {
        text.split(',')
            .map(str::trim)
            .map(|name| match name {
                "auto" => Ok(program.and_then(presets::for_program)),
                name => match presets::find(name) {
                    Some(preset) => Ok(Some(preset)),
                    None => Err(format!(
                        "names no preset{}; --list-presets shows them, and auto goes by the command",
                        if name == text {
                            String::new()
                        } else {
                            format!(" with {name:?}")
                        }
                    )),
                },
            })
            .collect()
    })?;
    Ok(value(found).into_iter().flatten().flatten().collect())
}
