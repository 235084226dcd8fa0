//! Options on messages, files and exit statuses.

use std::path::PathBuf;

use super::opt::{Completion, Heading, Kind, Opt, Reader, Spec};
use super::values;
use crate::run::plan::{Format, Progress, When};

/// `--quiet`
pub(crate) static QUIET: Opt<u8> = Opt {
    reader: Reader::Text(values::count),
    spec: Spec {
        short: Some('q'),
        kind: Kind::Count,
        about: "Print only the last line of a failed run, and warnings",
        more: "Twice: only warnings and backoff's own errors, for conditions (if backoff -qq ...).",
        ..Spec::named(Heading::Output, "quiet")
    },
};

/// `--verbose`
pub(crate) static VERBOSE: Opt<u8> = Opt {
    reader: Reader::Text(values::count),
    spec: Spec {
        short: Some('v'),
        kind: Kind::Count,
        about: "Print more; twice: all settings, rules and arguments",
        more: "Once: also starts, successes, unknown BACKOFF_* variables. Twice: also each setting \
            and rule with its origin.",
        ..Spec::named(Heading::Output, "verbose")
    },
};

static LOG_FORMAT_WORDS: [(&str, Format); 3] = [
    ("text", Format::Text),
    ("json", Format::Json),
    ("github", Format::GitHub),
];

/// `--log-format`
pub(crate) static LOG_FORMAT: Opt<Format> = Opt {
    reader: Reader::Text(|text| values::word(&LOG_FORMAT_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&LOG_FORMAT_WORDS)),
        about: "Format of messages",
        default: "text",
        more: "json: one object per line. github: commands of GitHub Actions.",
        ..Spec::named(Heading::Output, "log-format")
    },
};

/// `--log-file`
pub(crate) static LOG_FILE: Opt<PathBuf> = Opt {
    reader: Reader::Path(values::path),
    spec: Spec {
        kind: Kind::One("PATH"),
        about: "Append messages to this file, not standard error",
        more: "- is standard output. A new file is for its owner only (0600). Each line is one write, so that runs can \
            share a file, which stays open (logrotate: copytruncate). -q does not apply.",
        example: "run.log",
        completion: Completion::Files,
        ..Spec::named(Heading::Output, "log-file")
    },
};

/// `--label`
pub(crate) static LABEL: Opt<String> = Opt {
    reader: Reader::Text(values::label),
    spec: Spec {
        kind: Kind::One("TEXT"),
        about: "Name of COMMAND in messages",
        more: "One line of up to 64 characters. JSON lines and the report have it beside the name.",
        example: "nightly-sync",
        ..Spec::named(Heading::Output, "label")
    },
};

/// `--report`
pub(crate) static REPORT: Opt<PathBuf> = Opt {
    reader: Reader::Path(values::path),
    spec: Spec {
        kind: Kind::One("PATH"),
        about: "Write a JSON summary of the run to this file",
        more: "- is standard output. The file is complete or not written at all, also if the run is \
            interrupted.",
        example: "run.json",
        completion: Completion::Files,
        ..Spec::named(Heading::Output, "report")
    },
};

static COLOR_WORDS: [(&str, When); 3] = [
    ("auto", When::Auto),
    ("always", When::Always),
    ("never", When::Never),
];

/// `--color`
pub(crate) static COLOR: Opt<When> = Opt {
    reader: Reader::Text(|text| values::word(&COLOR_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&COLOR_WORDS)),
        about: "When to use color",
        default: "auto",
        more: "auto: on a terminal, unless TERM is dumb; with CLICOLOR_FORCE, always; with \
            NO_COLOR, never, even with CLICOLOR_FORCE.",
        ..Spec::named(Heading::Output, "color")
    },
};

static PROGRESS_WORDS: [(&str, Option<Progress>); 3] = [
    ("auto", Some(Progress::Auto)),
    ("always", Some(Progress::Always)),
    ("never", None),
];

/// `--progress`
pub(crate) static PROGRESS: Opt<Option<Progress>> = Opt {
    reader: Reader::Text(|text| values::word(&PROGRESS_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&PROGRESS_WORDS)),
        about: "When to show a countdown during waits",
        default: "auto",
        more: "auto: on a terminal, for waits of a second and more. always: also if TERM is dumb.",
        ..Spec::named(Heading::Output, "progress")
    },
};

/// `--exhausted-exit`
pub(crate) static EXHAUSTED_EXIT: Opt<u8> = Opt {
    reader: Reader::Text(values::code),
    spec: Spec {
        kind: Kind::One("CODE"),
        about: "Exit status to return if retries run out",
        more: "By default, the command's own. Applies if a limit or a budget ended the run, not to \
            a permanent failure. 75 tells a scheduler to try later. 0 is accepted on the command \
            line only.",
        example: "75",
        ..Spec::named(Heading::Output, "exhausted-exit")
    },
};

/// `--flaky-exit`
pub(crate) static FLAKY_EXIT: Opt<u8> = Opt {
    reader: Reader::Text(values::code),
    spec: Spec {
        kind: Kind::One("CODE"),
        about: "Exit status to return on a late success",
        default: "0",
        ..Spec::named(Heading::Output, "flaky-exit")
    },
};
