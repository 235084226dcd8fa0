//! Options on the standard streams of the command.

use super::opt::{Heading, Kind, Opt, Reader, Spec};
use super::values;
use crate::run::streams::{InputMode, OutputMode};

static STDIN_WORDS: [(&str, InputMode); 4] = [
    ("auto", InputMode::Auto),
    ("inherit", InputMode::Inherit),
    ("replay", InputMode::Replay),
    ("null", InputMode::Null),
];

/// `--stdin`
pub(crate) static STDIN: Opt<InputMode> = Opt {
    reader: Reader::Text(|text| values::word(&STDIN_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&STDIN_WORDS)),
        about: "How to provide standard input",
        default: "auto",
        more: "auto: a file is rewound; a pipe or Unix socket is replayed, and only what COMMAND \
            reads is taken from it; all else is inherited. replay: read it to the end, then feed it to each \
            attempt. null: provide none.",
        ..Spec::named(Heading::Streams, "stdin")
    },
};

/// `--stdin-limit`
pub(crate) static STDIN_LIMIT: Opt<u64> = Opt {
    reader: Reader::Text(values::size),
    spec: Spec {
        kind: Kind::One("SIZE"),
        about: "Maximum amount of input kept for replay",
        default: "1GiB",
        more: "Past it the input still flows, but a failure is then final. It is kept in a file \
            without a name in TMPDIR, not in memory.",
        ..Spec::named(Heading::Streams, "stdin-limit")
    },
};

static STDOUT_WORDS: [(&str, OutputMode); 5] = [
    ("stream", OutputMode::Stream),
    ("final", OutputMode::Final),
    ("success", OutputMode::Success),
    ("failure", OutputMode::Failure),
    ("null", OutputMode::Null),
];

/// `--stdout`
pub(crate) static STDOUT: Opt<OutputMode> = Opt {
    reader: Reader::Text(|text| values::word(&STDOUT_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&STDOUT_WORDS)),
        about: "How to handle standard output",
        default: "stream",
        more: "stream: print as it comes. final: print that of the last attempt; success: only if \
            it succeeds. failure: print that of all attempts, in order, if the run fails: for \
            cron. null: drop.",
        ..Spec::named(Heading::Streams, "stdout")
    },
};

static STDERR_WORDS: [(&str, OutputMode); 4] = [
    ("stream", OutputMode::Stream),
    ("final", OutputMode::Final),
    ("failure", OutputMode::Failure),
    ("null", OutputMode::Null),
];

/// `--stderr`
pub(crate) static STDERR: Opt<OutputMode> = Opt {
    reader: Reader::Text(|text| values::word(&STDERR_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&STDERR_WORDS)),
        about: "How to handle standard error",
        default: "stream",
        more: "As --stdout. failure also holds back messages of backoff and the standard error of \
            predicates and hooks, so that a run that succeeds prints nothing. If --stdout is \
            kept as well, all of standard output comes first.",
        ..Spec::named(Heading::Streams, "stderr")
    },
};

/// `--pty`
pub(crate) static PTY: Opt<bool> = Opt {
    reader: Reader::Text(values::switch),
    spec: Spec {
        kind: Kind::Switch,
        about: "Run each attempt on a pseudo-terminal to keep colors",
        more: "Standard output and standard error are then one stream with CR LF line ends, on \
            standard output. If standard input and output are a terminal, COMMAND gets what is \
            typed, and what it does not read is lost.",
        ..Spec::named(Heading::Streams, "pty")
    },
};
