//! The mistakes of a first day: each gets one line that says what is wrong, where, and what would be right, and nothing
//! is started.

use crate::common::{Ends, shell};

/// A line of shell, and a part of the message. All end with status 125, except those of [`NOT_FOUND`].
const MISTAKES: &[(&str, &str)] = &[
    // Names of other tools, and of versions before this one.
    (
        "backoff --retries 3 -- touch ran",
        "try --attempts, which counts the first one",
    ),
    (
        "backoff --max-retries=3 -- touch ran",
        "try --attempts, which counts",
    ),
    (
        "backoff --tries 3 touch ran",
        "try --attempts, which counts",
    ),
    (
        "backoff --max-attempts 3 touch ran",
        "try --attempts, which counts",
    ),
    (
        "backoff --retry 3 touch ran",
        "try --attempts, which counts",
    ),
    (
        "backoff --times 3 touch ran",
        "try --attempts, which counts",
    ),
    ("backoff --interval 5 -- touch ran", "try --every"),
    ("backoff --sleep 5 -- touch ran", "try --every"),
    ("backoff --delay 5 -- touch ran", "try --every"),
    ("backoff --wait 5 -- touch ran", "try --every"),
    ("backoff --retry-delay 5 -- touch ran", "try --every"),
    (
        "backoff --max-time 5 -- touch ran",
        "try --deadline, or timeout for each attempt",
    ),
    ("backoff --max-wait 5 -- touch ran", "try --max-delay"),
    ("backoff --min-delay 5 -- touch ran", "try --base"),
    ("backoff --multiplier 2 -- touch ran", "try --factor"),
    ("backoff --exponential -- touch ran", "try --growth"),
    ("backoff --dry-run -- touch ran", "try --plan"),
    ("backoff --forever -- touch ran", "try --attempts unlimited"),
    (
        "backoff --until-success -- touch ran",
        "try --attempts unlimited",
    ),
    ("backoff --always -- touch ran", "try --until never"),
    (
        "backoff --on-error date -- touch ran",
        "try --on-retry, or on-give-up at the end",
    ),
    (
        "backoff --on-success date -- touch ran",
        "use the shell: backoff ... && COMMAND",
    ),
    ("backoff --retry-on 5 -- touch ran", "try --retry-exit"),
    ("backoff --exit-code 5 -- touch ran", "try --retry-exit"),
    ("backoff --stop-on 5 -- touch ran", "try --stop-exit"),
    ("backoff --ignore-exit 5 -- touch ran", "try --success-exit"),
    ("backoff --grep busy -- touch ran", "try --retry-match"),
    (
        "backoff --retry-all-errors -- touch ran",
        "leave it out: every failure is retried",
    ),
    ("backoff --silent -- touch ran", "try --quiet"),
    ("backoff --debug -- touch ran", "try --verbose"),
    ("backoff --json -- touch ran", "try --log-format json"),
    ("backoff --log out.txt -- touch ran", "try --log-file"),
    ("backoff --no-jitter -- touch ran", "try --jitter none"),
    ("backoff --no-color -- touch ran", "try --color never"),
    ("backoff --no-progress -- touch ran", "try --progress never"),
    ("backoff --no-config -- touch ran", "try --config none"),
    ("backoff --exec 'touch ran'", "put the command at the end"),
    (
        "backoff --command 'touch ran'",
        "put the command at the end",
    ),
    (
        "backoff --shell 'touch ran'",
        "give the shell as the command",
    ),
    ("backoff --cwd /tmp -- touch ran", "env -C DIRECTORY"),
    ("backoff --env A=1 -- touch ran", "env NAME=VALUE"),
    ("backoff --background -- touch ran", "backoff ... &"),
    ("backoff --spread 1s -- touch ran", "try -j additive:1s"),
    (
        "backoff --spread=25% -- touch ran",
        "try -j proportional:25%",
    ),
    (
        "backoff --max-retry-after 2m -- touch ran",
        "try --retry-after=2m",
    ),
    ("backoff --slot-ceiling 5 -- touch ran", "try -j slotted:5"),
    (
        "backoff --stop-on-timeout -- touch ran",
        "try --stop-exit timeout",
    ),
    (
        "backoff --max-retry-after 30 -- touch ran",
        "try --retry-after=30s",
    ),
    (
        "backoff --max-retry-after 0 -- touch ran",
        "try --retry-after=0",
    ),
    ("backoff --retry-signal KILL -- touch ran", "try -e KILL"),
    ("backoff --retry-signal 9 -- touch ran", "try -e SIGKILL"),
    (
        "backoff --stop-signal=9 -- touch ran",
        "try --stop-exit SIGKILL",
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
        "unexpected argument '-x' found; tip: try --help",
    ),
    (
        "backoff -j decorelated -- touch ran",
        "tip: try decorrelated",
    ),
    ("backoff -g exp -- touch ran", "tip: try exponential"),
    ("backoff -p waiy -- touch ran", "tip: try wait"),
    ("backoff --for crul -- touch ran", "tip: try curl"),
    ("backoff --until succes -- touch ran", "tip: try success"),
    ("backoff --stdout finl -- touch ran", "tip: try final"),
    ("backoff -s TREM -t 1s -- touch ran", "tip: try TERM"),
    ("backoff -e TREM -- touch ran", "tip: try TERM"),
    ("backoff --help timout", "tip: try timeout"),
    ("backoff --generate bash", "tip: try complete-bash"),
    ("backoff --list-presets crul", "tip: try curl"),
    // A value after a switch.
    (
        "backoff --retry-after true -- touch ran",
        "tip: try --retry-after=true",
    ),
    (
        "backoff --retry-after 5s -- touch ran",
        "tip: try --retry-after=5s",
    ),
    (
        "backoff --retry-after 30 -- touch ran",
        "tip: try --retry-after=30s",
    ),
    ("backoff --pty yes -- touch ran", "leave yes out"),
    ("backoff --pty true touch ran", "leave true out"),
    ("backoff -q 1 touch ran", "leave 1 out"),
    ("backoff -v 2 -- touch ran", "leave 2 out"),
    ("backoff --hook-output on touch ran", "leave on out"),
    ("backoff --verbose=2 -- touch ran", "unexpected value '2'"),
    ("backoff --pty=yes -- touch ran", "unexpected value 'yes'"),
    // A value that is missing or in the wrong form.
    (
        "backoff -n -- touch ran",
        "a value is required for '--attempts'",
    ),
    (
        "backoff -r -n 2 -- touch ran",
        "a value is required for '--retry-match'",
    ),
    (
        "backoff --log-file -- touch ran",
        "a value is required for '--log-file'",
    ),
    ("backoff --for -- touch ran", "tip: try --for auto"),
    ("backoff -n", "a value is required for '--attempts"),
    ("backoff -n 0 -- touch ran", "it must be at least 1"),
    ("backoff -n -1 -- touch ran", "tip: try unlimited"),
    ("backoff -n infinite -- touch ran", "tip: try unlimited"),
    ("backoff -n three -- touch ran", "try 3 or unlimited"),
    ("backoff -n 1.5 -- touch ran", "is not a whole number"),
    ("backoff -t never -- touch ran", "try 0 for no limit"),
    ("backoff -d none -- touch ran", "try 0 for no limit"),
    (
        "backoff -t 5minutos -- touch ran",
        "there is no unit \"minutos\"",
    ),
    ("backoff -t 5M -- touch ran", "5m would be minutes"),
    ("backoff -t '' -- touch ran", "it is empty"),
    ("backoff -b -1s -- touch ran", "it is negative"),
    ("backoff -t 1:30 -- touch ran", "\":\" is not understood"),
    ("backoff --delays 1s,,5s -- touch ran", "it is empty"),
    ("backoff -e all -- touch ran", "try 1-255 for every failure"),
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
        "try a command for the shell",
    ),
    ("backoff -j off -- touch ran", "tip: try none"),
    (
        "backoff -j additive:25% -- touch ran",
        "try proportional:25%",
    ),
    ("backoff -j full:2 -- touch ran", "try full"),
    (
        "backoff -f 0.5 -- touch ran",
        "is not a number of at least 1",
    ),
    ("backoff --color yes -- touch ran", "tip: try always"),
    ("backoff --progress off -- touch ran", "tip: try never"),
    ("backoff --idempotent=false -- touch ran", "tip: try no"),
    (
        "backoff --retry-after=30 -- touch ran",
        "tip: try 30s, or 1 for on",
    ),
    (
        "backoff --budget api --budget-ratio 10 -- touch ran",
        "tip: try 10%",
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
        "cannot go with --delays 1s",
    ),
    (
        "backoff -f 3 --every 1s -- touch ran",
        "--factor 3 has no effect with --every 1s",
    ),
    (
        "backoff -f 3 -g linear -- touch ran",
        "--factor 3 has no effect with --growth linear",
    ),
    (
        "backoff -b 1s --delays 1s,2s -- touch ran",
        "--base 1s has no effect with --delays 1s,2s",
    ),
    (
        "backoff -s INT -- touch ran",
        "--signal has no effect without a limit",
    ),
    (
        "backoff --match-on stderr -- touch ran",
        "--match-on has no effect without",
    ),
    (
        "backoff --store /tmp -- touch ran",
        "--store has no effect without a budget",
    ),
    (
        "backoff --hook-output -- touch ran",
        "--hook-output has no effect without a hook",
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
        "put options under [defaults]",
    ),
    (
        "printf '[defaults]\\nretries = 3\\n' >c; backoff --config c -- touch ran",
        "tip: try attempts",
    ),
    (
        "printf '[defaults]\\nspread = \"2s\"\\n' >c; backoff --config c -- touch ran",
        "try jitter = \"additive:2s\"",
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

/// Mistakes that make a word of the command line the command: status 127, and a tip.
const NOT_FOUND: &[(&str, &str)] = &[
    (
        "backoff -t 5 s -- touch ran",
        "a duration is one word, such as 5s",
    ),
    ("backoff 'touch ran'", "a command line needs a shell"),
    ("backoff cd /tmp", "cd is a word of the shell"),
    ("backoff '~/bin/x'", "a command line needs a shell"),
    (
        "backoff FOO=1 touch ran",
        "to set a variable, try backoff env",
    ),
    (
        "backoff 3 -- touch ran",
        "only options of backoff stand before --",
    ),
    ("backoff help", "try backoff --help"),
    (
        "backoff -- -n 3 touch ran",
        "options of backoff stand before --",
    ),
    ("backoff \u{2014}attempts 3", "not a typographic dash"),
    ("backoff source x", "source is a word of the shell"),
];

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
    assert!(MISTAKES.len() + NOT_FOUND.len() >= 100);
    for (line, part) in MISTAKES {
        is_explained(line, part, 125);
    }
    for (line, part) in NOT_FOUND {
        is_explained(line, part, 127);
    }
}
