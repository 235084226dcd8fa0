//! The command's standard streams, and backoff's own messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::said::{Source, UsageError};
use crate::config::settings::Settings;
use crate::config::values;
use crate::policy::classifier::Classifier;
use crate::run::output::{Format, OutputOptions, Progress, When};
use crate::run::streams::OutputMode::{Failure, Final, Null, Stream, Success};
use crate::run::streams::{InputMode, StreamOptions};
use crate::search::pattern::Pattern;
use crate::search::scanner::Patterns;

// The arrays follow the order of the options' words.

pub(super) fn streams(
    settings: &Settings,
    classifier: &Classifier,
    patterns: Vec<Pattern>,
    attempts: Option<u64>,
) -> Result<StreamOptions, UsageError> {
    let inputs = [InputMode::Auto, InputMode::Inherit, InputMode::Replay, InputMode::Null];
    Ok(StreamOptions {
        input: match settings.choice("stdin", &inputs)? {
            // A single attempt needs no replay.
            InputMode::Auto if attempts == Some(1) => InputMode::Inherit,
            input => input,
        },
        input_limit: settings.value("stdin-limit", values::size)?,
        keep: [
            settings.choice("stdout", &[Stream, Final, Success, Failure, Null])?,
            settings.choice("stderr", &[Stream, Final, Failure, Null])?,
        ],
        pty: settings.is_on("pty")?,
        watched: settings.choice("match-on", &[[true, false], [false, true], [true, true]])?,
        patterns: Arc::new(Patterns::new(patterns)),
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
    let hooks = ["on-retry", "before-retry", "on-give-up"];
    let has_hooks = hooks.iter().any(|hook| settings.said(hook).is_some());
    match settings.source("hook-output") {
        Some(Source::Flag) if size.is_some() && !has_hooks => Err(UsageError(
            "--hook-output needs a hook that reads it; try --on-give-up, --on-retry or --before-retry".into(),
        )),
        _ => Ok(size.filter(|_| has_hooks)),
    }
}

pub(super) fn output(settings: &Settings) -> Result<OutputOptions, UsageError> {
    let formats = [Format::Text, Format::Json, Format::GitHub, Format::GitHubGroups];
    let format = settings.choice("log-format", &formats)?;
    let log_file = file(settings, "log-file")?;
    let verbosity = match settings.is_on("quiet")? {
        // --quiet applies to standard error, not to a log file.
        true if log_file.is_some() => 0,
        true => -1,
        false => i16::from(settings.count("verbose")?),
    };
    // Machine-readable output stays free of the countdown.
    let has_countdown = !settings.is_on("quiet")? && (format == Format::Text || log_file.is_some());
    let progress = settings.choice("progress", &[Some(Progress::Auto), Some(Progress::Always), None])?;
    Ok(OutputOptions {
        verbosity,
        format,
        log_file,
        report: file(settings, "report")?,
        label: settings.get("label", values::label)?,
        colour: settings.choice("color", &[When::Auto, When::Always, When::Never])?,
        progress: progress.filter(|_| has_countdown),
    })
}

/// Returns the file of an option; `-` is standard output.
fn file(settings: &Settings, long: &str) -> Result<Option<PathBuf>, UsageError> {
    let path = settings.path(long)?;
    Ok(path.map(|path| match path == Path::new("-") {
        true => "/dev/stdout".into(),
        false => path,
    }))
}
