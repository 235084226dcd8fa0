//! What becomes of the command's standard streams.

use std::sync::Arc;

use crate::cli::defaults;
use crate::config::settings::{Settings, is_on};
use crate::config::sourced::{Source, UsageError, value};
use crate::policy::classifier::Classifier;
use crate::policy::session::Limits;
use crate::run::streams::{InputMode, StreamOptions};
use crate::search::pattern::Pattern;
use crate::search::scanner::Patterns;

pub(super) fn streams(
    settings: &Settings,
    classifier: &Classifier,
    patterns: Vec<Pattern>,
    limits: &Limits,
) -> Result<StreamOptions, UsageError> {
    let input = match value(&settings.stdin).unwrap_or(defaults::STDIN) {
        // Nothing will be given again.
        InputMode::Auto if limits.attempts == Some(1) => InputMode::Inherit,
        input => input,
    };
    let output = |said| value(said).unwrap_or(defaults::OUTPUT);
    Ok(StreamOptions {
        input,
        input_limit: value(&settings.stdin_limit).unwrap_or(defaults::STDIN_LIMIT),
        keep: [output(&settings.stdout), output(&settings.stderr)],
        pty: is_on(&settings.pty),
        watched: value(&settings.match_on).unwrap_or(defaults::MATCH_ON),
        patterns: {
            let superseded = classifier.superseded(patterns.len());
            Arc::new(Patterns::new(patterns, superseded))
        },
        retry_after: is_on(&settings.retry_after),
        retry_if: classifier.asks,
        success_if: settings.success_if.is_some(),
        hook_output: hook_output(settings)?,
        idle: settings.idle_timeout.as_ref().is_some_and(|idle| !idle.value.is_zero()),
    })
}

/// How much of the output hooks get, if there are any.
fn hook_output(settings: &Settings) -> Result<Option<usize>, UsageError> {
    let hooks = [&settings.on_retry, &settings.before_retry, &settings.on_give_up];
    let has_hooks = hooks.iter().any(|hook| hook.is_some());
    match &settings.hook_output {
        // As a variable, 1 is on.
        Some(said) if said.to_string() == "--hook-output=1" => {
            Err(said.unreadable("is one byte, or on? try --hook-output, or a size such as --hook-output=4KiB"))
        }
        Some(said) if has_hooks => Ok(said.value),
        Some(said) if said.value.is_some() && said.statement.source == Source::Flag => Err(UsageError(
            "--hook-output needs a hook that reads it; try --on-give-up, --on-retry or --before-retry".into(),
        )),
        _ => Ok(None),
    }
}
