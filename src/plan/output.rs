//! What backoff says, and where.

use std::path::{Path, PathBuf};

use crate::cli::defaults;
use crate::config::settings::Settings;
use crate::config::sourced::{UsageError, exclude, value};
use crate::run::output::{Format, OutputOptions, Progress, When};

pub(super) fn output(settings: &Settings) -> Result<OutputOptions, UsageError> {
    let verbosity = verbosity(settings)?;
    let format = value(&settings.log_format).unwrap_or(defaults::LOG_FORMAT);
    let log_file = value(&settings.log_file).map(standard_output);
    let report = value(&settings.report).map(standard_output);
    if let (Some(log), Some(summary)) = (&settings.log_file, &settings.report)
        && log_file == report
        && !summary.value.starts_with("/dev")
        && summary.value != Path::new("-")
    {
        return Err(UsageError(format!(
            "{log} cannot go with {summary}: the report would replace the log; try another file"
        )));
    }
    let progress = match value(&settings.progress).unwrap_or(defaults::PROGRESS) {
        When::Never => None,
        _ if verbosity < 0 => None,
        // What programs read has to stay readable.
        _ if format != Format::Text && log_file.is_none() => None,
        When::Auto => Some(Progress::Auto),
        When::Always => Some(Progress::Always),
    };
    Ok(OutputOptions {
        // --quiet is about standard error: a log was asked for by its name.
        verbosity: if log_file.is_some() {
            verbosity.max(0)
        } else {
            verbosity
        },
        format,
        log_file,
        report,
        label: value(&settings.label),
        colour: value(&settings.color).unwrap_or(defaults::COLOR),
        progress,
    })
}

/// `-` is standard output, as elsewhere.
fn standard_output(path: PathBuf) -> PathBuf {
    if path == Path::new("-") {
        "/dev/stdout".into()
    } else {
        path
    }
}

fn verbosity(settings: &Settings) -> Result<i16, UsageError> {
    let mut quiet = settings.quiet.clone().filter(|said| said.value > 0);
    let mut verbose = settings.verbose.clone().filter(|said| said.value > 0);
    exclude(&mut quiet, &mut verbose, "one silences what the other asks for")?;
    Ok(if quiet.is_some() {
        -1
    } else {
        verbose.map_or(0, |said| i16::from(said.value))
    })
}
