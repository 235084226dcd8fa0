//! The command's standard streams, and backoff's own messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::classifier::Classifier;
use crate::run::output::{Format, OutputOptions, Progress, When};
use crate::run::streams::{InputMode, OutputMode, StreamOptions};
use crate::search::pattern::Pattern;
use crate::search::scanner::Patterns;

// Each array follows the order of the option's words.
const INPUTS: [InputMode; 4] = [InputMode::Auto, InputMode::Inherit, InputMode::Replay, InputMode::Null];
const STDOUTS: [OutputMode; 5] = [
    OutputMode::Stream,
    OutputMode::Final,
    OutputMode::Success,
    OutputMode::Failure,
    OutputMode::Null,
];
const STDERRS: [OutputMode; 4] = [
    OutputMode::Stream,
    OutputMode::Final,
    OutputMode::Failure,
    OutputMode::Null,
];
const FORMATS: [Format; 4] = [Format::Text, Format::Json, Format::GitHub, Format::GitHubGroups];
const WHEN: [When; 3] = [When::Auto, When::Always, When::Never];

pub(super) fn streams(
    settings: &Settings,
    classifier: &Classifier,
    patterns: Vec<Pattern>,
    attempts: Option<u64>,
) -> Result<StreamOptions, UsageError> {
    let superseded = classifier.superseded(patterns.len());
    Ok(StreamOptions {
        input: match settings.choice("stdin", &INPUTS)? {
            // A single attempt needs no replay.
            InputMode::Auto if attempts == Some(1) => InputMode::Inherit,
            input => input,
        },
        input_limit: settings.value("stdin-limit", values::size)?,
        keep: [
            settings.choice("stdout", &STDOUTS)?,
            settings.choice("stderr", &STDERRS)?,
        ],
        pty: settings.is_on("pty")?,
        watched: settings.choice("match-on", &[[true, false], [false, true], [true, true]])?,
        patterns: Arc::new(Patterns::new(patterns, superseded)),
        retry_after: settings.is_on("retry-after")?,
        retry_if: classifier.asks,
        success_if: settings.said("success-if").is_some(),
        hook_output: hook_output(settings)?,
        idle: settings.duration("idle-timeout")?.is_some_and(|idle| !idle.is_zero()),
    })
}

/// Returns the limit of the output that hooks get, if any.
fn hook_output(settings: &Settings) -> Result<Option<usize>, UsageError> {
    let size = settings.get("hook-output", values::hook_output)?.flatten();
    let Some(said) = settings.said("hook-output") else {
        return Ok(None);
    };
    let hooks = ["on-retry", "before-retry", "on-give-up"];
    let has_hooks = hooks.iter().any(|hook| settings.said(hook).is_some());
    match said.source == Source::Flag {
        // The variable's value 1 could mean on or one byte.
        true if said.text == "1" => {
            Err(said.unreadable("is one byte, or on? try --hook-output, or a size such as --hook-output=4KiB"))
        }
        true if size.is_some() && !has_hooks => Err(UsageError(
            "--hook-output needs a hook that reads it; try --on-give-up, --on-retry or --before-retry".into(),
        )),
        _ => Ok(size.filter(|_| has_hooks)),
    }
}

pub(super) fn output(settings: &Settings) -> Result<OutputOptions, UsageError> {
    let verbosity = match settings.is_on("quiet")? {
        true => -1,
        false => i16::from(settings.count("verbose")?),
    };
    let format = settings.choice("log-format", &FORMATS)?;
    let log_file = settings.path("log-file")?.map(standard_output);
    let report = settings.path("report")?.map(standard_output);
    if let (Some(log), Some(summary)) = (settings.said("log-file"), settings.said("report"))
        && log_file == report
        && !report.as_ref().is_some_and(|path| path.starts_with("/dev"))
    {
        return Err(UsageError(format!(
            "{log} cannot go with {summary}: the report would replace the log; try another file"
        )));
    }
    let progress = match settings.choice("progress", &WHEN)? {
        When::Never => None,
        _ if verbosity < 0 => None,
        // Machine-readable output stays free of the countdown.
        _ if format != Format::Text && log_file.is_none() => None,
        When::Auto => Some(Progress::Auto),
        When::Always => Some(Progress::Always),
    };
    Ok(OutputOptions {
        // --quiet applies to standard error, not to a log file.
        verbosity: if log_file.is_some() {
            verbosity.max(0)
        } else {
            verbosity
        },
        format,
        log_file,
        report,
        label: settings.get("label", values::label)?,
        colour: settings.choice("color", &WHEN)?,
        progress,
    })
}

/// Maps `-` to standard output.
fn standard_output(path: PathBuf) -> PathBuf {
    if path == Path::new("-") {
        "/dev/stdout".into()
    } else {
        path
    }
}
