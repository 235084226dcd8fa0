//! The command's standard streams, backoff's own messages, and exit statuses.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::rules::Rules;
use crate::cli::options::{MatchOn, Options, Output};
use crate::policy::exit::Overrides;
use crate::policy::sets::CodeSet;
use crate::process::sys::stdio;
use crate::run::plan::{Format, OutputOptions, When};
use crate::run::streams::{InputMode, PerChannel, StreamOptions};

/// Returns the options for the command's standard streams, from which the run later decides what it has to read itself.
/// `rules` tell what to search for.
pub(super) fn streams(options: &Options, rules: &Rules) -> StreamOptions {
    let Options {
        streams,
        hooks,
        time,
        ..
    } = options;
    let has_hooks =
        hooks.on_retry.is_some() || hooks.before_retry.is_some() || hooks.on_give_up.is_some();
    StreamOptions {
        input: match streams.stdin {
            // A single attempt needs no replay.
            InputMode::Auto if time.attempts == Some(1) => InputMode::Inherit,
            input => input,
        },
        input_limit: streams.stdin_limit,
        modes: PerChannel {
            stdout: streams.stdout,
            stderr: streams.stderr,
        },
        pty: streams.pty,
        is_terminal: PerChannel {
            stdout: stdio::is_terminal(stdio::OUT),
            stderr: stdio::is_terminal(stdio::ERR),
        },
        is_watched: is_watched(options.rules.match_on),
        watch_list: Rc::clone(&rules.watch_list),
        has_presets: rules.classifier.preset_rules.is_some(),
        reads_waits: options.waits.retry_after.is_some(),
        has_retry_if: options.rules.retry_if.is_some(),
        has_success_if: options.rules.success_if.is_some(),
        // Without hooks, the output is neither needed nor kept.
        has_hook_output: hooks.hook_output && has_hooks,
        has_idle_timeout: time.idle_timeout.is_some_and(|idle| !idle.is_zero()),
    }
}

/// Returns which outputs rules and predicates examine (`--match-on`). The other one can go straight to its reader.
fn is_watched(match_on: MatchOn) -> PerChannel<bool> {
    PerChannel {
        stdout: matches!(match_on, MatchOn::Stdout | MatchOn::Both),
        stderr: matches!(match_on, MatchOn::Stderr | MatchOn::Both),
    }
}

/// Returns the options for backoff's own messages. The verbosity is above 0 for `-v`, and below 0 for `-q`.
pub(super) fn output(output: &Output) -> OutputOptions {
    let log_file = file(output.log_file.as_deref());
    // More than `-qq` changes nothing.
    let quiet = output.quiet.min(2);
    // Machine-readable output has no countdown.
    let has_countdown = quiet == 0 && (output.log_format == Format::Text || log_file.is_some());
    OutputOptions {
        verbosity: match (quiet, &log_file) {
            (0, _) => i16::from(output.verbose),
            // --quiet applies to standard error, not to a log file.
            (_, Some(_)) => 0,
            (_, None) => -i16::from(quiet),
        },
        format: output.log_format,
        log_file,
        report: file(output.report.as_deref()),
        label: output.label.clone(),
        color: output.color,
        progress: if has_countdown {
            output.progress
        } else {
            When::Never
        },
    }
}

/// Returns the file that an option names. `-` is standard output, by a name that can be opened like a file.
fn file(path: Option<&Path>) -> Option<PathBuf> {
    match path {
        Some(path) if path == Path::new("-") => Some("/dev/stdout".into()),
        path => path.map(Path::to_owned),
    }
}

/// Returns the exit statuses that options set in place of the command's own: for an exhausted run, for one that
/// succeeded only after a retry, and the command's codes that become 0.
pub(super) fn overrides(options: &Options) -> Overrides {
    let success = options.rules.success_exit.iter();
    Overrides {
        exhausted: options.output.exhausted_exit,
        flaky: options.output.flaky_exit,
        zero: success
            .map(|codes| codes.zero)
            .fold(CodeSet::default(), CodeSet::union),
    }
}
