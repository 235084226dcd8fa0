//! The command's standard streams, backoff's own messages, and exit statuses. Arrays follow the order of the options'
//! words.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::setting::Source;
use crate::config::settings::Settings;
use crate::config::values::{self, CoolOffMode, Parsed};
use crate::policy::exit::Overrides;
use crate::policy::sets::CodeSet;
use crate::run::plan::{Format, OutputOptions, Progress, When};
use crate::run::streams::InputMode::{self, Auto, Inherit, Replay};
use crate::run::streams::OutputMode::{Failure, Final, Null, Stream, Success};
use crate::run::streams::StreamOptions;
use crate::search::scanner::Patterns;

pub(super) fn streams(
    settings: &Settings,
    patterns: Patterns,
    attempts: Option<u64>,
) -> Parsed<StreamOptions> {
    // A single attempt needs no replay.
    let auto = if attempts == Some(1) { Inherit } else { Auto };
    let hook_output = settings.get("hook-output", values::hook_output)?.flatten();
    let hooks = ["on-retry", "before-retry", "on-give-up"];
    let has_hooks = hooks.iter().any(|hook| settings.find(hook).is_some());
    Ok(StreamOptions {
        input: settings.choice("stdin", &[auto, Inherit, Replay, InputMode::Null])?,
        input_limit: settings.value("stdin-limit", values::size)?,
        outputs: [
            settings.choice("stdout", &[Stream, Final, Success, Failure, Null])?,
            settings.choice("stderr", &[Stream, Final, Failure, Null])?,
        ],
        pty: settings.is_on("pty")?,
        watched: settings.choice("match-on", &[[true, false], [false, true], [true, true]])?,
        patterns: Arc::new(patterns),
        retry_after: settings.get("retry-after", values::retry_after)?.flatten(),
        retry_if: settings.find("retry-if").is_some(),
        success_if: settings.find("success-if").is_some(),
        hook_output: hook_output.filter(|_| has_hooks),
        idle: settings
            .duration("idle-timeout")?
            .is_some_and(|idle| !idle.is_zero()),
    })
}

pub(super) fn output(settings: &Settings) -> Parsed<OutputOptions> {
    let formats = [
        Format::Text,
        Format::Json,
        Format::GitHub,
        Format::GitHubGroups,
    ];
    let format = settings.choice("log-format", &formats)?;
    let log_file = file(settings, "log-file")?;
    let quiet = settings.count("quiet")?.min(2);
    let verbose = settings.count("verbose")?;
    // Machine-readable output stays free of the countdown.
    let has_countdown = quiet == 0 && (format == Format::Text || log_file.is_some());
    let progress = settings.choice(
        "progress",
        &[Some(Progress::Auto), Some(Progress::Always), None],
    )?;
    Ok(OutputOptions {
        verbosity: match (quiet, &log_file) {
            (0, _) => i16::from(verbose),
            // --quiet applies to standard error, not to a log file.
            (_, Some(_)) => 0,
            (_, None) => -i16::from(quiet),
        },
        format,
        log_file,
        report: file(settings, "report")?,
        label: settings.get("label", values::label)?,
        color: settings.choice("color", &[When::Auto, When::Always, When::Never])?,
        progress: progress.filter(|_| has_countdown),
    })
}

/// Returns the file of an option; `-` is standard output.
fn file(settings: &Settings, long: &str) -> Parsed<Option<PathBuf>> {
    let path = settings.path(long)?;
    let is_stdout = path.as_deref() == Some(Path::new("-"));
    Ok(if is_stdout {
        Some("/dev/stdout".into())
    } else {
        path
    })
}

/// Returns an error if a variable or file turns a failure into a success: the user may have forgotten such a setting.
pub(super) fn check_command_line_only(settings: &Settings) -> Parsed<()> {
    let command_line_only = ["until", "exhausted-exit", "cool-off"];
    for setting in command_line_only
        .iter()
        .filter_map(|long| settings.find(long))
    {
        let makes_success = match setting.opt.long {
            "until" => setting.text == "failure",
            "cool-off" => setting.parse(values::cool_off) == Ok(CoolOffMode::Skip(0)),
            _ => setting.parse(values::code) == Ok(0),
        };
        if makes_success && setting.source != Source::Flag {
            return Err(setting.error(
                "is accepted on the command line only, as it turns a failure into a success",
            ));
        }
    }
    Ok(())
}

/// Returns the exit statuses that options set in place of the command's own.
pub(super) fn overrides(settings: &Settings) -> Parsed<Overrides> {
    let success = settings
        .all("success-exit", values::success_codes)?
        .into_iter();
    Ok(Overrides {
        exhausted: settings.get("exhausted-exit", values::code)?,
        flaky: settings.get("flaky-exit", values::code)?,
        zero: success
            .map(|codes| codes.zero)
            .fold(CodeSet::default(), CodeSet::union),
    })
}
