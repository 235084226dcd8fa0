//! What a run goes on until, how long it waits meanwhile, and what bounds it.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::words::Words;
use crate::common::{backoff, run, shell, within};
use crate::signals::wait_until_waiting;

/// Succeeds on the first two attempts.
const TWICE: &str = "test $BACKOFF_ATTEMPT -lt 3";

#[test]
fn a_failure_of_any_kind_is_the_one_that_is_waited_for() {
    for (how, says) in [
        ("exit 7", "exit 7"),
        ("kill -TERM $$", "killed by SIGTERM"),
        ("exec sleep 30", "timed out (--timeout 200ms)"),
        ("nosuchcommand", "exit 127 (\"command not found\", in a shell)"),
    ] {
        let script = format!("{TWICE} && exit; {how}");
        run!("--until failure -t 5,5,0.2 -- sh -c {}", script)
            .expect_code(0)
            .expect_stderr("backoff: sh: attempt 2 of 5 succeeded after ")
            .expect_stderr("backoff: sh: the failure came on attempt 3 of 5 after ")
            .expect_stderr(&format!(": {says}\n"));
    }
    let silent = run!("-q --until failure -- false").expect_code(0);
    silent.expect_silence();
}

/// Nobody knows then what the command did: neither a 0 nor a loop may come of it.
#[test]
fn a_predicate_that_cannot_say_is_no_failure_of_the_command() {
    for until in ["failure", "never"] {
        run!("--until {} -n 5 -b 1ms --success-if nosuchcommand -- true", until)
            .expect_code(1)
            .expect_stderr("gave up after 1 attempt in ")
            .expect_stderr(" (permanent: --success-if failed: exit 127)\n");
        let shown = run!(
            "--until {} -d 300ms --exhausted-exit 75 --success-if 'sleep 9' -- true",
            until
        );
        shown.expect_code(75).expect_stderr("--deadline 300ms)\n");
        // The reader of its output has gone.
        let shown = run!("--until {} -n 5 -b 1ms -- sh -c 'kill -PIPE $$'", until);
        assert_eq!((shown.signal(), shown.stderr.as_str()), (Some(13), ""));
    }
    run!("--until never -n 5 -b 1ms --retry-if 'exit 5' -- false")
        .expect_code(1)
        .expect_stderr(" (permanent: --retry-if failed: exit 5)\n");
    let shown = run!("-q -n 1 --log-format json -vv --success-if nosuchcommand -- true");
    assert!(!shown.stderr.contains("panicked"), "{shown:?}");
    let shown = run!("-n 1 --log-format json --success-if nosuchcommand -- true").expect_code(1);
    shown.expect_stderr("\"reason\":\"exit 0; --success-if failed: exit 127\"");
}

#[test]
fn a_success_starts_the_growth_again() {
    let args = "--until never -n 5 -b 20ms -g exponential -j none";
    let shown = run!("{..} -- sh -c '[ $BACKOFF_ATTEMPT = 3 ]'", args).expect_code(1);
    let waits: Vec<_> = shown
        .stderr
        .lines()
        .filter_map(|line| line.rsplit_once(" in "))
        .collect();
    let waits: Vec<_> = waits.iter().map(|(_, wait)| *wait).take(4).collect();
    assert_eq!(waits, ["20ms", "40ms", "20ms", "40ms"], "{shown:?}");
}

#[test]
fn retry_if_has_no_say_in_which_failure_ends_it() {
    for answer in 0..3 {
        let predicate = format!("echo asked >&2; exit {answer}");
        run!("-q --until failure -n 5 -b 1ms --retry-if {} -- false", predicate)
            .expect_code(0)
            .expect_silence();
    }
}

#[test]
fn attempts_bound_it_however_long_they_run() {
    run!("--until failure -n 2 -b 0 --reset-after 10ms -- sleep 0.1")
        .expect_code(1)
        .expect_stderr("gave up after 2 attempts");
}

#[test]
fn a_success_that_dies_by_a_signal_is_no_failure_that_came() {
    run!("--until failure -n 2 -b 1ms --success-exit 143 -- sh -c 'kill -TERM $$'").expect_code(1);
    let mut live = live!("--until failure -n 5 -- sh -c 'trap \"exit 0\" TERM; echo ready; sleep 30 >&- 2>&- & wait'");
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    live.finish().expect_code(1);
}

#[test]
fn who_succeeds_is_not_asked_to_wait() {
    let shown = run!("--until never -n 3 -b 0 --retry-after --max-retry-after 2s -- echo 'Retry-After: 30'");
    assert_eq!(shown.expect_code(0).stdout, "Retry-After: 30\n".repeat(3));
}

#[test]
fn what_must_happen_once_is_not_repeated_after_a_success() {
    for until in ["failure", "never"] {
        run!("--idempotent no --until {} -n 3 -- echo did", until)
            .expect_code(125)
            .expect_stderr("a success would be carried out again");
    }
}

#[test]
fn no_failure_came() {
    run!("--until failure -n 3 -- true")
        .expect_code(1)
        .expect_stderr(": no failure came (no attempt is left: --attempts 3)\n");
    run!("--until failure --every 2s -d 3s -- true")
        .expect_code(1)
        .expect_stderr(": no failure came (the next attempt would begin after --deadline 3s)\n");
    // An attempt that the deadline ends has not failed.
    run!("--until failure -d 300ms -- sleep 30")
        .expect_code(1)
        .expect_stderr(": ended by the deadline (--deadline 300ms)\n");
    run!("-q --until failure -n 2 --exhausted-exit 75 -- true").expect_code(75);
}

#[test]
fn a_command_that_cannot_be_started_is_not_the_failure() {
    run!("--until failure -- no-such-command")
        .expect_code(127)
        .expect_stderr("cannot run 'no-such-command': command not found");
    run!("-q --until failure -- /etc/passwd").expect_code(126);
    run!("-q --until never -- no-such-command").expect_code(127);
    // Unless its name stands among the codes of what may pass.
    run!("--until never -e 127 -n 2 -b 1ms -- no-such-command")
        .expect_code(127)
        .expect_stderr("gave up after 2 attempts");
}

#[test]
fn rules_say_what_a_failure_is_and_not_whether_it_counts() {
    // 3 is a success, and so is what prints nothing bad.
    let words = "--until failure -n 4 --success-exit 0,3 --fail-match bad";
    let script = "test $BACKOFF_ATTEMPT -lt 3 && exit 3; echo bad";
    run!("{..} -- sh -c {}", words, script)
        .expect_code(0)
        .expect_stderr("the failure came on attempt 3 of 4 after ")
        .expect_stderr("matched \"bad\" (exit 0; --fail-match)\n");
    for rule in ["--stop-exit 1", "--retry-exit 75", "--stop-match oops", "--for curl"] {
        run!("--until failure {..} -- sh -c {}", rule, TWICE)
            .expect_code(0)
            .expect_stderr("the failure came on attempt 3 of 5 ");
    }
}

#[test]
fn a_reader_that_is_gone_ends_a_run_until_anything() {
    for until in ["failure", "never"] {
        // The output is looked at, so that it is known.
        let line = format!("backoff --until {until} --fail-match no -- yes | head -n 1; echo ${{PIPESTATUS[0]}}");
        let shown = run(&mut shell(&line));
        assert_eq!((&*shown.stdout, &*shown.stderr), ("y\n141\n", ""));
    }
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
fn kept_output_is_that_of_the_last_attempt() {
    let script = format!("echo $BACKOFF_ATTEMPT; {TWICE}");
    let printed = |words: &str| run!("-q --until failure {..} -- sh -c {}", words, script).stdout;
    assert_eq!(printed("--stdout final"), "3\n");
    assert_eq!(printed("--stdout success"), "");
    assert_eq!(printed("--stdout success -n 2"), "2\n");
    let shown = run!(
        "-q --until failure --stderr failure -- sh -c {}",
        "echo $BACKOFF_ATTEMPT >&2; exit 1"
    );
    assert_eq!(shown.expect_code(0).stderr, "1\n");
    run!("-q --until failure -n 2 --stderr failure -- sh -c 'echo oops >&2'").expect_silence();
}

fn events(args: impl Words) -> Vec<String> {
    let shown = run!("--log-format json {..}", args);
    let event = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["event"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    shown.stderr.lines().map(event).collect()
}

#[test]
fn programs_are_told_in_the_same_words() {
    let once = "test $BACKOFF_ATTEMPT = 1";
    assert_eq!(
        events(words!("--until failure -- sh -c {}", once)),
        [
            "attempt_started",
            "attempt_succeeded",
            "retrying",
            "attempt_started",
            "attempt_failed",
            "failure_came"
        ]
    );
    assert_eq!(
        events("--until failure -n 1 -- true"),
        ["attempt_started", "attempt_succeeded", "gave_up"]
    );
    assert_eq!(
        events("--until never -n 1 -- true"),
        ["attempt_started", "attempt_succeeded", "succeeded"]
    );
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    for (words, result, gave_up, status) in [
        ("--until failure -- false", "failure_came", Value::Null, 0),
        ("--until failure -n 2 -- true", "gave_up", "attempts".into(), 1),
        ("--until never -b 1ms -n 2 -- true", "succeeded", Value::Null, 0),
        ("--until never -b 1ms -n 2 -- false", "gave_up", "attempts".into(), 1),
    ] {
        run!("-q --report {} {..}", path, words);
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(report["result"], result, "{words}");
        assert_eq!(report["gave_up"], gave_up, "{words}");
        assert_eq!(report["exit_status"], status, "{words}");
    }
}

#[test]
fn a_success_that_is_followed_by_another_attempt_is_no_warning() {
    let shown = run!("--log-format github --until never -n 2 -b 1ms -- true").expect_code(0);
    assert!(
        shown
            .stderr
            .starts_with("backoff: true: attempt 1 of 2 succeeded after "),
        "{shown:?}"
    );
    run!("--log-format github --until failure -- false")
        .expect_stderr("::notice title=backoff::false: the failure came on ");
}

#[test]
fn hooks_hear_of_waits_after_successes_and_of_a_failure_that_did_not_come() {
    let hook = "echo $BACKOFF_EXIT";
    let shown = run!(
        "-q --until failure -n 2 --on-retry {} --on-give-up {} -- true",
        hook,
        hook
    );
    assert_eq!(shown.expect_code(1).stderr, "0\n1\n");
    run!("-q --until failure --on-give-up 'echo no' -- false").expect_silence();
    run!("-q --until never -n 1 --on-give-up 'echo no' -- true").expect_silence();
}

#[test]
fn what_follows_a_success_is_no_retry_for_a_budget() {
    let dir = tempfile::tempdir().unwrap();
    let words = "-q --budget api --budget-min 1 --budget-ratio 0";
    let store = within(&dir, "store");
    run!("{..} --store {} --until failure -n 20 -- true", words, store).expect_code(1);
    run!(
        "{..} --store {} --until never -b 1ms -m 1ms -n 20 -- true",
        words,
        store
    )
    .expect_code(0);
    // But what follows a failure is.
    run!(
        "--budget api --budget-ratio 0 --store {} --until never -b 1ms -m 1ms -- false",
        store
    )
    .expect_code(1)
    .expect_stderr("budget \"api\" is spent");
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (words, says) in [
        ("--every 5s -b 1s", "--every 5s cannot go with --base 1s: "),
        ("--every 5s -g linear", "--every 5s cannot go with --growth linear: "),
        ("--every 5s -j full", "--every 5s cannot go with --jitter full: "),
        ("--every 5s --delays 1s", "--every 5s cannot go with --delays 1s: "),
        ("--every 1m -m 10s", "--every 1m is longer than --max-delay 10s"),
        (
            "--until failure -g linear",
            "--until failure cannot go with --growth linear: no wait grows",
        ),
        (
            "--until failure --delays 1s,2s",
            "--until failure cannot go with --delays 1s,2s: ",
        ),
        (
            "--until failure -j decorrelated",
            "--jitter decorrelated cannot go with --until failure: ",
        ),
        (
            "--until never --consecutive 2",
            "--consecutive 2 cannot go with --until never: ",
        ),
        ("--until later", "\"later\" is not one of success, failure, never"),
    ] {
        let shown = run!("{..} -- true", words).expect_code(125).expect_stderr(says);
        assert_eq!(shown.stderr.lines().count(), 1, "{shown:?}");
    }
    // What says the same is no contradiction.
    run!("--every 5s -g constant -j none --until failure -- false").expect_code(0);
}

#[test]
fn what_is_typed_wins_over_variables_and_policies() {
    let planned =
        |words: &str, name: &str, value: &str| run(backoff(words!("--plan -n 3 {..}", words)).env(name, value));
    for (name, value) in [
        ("BACKOFF_BASE", "1s"),
        ("BACKOFF_GROWTH", "linear"),
        ("BACKOFF_JITTER", "decorrelated"),
        ("BACKOFF_DELAYS", "1s,9s"),
        ("BACKOFF_MAX_DELAY", "10s"),
        ("BACKOFF_POLICY", "ethernet"),
    ] {
        let shown = planned("--every 2m", name, value).expect_code(0);
        let last: Vec<&str> = shown.stdout.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["2", "2m00s", "2m00s", "2m00s", "4m00s", "4m00s"], "{name}");
    }
    let shown = planned("-b 3s", "BACKOFF_EVERY", "1s").expect_code(0);
    assert!(shown.stdout.contains(" 6s"), "{shown:?}");
    run(backoff("--until failure -n 2 -- true").env("BACKOFF_CONSECUTIVE", "3")).expect_code(1);
    run(backoff("--consecutive 2 -- true").env("BACKOFF_UNTIL", "failure")).expect_code(0);
    run!("-vv --every 7s -- true")
        .expect_stderr("base = 7s (--every)\n")
        .expect_stderr("growth = constant (--every)\n")
        .expect_stderr("jitter = none (--every)\n");
}
