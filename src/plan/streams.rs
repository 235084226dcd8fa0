//! What becomes of the command's standard streams.

use std::sync::Arc;

use crate::cli::defaults;
use crate::config::settings::{Settings, is_on};
use crate::config::sourced::value;
use crate::policy::classifier::Classifier;
use crate::policy::session::Limits;
use crate::run::streams::{InputMode, StreamOptions};
use crate::search::pattern::{Pattern, Patterns};

pub(super) fn streams(
    settings: &Settings,
    classifier: &Classifier,
    patterns: Vec<Pattern>,
    limits: &Limits,
) -> StreamOptions {
    let input = match value(&settings.stdin).unwrap_or(defaults::STDIN) {
        // Nothing will be given again.
        InputMode::Auto if limits.attempts == Some(1) => InputMode::Inherit,
        input => input,
    };
    let output = |said| value(said).unwrap_or(defaults::OUTPUT);
    StreamOptions {
        input,
        input_limit: value(&settings.stdin_limit).unwrap_or(defaults::STDIN_LIMIT),
        keep: [output(&settings.stdout), output(&settings.stderr)],
        pty: is_on(&settings.pty),
        watched: value(&settings.match_on).unwrap_or(defaults::MATCH_ON),
        superseded: classifier.superseded(patterns.len()),
        patterns: Arc::new(Patterns::new(patterns)),
        retry_after: is_on(&settings.retry_after),
        copy: classifier.asks,
        idle: settings.idle_timeout.as_ref().is_some_and(|idle| !idle.value.is_zero()),
    }
}
