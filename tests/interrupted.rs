//! Messages of a run that a signal ended, and signals to predicates and nested runs.

use nix::sys::signal::Signal::{SIGINT, SIGTERM, SIGUSR1};
use serde_json::Value;

use crate::util::process::{descendants_named, has_ended_children_only, is_alive};
use crate::util::{BIN, Ended, Ends, Live, backoff, eventually, within};
use crate::signals::wait_until_waiting;

tests! {
    an_interrupted_run_says_so_if_the_command_does_not
    a_signal_ends_a_run_until_anything
    a_signal_while_output_drains_ends_backoff_as_during_a_wait
    usr1_during_a_predicate_ends_the_wait_that_follows
    a_signal_or_an_outer_timeout_ends_nested_runs
    the_log_and_the_report_tell_of_an_interruption
}

/// Starts a run of a script, and waits until the script prints "on".
fn on(options: &str, script: &str) -> Live {
    let mut live = backoff(format!("{options} -- sh -c")).arg(script).live();
    live.expect_line("on");
    live
}

fn an_interrupted_run_says_so_if_the_command_does_not() {
    const SAYS: &str = "backoff: sh: interrupted by SIGTERM; no further attempt";
    let said = |options: &str, how: &str| {
        let live = on(
            options,
            &format!("trap '{how}' TERM; echo on; while :; do sleep 0.05; done"),
        );
        live.signal(SIGTERM);
        // The shell prints "Terminated" about the command that it waited for.
        let stderr = String::from_utf8(live.output().stderr).unwrap();
        stderr
            .lines()
            .filter(|line| *line != "Terminated")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for how in ["exit 7", "trap - INT; kill -INT $$", "exit 130"] {
        assert_eq!(said("", how), [SAYS], "{how}");
    }
    // With `--until never`, another attempt would have followed the success.
    assert_eq!(said("--until never", "exit 0"), [SAYS]);
    // With `--until failure`, status 1 means that no failure came.
    let success = "--until failure --success-exit 143=0";
    assert_eq!(said(success, "exit 143"), [SAYS]);
    // backoff prints nothing if the command died of the signal, exited as if it had, or succeeded.
    for how in ["trap - TERM; kill -TERM $$", "exit 143", "exit 0"] {
        assert_eq!(said("", how), [""; 0], "{how}");
    }
    assert_eq!(said("-qq", "exit 7"), [""; 0]);
    assert_eq!(said("-v", "exit 0").last().unwrap(), SAYS);
    let live = on("-k 200ms", "trap '' TERM; echo on; exec sleep 60");
    live.signal(SIGTERM);
    let (_, said) = live.killed_by(nix::sys::signal::SIGKILL).texts();
    assert_eq!(
        said,
        "backoff: sh: interrupted by SIGTERM and needed SIGKILL; no further attempt\n"
    );
}

fn a_signal_ends_a_run_until_anything() {
    for until in ["failure", "never"] {
        let live = on(&format!("-qq --until {until} --every 5m"), "echo on");
        wait_until_waiting(&live);
        live.signal(SIGTERM);
        live.killed_by(SIGTERM);
        let script = "trap 'exit 4' TERM; echo on; while :; do sleep 0.01; done 2>&-";
        let live = on(&format!("-qq --until {until}"), script);
        live.signal(SIGTERM);
        live.code(4);
    }
    // A success after a signal is not the failure that the run waits for.
    let live = on(
        "-qq --until failure -n 5",
        "trap 'exit 0' TERM; echo on; sleep 30 >&- 2>&- & wait",
    );
    live.signal(SIGTERM);
    live.code(1);
}

fn a_signal_while_output_drains_ends_backoff_as_during_a_wait() {
    let leaves_a_writer = "(while echo more; do sleep 0.05; done) 2>&- & exit 0";
    for signal in [SIGTERM, SIGINT] {
        for options in ["-n 1", "--every 1h --until never", "--stderr failure"] {
            let mut live = backoff(format!("{options} --fail-match zz -- sh -c"))
                .arg(leaves_a_writer)
                .live();
            eventually("the command has ended", || {
                has_ended_children_only(live.pid())
            });
            // backoff notices the exit before eight lines arrive.
            for _ in 0..8 {
                live.expect_line("more");
            }
            live.signal(signal);
            let (_, stderr) = live.killed_by(signal).texts();
            assert_eq!(stderr, "", "{options}");
        }
    }
}

/// Asserts that backoff does not forward SIGUSR1 to a predicate.
fn usr1_during_a_predicate_ends_the_wait_that_follows() {
    let predicate = "--success-if 'echo asked >&2; sleep 0.5; exit 1'";
    let live = on(&format!("-v -n 2 --delays 1h {predicate}"), "echo on");
    eventually("it is asked", || {
        descendants_named(live.pid(), "sleep") == 1
    });
    live.signal(SIGUSR1);
    live.code(1).stdout("on\n").says("gave up after 2 attempts");
}

fn a_signal_or_an_outer_timeout_ends_nested_runs() {
    let live = on(&format!("-- {}", *BIN), "echo on; sleep 60");
    live.signal(SIGTERM);
    live.killed_by(SIGTERM);
    let inner = format!(
        "-qq -n 1 -t 1500ms -- {} -qq -- sh -c 'sleep 60 & echo $!; wait'",
        *BIN
    );
    let mut live = backoff(inner).live();
    let sleep = live.number();
    live.code(124);
    assert!(!is_alive(sleep));
}

fn the_log_and_the_report_tell_of_an_interruption() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    let read = || serde_json::from_str::<Value>(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let options = format!("--log-format json --report {path}");
    let last =
        |ended: Ended| serde_json::from_str::<Value>(ended.err().lines().last().unwrap()).unwrap();

    let live = on(&format!("{options} -b 1h -m 1h"), "echo on; exit 3");
    wait_until_waiting(&live);
    live.signal(SIGINT);
    let log = last(live.killed_by(SIGINT));
    assert_eq!(
        (&log["event"], &log["signal"]),
        (&"interrupted".into(), &2.into())
    );
    let report = read();
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&"interrupted".into(), &130.into())
    );
    assert!(report["attempts"][0]["delay_s"].as_f64().unwrap() >= 3600.0);

    let script = "trap 'exit 4' TERM; test $BACKOFF_ATTEMPT = 2 || exit 1; echo on; while :; do sleep 0.01; done";
    let live = on(&format!("{options} -b 1ms"), script);
    live.signal(SIGTERM);
    drop(live.code(4).texts());
    let report = read();
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&"interrupted".into(), &4.into())
    );
    let second = &report["attempts"][1];
    assert_eq!(
        (&second["exit"], &second["verdict"]),
        (&4.into(), &Value::Null)
    );
}
