//! A backoff under a backoff: retries multiply, unless told otherwise.

use crate::common::ledger::{counted, ledger};
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
    assert_eq!(warnings, 1, "{shown:?}");
    run(&mut shell("backoff -- backoff -- true"))
        .expect_code(0)
        .expect_silence();
}

#[test]
fn the_innermost_warns_of_all_layers() {
    for (script, calls_shown) in [
        (
            "backoff -n 3 -b 1ms -- backoff -n 3 -b 1ms -- backoff -n 3 -b 1ms -- COMMAND",
            " (up to 9 x 3 = 27 calls)",
        ),
        (
            "backoff -n 3 -b 1ms -- backoff -n 1 -- env backoff -n 3 -b 1ms -- backoff -n 3 -b 1ms -- COMMAND",
            " (up to 9 x 3 = 27 calls)",
        ),
        (
            "backoff -n 3 -b 1ms -- backoff -n unlimited --stop-at-delay 8ms -b 2ms -j none -- backoff -n 3 -b 1ms -- \
             COMMAND",
            "multiply;",
        ),
        (
            "backoff -n 3 -b 1ms -- env -u BACKOFF_ATTEMPT_LIMIT backoff -n 3 -b 1ms -- backoff -n 3 -b 1ms -- COMMAND",
            "multiply;",
        ),
    ] {
        let (count, shown) = calls(&script.replace("COMMAND", COMMAND));
        assert_eq!(count, 27, "{script}");
        let warning: Vec<&str> = shown.stderr.lines().filter(|line| line.contains("multiply")).collect();
        assert!(
            warning.iter().all(|line| line.contains(calls_shown)),
            "{script}: {warning:?}"
        );
        // In the first attempt of the run around it, which the outermost starts three times.
        assert_eq!(warning.len(), 3, "{script}: {warning:?}");
    }
}

#[test]
fn what_the_environment_says_of_outer_runs_is_checked() {
    for (around, attempt, shown) in [
        ("3", "1", " (up to 9 x 2 = 18 calls)"),
        ("3", "x", " (up to 9 x 2 = 18 calls)"),
        ("", "1", "multiply;"),
        ("x", "1", "multiply;"),
        ("0", "1", "multiply;"),
        ("-3", "1", "multiply;"),
        ("9223372036854775807", "1", "multiply;"),
        ("18446744073709551616", "1", "multiply;"),
        // Said already.
        ("3", "2", ""),
    ] {
        let mut command = backoff("-n 2 -b 1ms -- false");
        command.env("BACKOFF_DEPTH", "2").env("BACKOFF_AROUND", around);
        command
            .env("BACKOFF_ATTEMPT", attempt)
            .env("BACKOFF_ATTEMPT_LIMIT", "3");
        let said = run(&mut command).expect_code(1).expect_stderr(shown).stderr;
        assert_eq!(said.contains("multiply"), !shown.is_empty(), "{said}");
    }
}

/// What a budget of `script` has counted, and the calls that it made. Retries are always allowed.
fn budgeted(script: &str, name: &str) -> ((u64, u64), usize) {
    let dir = tempfile::tempdir().unwrap();
    let (log, store) = (within(&dir, "log"), within(&dir, "state"));
    let mut command = shell(&script.replace("CALL", "sh -c 'echo call >>$LOG; exit 7'"));
    command.env("LOG", &log).env("BACKOFF_STORE", &store);
    command.env("BACKOFF_BUDGET_MIN", "1000");
    command
        .env("BACKOFF_BASE", "1ms")
        .env("BACKOFF_NESTED", "allow")
        .env("BACKOFF_QUIET", "1");
    run(command.env("HOME", dir.path()).current_dir(&dir));
    let calls = std::fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    (counted(&ledger(within(&dir, &format!("state/{name}.budget")))), calls)
}

/// With how many retries.
#[track_caller]
fn counts_each_call_once(script: &str, calls: usize, retries: u64) {
    assert_eq!(budgeted(script, "api"), ((calls as u64, retries), calls), "{script}");
}

#[test]
fn a_shared_budget_counts_a_call_once() {
    // The first attempts of the three inner runs are the outer one's.
    counts_each_call_once("export BACKOFF_BUDGET=api; backoff -n 3 -- backoff -n 3 -- CALL", 9, 8);
    counts_each_call_once(
        "export BACKOFF_BUDGET=api; backoff -n 2 -- backoff -n 2 -- backoff -n 2 -- CALL",
        8,
        7,
    );
    counts_each_call_once(
        "export BACKOFF_BUDGET=api; backoff -n 2 --consecutive 2 -- backoff -n 1 -- sh -c 'echo call >>$LOG'",
        2,
        0,
    );
}

/// What a script that calls several runs costs: each leaves its first call to the attempt around it.
#[test]
fn every_run_within_an_attempt_leaves_its_first_call_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let script = within(&dir, "script");
    std::fs::write(
        &script,
        "for i in 1 2 3 4; do backoff -n 2 -- sh -c 'echo call >>$LOG; exit 7'; done\nexit 1\n",
    )
    .unwrap();
    let script = format!("export BACKOFF_BUDGET=api; backoff -n 2 -- sh '{script}'");
    assert_eq!(budgeted(&script, "api"), ((10, 9), 16));
}

#[test]
fn a_run_between_with_no_budget_hands_on_what_was_counted_for_its_first_attempt_alone() {
    counts_each_call_once(
        "backoff --budget api -n 1 -- backoff -n 2 -- backoff --budget api -n 2 -- CALL",
        4,
        2,
    );
}

#[test]
fn another_budget_counts_on_its_own() {
    let script = "backoff --budget api -n 2 -- backoff --budget other -n 2 -- CALL";
    assert_eq!(budgeted(script, "api"), ((2, 1), 4));
    assert_eq!(budgeted(script, "other"), ((4, 2), 4));
    // The same name at another place.
    let script = "backoff --store elsewhere --budget api -n 2 -- backoff --budget api -n 2 -- CALL";
    assert_eq!(budgeted(script, "api"), ((4, 2), 4));
    // The same place by another path.
    counts_each_call_once(
        "backoff --store state --budget api -n 2 -- backoff --budget api -n 2 -- CALL",
        4,
        3,
    );
}

#[test]
fn for_a_hook_no_attempt_was_counted() {
    let hook = "backoff --budget api -- sh -c \"echo call >>$LOG\"";
    counts_each_call_once(&format!("backoff --budget api -n 2 --on-retry '{hook}' -- CALL"), 3, 1);
    // Two attempts of the outer run, and a question after each of the inner ones.
    let script = format!("backoff --budget api -n 2 -- backoff -n 2 --retry-if '{hook}' -- false");
    assert_eq!(budgeted(&script, "api"), ((6, 1), 4));
}

#[test]
fn what_nobody_counted_is_counted() {
    for said in ["", "x", "\"api\" in /elsewhere", "\"other\" in $BACKOFF_STORE"] {
        let said = said.replace('"', "\\\"");
        let script = format!("export BACKOFF_DEPTH=1 BACKOFF_COUNTED=\"{said}\"; backoff --budget api -n 2 -- CALL");
        counts_each_call_once(&script, 2, 1);
    }
    // As it would be.
    let script =
        "export BACKOFF_DEPTH=1 BACKOFF_COUNTED=\"\\\"api\\\" in $BACKOFF_STORE\"; backoff --budget api -n 2 -- CALL";
    assert_eq!(budgeted(script, "api"), ((1, 1), 2));
    // An environment that was emptied says nothing.
    let script = "backoff --budget api -n 1 -- env -i PATH=$PATH HOME=$HOME LOG=$LOG backoff --store $BACKOFF_STORE \
                  --budget api -n 1 -- CALL";
    assert_eq!(budgeted(script, "api"), ((2, 0), 1));
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
    let mut live = live!("-q -n 1 -t 1500ms -- {} -q -- sh -c 'sleep 60 & echo $!; wait'", *BIN);
    let sleep: i32 = live.line().parse().unwrap();
    live.finish().expect_code(124);
    assert!(!is_alive(sleep));
}
