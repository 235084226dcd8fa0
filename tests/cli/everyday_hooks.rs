//! Lines that people write, as they would write them: those with hooks, predicates and variables. What they call is a
//! stand-in.

use std::fs;

use tempfile::TempDir;

use crate::common::{Shown, executable, path_with_backoff, run, shell, within};

/// A directory with programs of its own in front of the others.
struct Bench(TempDir);

impl Bench {
    fn with(programs: &[(&str, &str)]) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        for (name, script) in programs {
            executable(&within(&dir, &format!("bin/{name}")), &format!("#!/bin/sh\n{script}\n"));
        }
        Bench(dir)
    }

    /// The line, with waits of a millisecond.
    fn ran(&self, line: &str) -> Shown {
        let path = format!("{}:{}", within(&self.0, "bin"), path_with_backoff());
        run(shell(line)
            .current_dir(self.0.path())
            .env("PATH", path)
            .env("BACKOFF_MAX_DELAY", "1ms"))
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

#[test]
fn a_health_check_is_told_the_final_status() {
    let bench = Bench::with(&[("curl", "echo \"$@\" >>asked"), ("job", "exit 3")]);
    bench
        .ran("backoff --on-give-up 'curl -fsS https://hc.example/ID/$BACKOFF_EXIT' -- job")
        .expect_code(3)
        .expect_stderr("gave up after 5 attempts");
    assert_eq!(bench.text("asked"), "-fsS https://hc.example/ID/3\n");
}

#[test]
fn only_the_failed_tests_run_the_second_time() {
    let bench = Bench::with(&[("jest", "echo \"jest $*\"; test \"$1\" = --onlyFailures")]);
    let shown = bench.ran(r#"backoff -n 2 -- sh -c 'jest $([ "$BACKOFF_ATTEMPT" = 1 ] || echo --onlyFailures)'"#);
    assert_eq!(shown.expect_code(0).stdout, "jest \njest --onlyFailures\n");
}

#[test]
fn the_error_text_is_mailed() {
    let bench = Bench::with(&[
        ("mail", "{ echo \"$@\"; cat; } >>mailed"),
        (
            "job",
            "echo \"working $BACKOFF_ATTEMPT\"; echo \"error $BACKOFF_ATTEMPT\" >&2; exit 4",
        ),
    ]);
    bench
        .ran("backoff --hook-output --on-give-up 'mail -s failed ops' -- job")
        .expect_code(4);
    // The last attempt's, once.
    assert_eq!(bench.text("mailed"), "-s failed ops\nworking 5\nerror 5\n");
}

#[test]
fn an_end_that_came_too_soon_is_a_failure() {
    let bench = Bench::with(&[(
        "fetch",
        "echo $BACKOFF_ATTEMPT; test $BACKOFF_ATTEMPT = 1 || exec sleep 1.1",
    )]);
    let line = r#"backoff --success-if 'test "$BACKOFF_RAN_MS" -ge 1000' -- fetch"#;
    let shown = bench.ran(line).expect_code(0);
    assert_eq!(shown.stdout, "1\n2\n");
    shown
        .expect_stderr("attempt 1 of 5 failed: --success-if says no (exit 0) after ")
        .expect_stderr("succeeded on attempt 2 of 5");
}

#[test]
fn success_is_a_condition_on_json() {
    let api = r#"case $BACKOFF_ATTEMPT in 3) state=done;; *) state=queued;; esac; echo "{\"state\": \"$state\"}""#;
    // As jq -e: 1 for false, 4 where nothing was read.
    let jq = r#"
        [ "$1 $2" = '-e .state == "done"' ] || exit 9
        read -r line || exit 4
        case $line in *'"done"'*) echo true;; *) echo false; exit 1;; esac"#;
    let bench = Bench::with(&[("api", api), ("jq", jq)]);
    let line = r#"backoff --success-if 'jq -e ".state == \"done\""' -- api get job"#;
    let shown = bench.ran(line).expect_code(0);
    assert_eq!(shown.stdout.lines().last(), Some(r#"{"state": "done"}"#));
    shown.expect_stderr("succeeded on attempt 3 of 5");
    let bench = Bench::with(&[("api", ":"), ("jq", jq)]);
    bench
        .ran(line)
        .expect_code(1)
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr(": exit 0 (permanent: --success-if failed: exit 4)");
}

#[test]
fn the_next_mirror_is_asked_on_each_attempt() {
    let bench = Bench::with(&[("fetch", "echo $1; exit 7")]);
    let shown = bench.ran(r#"backoff -- bash -c 'm=(a b c); fetch "${m[(BACKOFF_ATTEMPT-1)%3]}"'"#);
    assert_eq!(shown.expect_code(7).stdout, "a\nb\nc\na\nb\n");
}

#[test]
fn each_attempt_has_a_log_of_its_own() {
    let bench = Bench::with(&[(
        "job",
        "echo out; echo \"err $BACKOFF_ATTEMPT\" >&2; test $BACKOFF_ATTEMPT = 2",
    )]);
    let shown = bench.ran(r#"backoff -- sh -c 'exec job >"log.$BACKOFF_ATTEMPT" 2>&1'"#);
    assert_eq!(shown.expect_code(0).stdout, "");
    assert_eq!(bench.text("log.1"), "out\nerr 1\n");
    assert_eq!(bench.text("log.2"), "out\nerr 2\n");
}
