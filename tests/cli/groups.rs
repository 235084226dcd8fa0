//! `--log-format github-groups`: each attempt is a group of the log of a CI runner.

use nix::sys::signal::Signal;

use crate::common::words::Words;
use crate::common::{ran, run, shell};

/// Returns the beginnings of lines, without the parts that differ from run to run.
fn marks(stderr: &str) -> Vec<&str> {
    let mark = |line| match str::strip_prefix(line, "::") {
        Some(command) if !command.starts_with("group") => command.split([' ', ':']).next().unwrap(),
        _ => line,
    };
    // The last output may lack a line end: an empty line precedes a runner command.
    stderr.lines().filter(|line| !line.is_empty()).map(mark).collect()
}

#[track_caller]
fn groups(args: impl Words) -> Vec<String> {
    let shown = run!("--log-format github-groups -b 1ms {..}", args);
    marks(&shown.stderr).into_iter().map(str::to_owned).collect()
}

#[test]
fn each_attempt_is_one() {
    assert_eq!(
        groups("-n 3 -- sh -c 'echo err $BACKOFF_ATTEMPT >&2; exit 3'"),
        [
            "::group::backoff: sh: attempt 1 of 3",
            "err 1",
            "endgroup",
            "warning",
            "::group::backoff: sh: attempt 2 of 3",
            "err 2",
            "endgroup",
            "warning",
            "::group::backoff: sh: attempt 3 of 3",
            "err 3",
            "endgroup",
            "error",
        ]
    );
    let one = ["::group::backoff: 50%25: attempt 1", "endgroup"];
    assert_eq!(groups("-n unlimited --label 50% -- true"), one);
    // A predicate's output belongs to the attempt, a hook's output does not.
    assert_eq!(
        groups("-n 2 --retry-if 'echo asked >&2' --on-retry 'echo told' -- false"),
        [
            "::group::backoff: false: attempt 1 of 2",
            "asked",
            "endgroup",
            "warning",
            "told",
            "::group::backoff: false: attempt 2 of 2",
            "asked",
            "endgroup",
            "error",
        ]
    );
    assert!(groups("-q -n 2 -- false").is_empty());
}

#[test]
fn one_that_is_open_at_the_end_is_closed() {
    // The predicate is interrupted.
    let script = "kill -TERM $PPID; exec sleep 30";
    let marks = groups(words!("--retry-if {} -- false", script));
    assert_eq!(marks, ["::group::backoff: false: attempt 1 of 5", "endgroup"]);
    // backoff itself fails.
    let full = "backoff --log-format github-groups --stdout final -- head -c 3000000 /dev/zero";
    let shown = run(shell(full).env("TMPDIR", "/nonexistent")).expect_code(125);
    let lines: Vec<&str> = shown.stderr.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(
        lines[..2],
        ["::group::backoff: head: attempt 1 of 5", "::endgroup::"],
        "{shown:?}"
    );
    assert!(lines.len() == 3 && lines[2].starts_with("backoff: "), "{shown:?}");
    // The command is.
    let shown = ran(words!("--log-format github-groups -- sh -c {}", script));
    assert_eq!(shown.signal(), Some(Signal::SIGTERM as i32));
    assert_eq!(shown.stderr, "::group::backoff: sh: attempt 1 of 5\n\n::endgroup::\n");
}

#[test]
fn without_them_nothing_has_changed() {
    for format in ["text", "json", "github"] {
        let shown = run!("--log-format {} -n 2 -b 1ms -- false", format);
        assert!(!shown.stderr.contains("group::"), "{shown:?}");
    }
}
