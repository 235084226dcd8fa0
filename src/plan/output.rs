//! What backoff says, and where.

use std::path::{Path, PathBuf};

use super::resolve::value;
use crate::config::settings::{Settings, Usage, exclude};
use crate::config::values;
use crate::run::output::{Format, OutputOptions, Progress, When};

const FORMATS: &[(&str, Format)] = &[
    ("text", Format::Text),
    ("json", Format::Json),
    ("github", Format::GitHub),
];
const WHEN: &[(&str, When)] = &[("auto", When::Auto), ("always", When::Always), ("never", When::Never)];

pub(super) fn output(settings: &Settings<'_>) -> Result<OutputOptions, Usage> {
    let verbosity = verbosity(settings)?;
    let format = value(settings.read("log-format", |text| values::one_of(text, FORMATS))?).unwrap_or(Format::Text);
    let when = |name| settings.read(name, |text| values::one_of(text, WHEN));
    let path = |name| Ok(value(settings.read_path(name)?).map(standard_output));
    let log_file = path("log-file")?;
    let progress = match value(when("progress")?).unwrap_or(When::Auto) {
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
        report: path("report")?,
        colour: value(when("color")?).unwrap_or(When::Auto),
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

fn verbosity(settings: &Settings<'_>) -> Result<i16, Usage> {
    let mut quiet = settings.switch("quiet")?.filter(|given| given.value > 0);
    let mut verbose = settings.switch("verbose")?.filter(|given| given.value > 0);
    exclude(&mut quiet, &mut verbose, "one silences what the other asks for")?;
    Ok(if quiet.is_some() {
        -1
    } else {
        value(verbose).map_or(0, i16::from)
    })
}
