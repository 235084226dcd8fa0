//! A backoff under a backoff: retries multiply, unless told otherwise.

use crate::common::process::is_alive;
use crate::common::{BIN, Shown, backoff, run, shell, within};

/// The number of calls and what was said, of a run in whose script `log` is to be called.
fn calls(script: &str) -> (usize, Shown) {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let shown = run(shell(script).env("LOG", &log));
    (
        std::fs::read_to_string(&log).map_or(0, |text| text.lines().count()),
        shown,
    )
}

const COMMAND: &str = "sh -c 'echo $BACKOFF_DEPTH >>$LOG; exit 7'";

#[test]
fn three_by_three_is_nine() {
    let (count, shown) = calls(&format!(
        "backoff -n 3 -b 1ms -- backoff -n 3 -b 1ms --nested allow -- {COMMAND}"
    ));
    assert_eq!(count, 9);
    assert!(!shown.stderr.contains("another backoff"), "{shown:?}");
    shown.expect_code(7);
}

#[test]
fn once_leaves_retrying_to_the_outer_run() {
    let (count, shown) = calls(&format!(
        "backoff -n 3 -b 1ms -- backoff -n 3 -b 1ms --nested once -- {COMMAND}"
    ));
    assert_eq!(count, 3);
    shown
        .expect_code(7)
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr("left to the outer backoff");
}

#[test]
fn a_warning_says_so_by_default_and_only_when_it_retries() {
    let (count, shown) = calls(&format!("backoff -q -n 3 -b 1ms -- backoff -n 3 -b 1ms -- {COMMAND}"));
    assert_eq!(count, 9);
    let warnings = shown
        .stderr
        .lines()
        .filter(|line| line.contains("up to 3 x 3 = 9 calls"))
        .count();
    assert_eq!(warnings, 3, "{shown:?}");
    run(&mut shell("backoff -- backoff -- true"))
        .expect_code(0)
        .expect_silence();
}

#[test]
fn under_a_run_of_one_attempt_nothing_multiplies() {
    let (count, shown) = calls(&format!("backoff -q -n 1 -- backoff -n 2 -b 1ms -- {COMMAND}"));
    assert_eq!(count, 2);
    assert!(!shown.stderr.contains("multiply"), "{shown:?}");
}

#[test]
fn once_is_once_for_successes_too() {
    let (count, _) = calls("backoff -- backoff --nested once --consecutive 3 -b 1ms -- sh -c 'echo x >>$LOG'");
    assert_eq!(count, 1);
}

#[test]
fn the_depth_is_counted_across_shells_and_make() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("Makefile"),
        "all:\n\t@backoff -- sh -c 'echo $$BACKOFF_DEPTH'\n",
    )
    .unwrap();
    let shown = run(shell("backoff -- sh -c 'sh -c \"backoff -- make -s\"'").current_dir(dir.path()));
    assert_eq!(shown.stdout, "3\n");
}

#[test]
fn an_outermost_run_is_never_nested() {
    for odd in ["", "x", "-1"] {
        let shown =
            run(backoff("-n 2 -b 1ms --nested once -- sh -c 'echo $BACKOFF_DEPTH; false'").env("BACKOFF_DEPTH", odd));
        assert_eq!(shown.stdout, "1\n1\n", "{odd:?}");
    }
}

#[test]
fn a_signal_ends_both() {
    let mut live = live!("-- {} -- sh -c 'echo ready; sleep 60'", *BIN);
    live.expect_line("ready");
    live.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
}

#[test]
fn an_outer_time_out_ends_the_inner_tree() {
    let mut live = live!("-q -n 1 -t 400ms -- {} -q -- sh -c 'sleep 60 & echo $!; wait'", *BIN);
    let sleep: i32 = live.line().parse().unwrap();
    live.finish().expect_code(124);
    assert!(!is_alive(sleep));
}
