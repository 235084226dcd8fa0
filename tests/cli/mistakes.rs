//! The mistakes of a first day: each gets one line that says what is wrong, where, and what would be right, and nothing
//! is started.

use crate::common::{Ends, shell};

/// A line of shell, and a part of the message. All end with status 125, except those of [`NOT_FOUND`].
const MISTAKES: &[(&str, &str)] = &[
    // Names of other tools.
    (
        "backoff --retries 3 -- touch ran",
        "tip: try -n, which counts the first attempt",
    ),
    (
        "backoff --max-retries=3 -- touch ran",
        "try -n, which counts the first attempt",
    ),
    (
        "backoff --tries 3 touch ran",
        "try -n, which counts the first attempt",
    ),
    (
        "backoff --max-attempts 3 touch ran",
        "try -n, which counts the first attempt",
    ),
    (
        "backoff --retry 3 touch ran",
        "try -n, which counts the first attempt",
    ),
    ("backoff --interval 5 -- touch ran", "tip: try --every"),
    ("backoff --sleep 5 -- touch ran", "tip: try --every"),
    ("backoff --delay 5 -- touch ran", "tip: try --every"),
    ("backoff --wait 5 -- touch ran", "tip: try --every"),
    ("backoff --retry-delay 5 -- touch ran", "tip: try --every"),
    (
        "backoff --max-time 5 -- touch ran",
        "tip: try -d, which limits the whole run",
    ),
    ("backoff --dry-run -- touch ran", "tip: try --plan"),
    (
        "backoff --until-success -- touch ran",
        "unexpected argument '--until-success' found",
    ),
    // Typos.
    ("backoff --atempts 3 -- touch ran", "'--attempts'"),
    ("backoff --attempt 3 -- touch ran", "'--attempts'"),
    ("backoff --timout 3 -- touch ran", "'--timeout'"),
    ("backoff --deadlin 3 -- touch ran", "'--deadline'"),
    ("backoff --verbos -- touch ran", "'--verbose'"),
    (
        "backoff -timeout 3 -- touch ran",
        "unexpected argument '-timeout' found; tip: try --timeout",
    ),
    (
        "backoff -x -- touch ran",
        "unexpected argument '-x' found; see --help",
    ),
    (
        "backoff -j decorelated -- touch ran",
        "tip: try decorrelated",
    ),
    (
        "backoff -g exp -- touch ran",
        "is not one of exponential, linear,",
    ),
    ("backoff -p waiy -- touch ran", "tip: try wait"),
    ("backoff --for crul -- touch ran", "tip: try curl"),
    ("backoff --until succes -- touch ran", "tip: try success"),
    ("backoff --stdout finl -- touch ran", "tip: try final"),
    ("backoff -s TREM -t 1s -- touch ran", "tip: try TERM"),
    ("backoff -e TREM -- touch ran", "tip: try TERM"),
    ("backoff --help timout", "tip: try timeout"),
    (
        "backoff --generate bash",
        "is not one of man, complete-bash",
    ),
    ("backoff --list-presets crul", "tip: try curl"),
    // A value after a switch.
    (
        "backoff --retry-after true -- touch ran",
        "write the value after =",
    ),
    (
        "backoff --retry-after 5s -- touch ran",
        "write the value after =, as in --retry-after=MAX",
    ),
    (
        "backoff --retry-after 30 -- touch ran",
        "write the value after =",
    ),
    ("backoff --pty yes -- touch ran", "leave yes out"),
    ("backoff --pty true touch ran", "leave true out"),
    ("backoff -q 1 touch ran", "leave 1 out"),
    ("backoff -v 2 -- touch ran", "leave 2 out"),
    ("backoff --hook-output on touch ran", "leave on out"),
    ("backoff --verbose=2 -- touch ran", "unexpected value '2'"),
    ("backoff --pty=yes -- touch ran", "unexpected value 'yes'"),
    // A value that is missing or in the wrong form.
    ("backoff -n -- touch ran", "--attempts: a value is required"),
    (
        "backoff -r -n 2 -- touch ran",
        "--retry-match: a value is required",
    ),
    (
        "backoff --log-file -- touch ran",
        "--log-file: a value is required",
    ),
    ("backoff --for -- touch ran", "--for: a value is required"),
    ("backoff -n", "--attempts: a value is required"),
    ("backoff -n 0 -- touch ran", "it must be at least 1"),
    (
        "backoff -n -1 -- touch ran",
        "not a whole number or unlimited",
    ),
    ("backoff -n infinite -- touch ran", "number or unlimited"),
    ("backoff -n three -- touch ran", "number or unlimited"),
    ("backoff -n 1.5 -- touch ran", "is not a whole number"),
    ("backoff -t never -- touch ran", "is not a duration such as"),
    ("backoff -d none -- touch ran", "is not a duration such as"),
    (
        "backoff -t 5minutos -- touch ran",
        "there is no unit \"minutos\"",
    ),
    ("backoff -t 5M -- touch ran", "m is minutes"),
    ("backoff -t '' -- touch ran", "it is empty"),
    ("backoff -b -1s -- touch ran", "written --base=VALUE"),
    ("backoff -b -1 -- touch ran", "it is negative"),
    ("backoff -t 1:30 -- touch ran", "is not a duration such as"),
    ("backoff --delays 1s,,5s -- touch ran", "it is empty"),
    ("backoff -e all -- touch ran", "is not a list of exit codes"),
    (
        "backoff -e 256 -- touch ran",
        "neither from 0 to 255 nor a name",
    ),
    (
        "backoff -e '!0' -- touch ran",
        "neither from 0 to 255 nor a name",
    ),
    ("backoff -e 9-7 -- touch ran", "runs backwards"),
    ("backoff -r '(' -- touch ran", "is not a regular expression"),
    (
        "backoff --fail-match \"$unset\" -- touch ran",
        "it would match every line",
    ),
    (
        "backoff --retry-if '' -- touch ran",
        "must be a shell command",
    ),
    ("backoff -j off -- touch ran", "is not one of none, full,"),
    (
        "backoff -j additive:25% -- touch ran",
        "has a width that is not a duration",
    ),
    ("backoff -j full:2 -- touch ran", "full does not take"),
    (
        "backoff -f 0.5 -- touch ran",
        "is not a number of at least 1",
    ),
    (
        "backoff --color yes -- touch ran",
        "not one of auto, always,",
    ),
    ("backoff --progress off -- touch ran", "always, never"),
    ("backoff --idempotent=maybe -- touch ran", "one of yes, no"),
    (
        "backoff --retry-after=30 -- touch ran",
        "must have a unit, such as 30s or 2m",
    ),
    (
        "backoff --budget api --budget-ratio 10 -- touch ran",
        "is above 1, which is 100%",
    ),
    (
        "backoff --exhausted-exit 300 -- touch ran",
        "is not an exit code",
    ),
    (
        "backoff --budget a --store redis.example.com:6379 -- touch ran",
        "try redis://HOST:6379",
    ),
    // Contradictions, and options without effect.
    ("backoff -q -v -- touch ran", "cannot go with --verbose"),
    (
        "backoff -b 1m -m 10s -- touch ran",
        "is longer than --max-delay 10s",
    ),
    (
        "backoff --every 1s -b 2s -- touch ran",
        "it is a fixed wait",
    ),
    (
        "backoff -g linear --delays 1s -- touch ran",
        "cannot go with --delays",
    ),
    (
        "backoff -f 3 --every 1s -- touch ran",
        "--factor cannot go with --every",
    ),
    (
        "backoff -f 3 -g linear -- touch ran",
        "--factor 3 has no effect with --growth linear",
    ),
    (
        "backoff -b 1s --delays 1s,2s -- touch ran",
        "--base cannot go with --delays",
    ),
    (
        "backoff -s INT -- touch ran",
        "--signal has no effect without --timeout",
    ),
    (
        "backoff --match-on stderr -- touch ran",
        "--match-on has no effect without",
    ),
    (
        "backoff --store /tmp -- touch ran",
        "--store has no effect without --budget",
    ),
    (
        "backoff --hook-output -- touch ran",
        "--hook-output has no effect without --on-give-up",
    ),
    (
        "backoff --stdin-limit 1 --stdin null -- touch ran",
        "has no effect with --stdin null",
    ),
    (
        "backoff -n 2 --consecutive 3 -- touch ran",
        "can never be reached with 2 attempts",
    ),
    (
        "backoff -d 1s --initial-delay 5s -- touch ran",
        "may leave no time before --deadline 1s",
    ),
    (
        "backoff --log-file x --report x -- touch ran",
        "the report would replace the log",
    ),
    // Variables, files and no command at all.
    (
        "BACKOFF_ATTEMPTS=many backoff -- touch ran",
        "BACKOFF_ATTEMPTS: \"many\"",
    ),
    (
        "BACKOFF_JITTER=off backoff -- touch ran",
        "BACKOFF_JITTER: \"off\"",
    ),
    (
        "echo 'attempts = 3' >c; backoff --config c -- touch ran",
        "is neither a table [defaults] nor [policy.NAME]",
    ),
    (
        "printf '[defaults]\\nretries = 3\\n' >c; backoff --config c -- touch ran",
        "tip: try attempts",
    ),
    (
        "printf '[defaults]\\njiter = \"full\"\\n' >c; backoff --config c -- touch ran",
        "c: [defaults] \"jiter\" is not an option; tip: try jitter",
    ),
    (
        "printf '[defaults]\\npty = \"yes\"\\n' >c; backoff --config c -- touch ran",
        "takes true or false",
    ),
    ("backoff --config nosuch.toml -- touch ran", "nosuch.toml"),
    ("backoff", "no command given"),
    ("backoff -n 3", "no command given"),
    ("backoff -n 3 --", "no command given"),
];

/// Mistakes that make a word of the command line the command: status 127. Only a word of a shell gets a tip.
const NOT_FOUND: &[(&str, &str)] = &[
    ("backoff 'touch ran'", "a command line needs a shell"),
    ("backoff cd /tmp", "cd is a word of the shell"),
    ("backoff '~/bin/x'", "a command line needs a shell"),
    (
        "backoff FOO=1 touch ran",
        "to set a variable, try backoff env",
    ),
    ("backoff source x", "source is a word of the shell"),
    (
        "backoff -t 5 s -- touch ran",
        "cannot run 's': command not found",
    ),
    (
        "backoff 3 -- touch ran",
        "cannot run '3': command not found",
    ),
    (
        "backoff -- -n 3 touch ran",
        "cannot run '-n': command not found",
    ),
];

#[test]
fn a_program_that_is_not_installed_is_not_taken_for_a_function() {
    shell("PATH=${PATH%%:*}; backoff -- pg_isready -h db")
        .code(127)
        .stderr("backoff: cannot run 'pg_isready': command not found\n");
}

#[track_caller]
fn is_explained(line: &str, part: &str, code: i32) {
    let dir = tempfile::tempdir().unwrap();
    let output = shell(line).current_dir(dir.path()).ends();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("backoff: ") && last.contains(part),
        "{line}: {said}"
    );
    assert!(!dir.path().join("ran").exists(), "{line}");
}

#[test]
fn each_mistake_is_explained_in_a_line() {
    for (line, part) in MISTAKES {
        is_explained(line, part, 125);
    }
    for (line, part) in NOT_FOUND {
        is_explained(line, part, 127);
    }
}
