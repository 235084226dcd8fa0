//! Options on attempts and time.

use std::time::Duration;

use super::opt::{Completion, Heading, Kind, Opt, Reader, Spec};
use super::values;
use crate::policy::signal::Signal;

/// The behavior of a run inside another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nested {
    Allow,
    /// Leaves retries to the outer run.
    Once,
    Warn,
}

/// `--attempts`
pub(crate) static ATTEMPTS: Opt<Option<u64>> = Opt {
    reader: Reader::Text(values::attempts),
    spec: Spec {
        short: Some('n'),
        kind: Kind::One("N|unlimited"),
        about: "Maximum number of attempts, including the first",
        default: "5",
        exceptions: "unlimited with --deadline, --stop-after or --until never",
        example: "3",
        ..Spec::named(Heading::Time, "attempts")
    },
};

/// `--deadline`
pub(crate) static DEADLINE: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        short: Some('d'),
        kind: Kind::One("DURATION"),
        about: "Maximum time for the whole run",
        more: "Removes an attempt limit that is set at a lower level: typed, that of a variable, a \
            policy or the file, and the default of 5. A wait that would end past the deadline is not started: \
            then the status is that of the last attempt. Ends a running attempt as --timeout \
            does, with the time of --kill-after on top if it ignores TERM: then it is 124. --exhausted-exit 124 makes it 124 in both cases. Waits count, \
            those before the first attempt (--splay) included, as does time while stopped \
            (Ctrl-Z). 0 disables.",
        example: "1m",
        ..Spec::named(Heading::Time, "deadline")
    },
};

/// `--stop-after`
pub(crate) static STOP_AFTER: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Time limit for starting attempts; a running one may finish",
        more: "A limit, unlike --stop-exit and --stop-match, which make a failure permanent. A wait \
            that would end past this time is not started. Time while stopped (Ctrl-Z) counts. 0 \
            disables.",
        example: "1m",
        ..Spec::named(Heading::Time, "stop-after")
    },
};

/// `--timeout`
pub(crate) static TIMEOUT: Opt<Vec<Duration>> = Opt {
    reader: Reader::Text(values::durations),
    spec: Spec {
        short: Some('t'),
        kind: Kind::List("DURATION,..."),
        about: "Maximum time for one attempt",
        more: "30s,1m,2m gives the first attempt 30s, the second 1m, all later ones 2m. The process \
            tree gets --signal, then SIGKILL after --kill-after. A timeout is transient unless \
            --stop-exit lists it. 0 disables.",
        example: "30s,1m",
        ..Spec::named(Heading::Time, "timeout")
    },
};

/// `--idle-timeout`
pub(crate) static IDLE_TIMEOUT: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        short: Some('i'),
        kind: Kind::One("DURATION"),
        about: "Maximum time without output",
        more: "Ends an attempt that writes nothing for this long, as --timeout does. A program that \
            keeps its output back while it writes to a pipe counts as silent: add --pty, or \
            PYTHONUNBUFFERED=1. 0 disables.",
        example: "30s",
        ..Spec::named(Heading::Time, "idle-timeout")
    },
};

/// `--signal`
pub(crate) static SIGNAL: Opt<Signal> = Opt {
    reader: Reader::Text(values::signal),
    spec: Spec {
        short: Some('s'),
        kind: Kind::One("SIGNAL"),
        about: "Signal sent on timeout",
        default: "TERM",
        completion: Completion::Signals,
        ..Spec::named(Heading::Time, "signal")
    },
};

/// `--kill-after`
pub(crate) static KILL_AFTER: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        short: Some('k'),
        kind: Kind::One("DURATION"),
        about: "Send SIGKILL this long after the signal",
        default: "5s",
        more: "0 disables. If given, SIGKILL also follows a SIGTERM, SIGINT, SIGHUP or SIGQUIT that \
            the attempt gets, Ctrl-C included.",
        ..Spec::named(Heading::Time, "kill-after")
    },
};

static NESTED_WORDS: [(&str, Nested); 3] = [
    ("allow", Nested::Allow),
    ("once", Nested::Once),
    ("warn", Nested::Warn),
];

/// `--nested`
pub(crate) static NESTED: Opt<Nested> = Opt {
    reader: Reader::Text(|text| values::word(&NESTED_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&NESTED_WORDS)),
        about: "How to retry under an outer backoff",
        default: "warn",
        more: "Nested retries multiply: 3 x 3 = 9 calls. allow: retry; warn: retry, and print how \
            many calls that allows; once: run COMMAND once and leave retries to the outer run, \
            which is known by BACKOFF_DEPTH (env -i and ssh remove it).",
        ..Spec::named(Heading::Time, "nested")
    },
};
