//! Reads the options on the command's standard streams, on backoff's own messages, and on exit statuses.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::rules::Rules;
use crate::config::setting::{Setting, Source};
use crate::config::settings::Settings;
use crate::options::opt::Opt;
use crate::options::problem::Checked;
use crate::options::{
    BEFORE_RETRY, COLOR, EXHAUSTED_EXIT, FLAKY_EXIT, HOOK_OUTPUT, IDLE_TIMEOUT, LABEL, LOG_FILE,
    LOG_FORMAT, MATCH_ON, MatchOn, ON_GIVE_UP, ON_RETRY, PROGRESS, PTY, QUIET, REPORT, RETRY_AFTER,
    RETRY_IF, STDERR, STDIN, STDIN_LIMIT, STDOUT, SUCCESS_EXIT, SUCCESS_IF, UNTIL, VERBOSE,
};
use crate::policy::exit::Overrides;
use crate::policy::session::Until;
use crate::policy::sets::CodeSet;
use crate::run::plan::{Format, OutputOptions};
use crate::run::streams::{InputMode, PerChannel, StreamOptions};

/// Reads the options on the command's standard streams, from which the run later decides what it has to read itself.
/// `rules` tell what is searched for. `attempts` is the limit on attempts, None without one: with several attempts, the
/// input may have to be kept for the next one.
pub(super) fn streams(
    settings: &Settings,
    rules: &Rules,
    attempts: Option<u64>,
) -> Checked<StreamOptions> {
    let has_hook_output = settings.is_on(&HOOK_OUTPUT)?;
    let has_hooks =
        settings.has(&ON_RETRY) || settings.has(&BEFORE_RETRY) || settings.has(&ON_GIVE_UP);
    let idle_timeout = settings.get(&IDLE_TIMEOUT)?;
    Ok(StreamOptions {
        input: match settings.value(&STDIN)? {
            // A single attempt needs no replay.
            InputMode::Auto if attempts == Some(1) => InputMode::Inherit,
            input => input,
        },
        input_limit: settings.value(&STDIN_LIMIT)?,
        modes: PerChannel {
            stdout: settings.value(&STDOUT)?,
            stderr: settings.value(&STDERR)?,
        },
        pty: settings.is_on(&PTY)?,
        is_watched: is_watched(settings.value(&MATCH_ON)?),
        watch_list: Rc::clone(&rules.watch_list),
        has_presets: rules.classifier.preset_rules.is_some(),
        reads_waits: settings.get(&RETRY_AFTER)?.flatten().is_some(),
        has_retry_if: settings.has(&RETRY_IF),
        has_success_if: settings.has(&SUCCESS_IF),
        // Without hooks, the output is not needed, and not kept.
        has_hook_output: has_hook_output && has_hooks,
        has_idle_timeout: idle_timeout.is_some_and(|idle| !idle.is_zero()),
    })
}

/// Returns which outputs rules and predicates examine, by `--match-on`. The other one can go straight to its reader.
fn is_watched(match_on: MatchOn) -> PerChannel<bool> {
    PerChannel {
        stdout: matches!(match_on, MatchOn::Stdout | MatchOn::Both),
        stderr: matches!(match_on, MatchOn::Stderr | MatchOn::Both),
    }
}

/// Reads the options on backoff's own messages. The verbosity of the result is above 0 for `-v`, and below 0 for `-q`;
/// `config::conflicts` leaves only one of the two.
pub(super) fn output(settings: &Settings) -> Checked<OutputOptions> {
    let format = settings.value(&LOG_FORMAT)?;
    let log_file = file(settings, &LOG_FILE)?;
    // More than `-qq` means no more.
    let quiet = settings.count(&QUIET)?.min(2);
    let verbose = settings.count(&VERBOSE)?;
    // Machine-readable output stays free of the countdown.
    let has_countdown = quiet == 0 && (format == Format::Text || log_file.is_some());
    let progress = settings.value(&PROGRESS)?;
    Ok(OutputOptions {
        verbosity: match (quiet, &log_file) {
            (0, _) => i16::from(verbose),
            // --quiet applies to standard error, not to a log file.
            (_, Some(_)) => 0,
            (_, None) => -i16::from(quiet),
        },
        format,
        log_file,
        report: file(settings, &REPORT)?,
        label: settings.get(&LABEL)?,
        color: settings.value(&COLOR)?,
        progress: if has_countdown { progress } else { None },
    })
}

/// Returns the file that an option names, or None if the option is not given. `-` is standard output, by the name under
/// which it can be opened like a file.
fn file(settings: &Settings, opt: &Opt<PathBuf>) -> Checked<Option<PathBuf>> {
    let path = settings.get(opt)?;
    if path.as_deref() == Some(Path::new("-")) {
        return Ok(Some("/dev/stdout".into()));
    }
    Ok(path)
}

/// Returns an error if a variable or the file turns a failure into a success, so that backoff would exit with 0
/// although the command failed: only who types such an option surely means it, while the other sources may be
/// forgotten. `--success-exit` is no such option: it says what a failure is.
pub(super) fn check_command_line_only(settings: &Settings) -> Checked<()> {
    check_typed(settings, &UNTIL, &Until::Failure)?;
    check_typed(settings, &EXHAUSTED_EXIT, &0)
}

/// Returns an error if another source than the command line sets an option to the value `success`, which makes a
/// success of a failure. Other values, and a text that cannot be read, are left to the reader of the option.
fn check_typed<T: PartialEq>(settings: &Settings, opt: &Opt<T>, success: &T) -> Checked<()> {
    let Some(setting) = settings.find(opt) else {
        return Ok(());
    };
    if setting.source == Source::Flag || !is_value(setting, opt, success) {
        return Ok(());
    }
    Err(setting.error("is accepted on the command line only, as it turns a failure into a success"))
}

/// Returns true if a setting has this value; a text that cannot be read has none.
fn is_value<T: PartialEq>(setting: &Setting, opt: &Opt<T>, value: &T) -> bool {
    setting.read(opt).is_ok_and(|read| read == *value)
}

/// Reads the exit statuses that options set in place of the command's own: of an exhausted run, of one that succeeded
/// only after a retry, and the codes of the command that become 0.
pub(super) fn overrides(settings: &Settings) -> Checked<Overrides> {
    let success = settings.all(&SUCCESS_EXIT)?.into_iter();
    Ok(Overrides {
        exhausted: settings.get(&EXHAUSTED_EXIT)?,
        flaky: settings.get(&FLAKY_EXIT)?,
        zero: success
            .map(|codes| codes.zero)
            .fold(CodeSet::default(), CodeSet::union),
    })
}
