//! Signals in each phase: an attempt, a wait, a predicate, a hook.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::process::{children_of, descendants_named, is_alive, state};
use crate::common::{BIN, Live, backoff, eventually, probe, run, shell, within};
use crate::signals::wait_until_waiting;

#[test]
fn dies_by_the_commands_signal() {
    // Not STOP and its kin, which end nothing; real-time signals included.
    for signal in (1..=64).filter(|s| ![17, 18, 19, 20, 21, 22, 23, 28, 32, 33].contains(s)) {
        let shown = run(&mut shell(&format!(
            "ulimit -c 0; exec backoff -q -n 1 -- {} die {signal}",
            probe()
        )));
        assert_eq!(shown.signal(), Some(signal), "{shown:?}");
    }
}

/// With TERM after its first line.
fn interrupted(options: &str, script: &str) -> crate::common::Shown {
    let mut live = live!("{..} -- sh -c {}", options, script);
    live.expect_line("on");
    live.signal(Signal::SIGTERM);
    live.finish()
}

#[test]
fn an_interrupted_run_says_so_if_the_command_does_not() {
    let says = "backoff: sh: interrupted by SIGTERM; no further attempt\n";
    let ends = |how: &str| format!("trap '{how}' TERM; echo on; while :; do sleep 0.05; done");
    // The shell has its own word for what happened to what it was waiting for.
    let said = |options: &str, how: &str| interrupted(options, &ends(how)).stderr.replace("Terminated\n", "");
    for how in ["exit 7", "trap - INT; kill -INT $$", "exit 130"] {
        assert_eq!(said("", how), says, "{how}");
    }
    // It would have gone on after a success.
    assert_eq!(said("--until never", "exit 0"), says);
    // It has ended as the signal asked, or as if; or it has done what it was for.
    for how in ["trap - TERM; kill -TERM $$", "exit 143", "exit 0"] {
        assert_eq!(said("", how), "", "{how}");
    }
    assert_eq!(said("-q", "exit 7"), "");
    assert!(said("-v", "exit 0").ends_with(says));
    let killed = interrupted("-k 200ms", "trap '' TERM; echo on; exec sleep 60").stderr;
    assert_eq!(
        killed,
        "backoff: sh: interrupted by SIGTERM and needed KILL; no further attempt\n"
    );
}

#[test]
fn a_signal_ends_a_run_until_anything() {
    for until in ["failure", "never"] {
        let mut live = live!("--until {} --every 5m -- echo run", until);
        live.expect_line("run");
        wait_until_waiting(&live);
        live.signal(Signal::SIGTERM);
        assert_eq!(live.finish().signal(), Some(15));
        let script = "trap 'exit 4' TERM; echo run; while :; do sleep 0.01; done";
        let mut live = live!("--until {} -- sh -c {}", until, script);
        live.expect_line("run");
        live.signal(Signal::SIGTERM);
        live.finish().expect_code(4);
    }
}

#[test]
fn a_success_after_a_signal_is_no_failure_that_came() {
    let mut live = live!("--until failure -n 5 -- sh -c 'trap \"exit 0\" TERM; echo ready; sleep 30 >&- 2>&- & wait'");
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    live.finish().expect_code(1);
}

/// It is for backoff, and not for a program that decides something.
#[test]
fn usr1_during_a_predicate_ends_the_wait_that_follows() {
    let mut live = live!("-v -n 2 --delays 1h --success-if 'echo asked >&2; sleep 0.5; exit 1' -- sh -c 'echo ran'");
    live.expect_line("ran");
    eventually("it is asked", || descendants_named(live.pid(), "sleep") == 1);
    live.signal(Signal::SIGUSR1);
    let shown = live.finish().expect_code(1);
    shown.expect_stderr("gave up after 2 attempts");
}

#[test]
fn a_signal_ends_a_predicate() {
    let mut live = live!("--success-if 'echo $$ >&2; exec sleep 60' -- sh -c 'exec 2>&1'");
    let asked = live.line_of_stderr();
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
    assert!(!is_alive(asked.trim().parse().unwrap()));
}

#[test]
fn a_signal_ends_nested_runs() {
    let mut live = live!("-- {} -- sh -c 'echo ready; sleep 60'", *BIN);
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
}

#[test]
fn an_outer_timeout_ends_the_inner_tree() {
    let mut live = live!("-q -n 1 -t 1500ms -- {} -q -- sh -c 'sleep 60 & echo $!; wait'", *BIN);
    let sleep: i32 = live.line().parse().unwrap();
    live.finish().expect_code(124);
    assert!(!is_alive(sleep));
}

#[test]
fn json_tells_of_an_interruption() {
    let mut command = backoff("--log-format json -b 1h -m 1h -- sh -c 'echo ready; exit 1'");
    let mut live = Live::start(&mut command);
    live.expect_line("ready");
    eventually("it waits", || {
        state(live.pid()) == Some('S') && children_of(live.pid()).is_empty()
    });
    live.signal(Signal::SIGTERM);
    let shown = live.finish();
    assert_eq!(shown.signal(), Some(15));
    let log = objects(&shown.stderr);
    assert_eq!(log.last().unwrap()["event"], "interrupted");
    assert_eq!(log.last().unwrap()["signal"], 15);
}

#[test]
fn an_interrupted_attempt_is_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    let mut live = Live::start(&mut backoff(words!(
        "--report {} -b 1ms -- sh -c {}",
        path,
        "trap 'exit 4' TERM; echo $BACKOFF_ATTEMPT; test $BACKOFF_ATTEMPT = 2 || exit 1; while :; do sleep 0.01; done"
    )));
    live.expect_line("1");
    live.expect_line("2");
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().code(), Some(4));
    let report = read(&path);
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&Value::from("interrupted"), &Value::from(4))
    );
    let attempts = report["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!(
        (&attempts[1]["exit"], &attempts[1]["verdict"]),
        (&Value::from(4), &Value::Null)
    );
}

#[test]
fn an_interrupted_wait_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    let mut live = Live::start(&mut backoff(words!(
        "--report {} -b 1h -m 1h -- sh -c 'echo $$; exit 3'",
        path
    )));
    let attempt: i32 = live.line().parse().unwrap();
    eventually("it waits", || !is_alive(attempt) && state(live.pid()) == Some('S'));
    live.signal(Signal::SIGINT);
    assert_eq!(live.finish().signal(), Some(2));
    let report = read(&path);
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&Value::from("interrupted"), &Value::from(130))
    );
    assert_eq!(report["attempts"].as_array().unwrap().len(), 1);
    assert!(report["attempts"][0]["delay_s"].as_f64().unwrap() >= 3600.0);
}

fn read(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
