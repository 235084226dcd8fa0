//! `--success-if`: a shell command says whether a success is one.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::eventually;
use crate::common::process::{descendants_named, is_alive};
use crate::output::thrice;

#[test]
fn a_predicate_is_a_command() {
    for option in ["--success-if", "--retry-if", "--before-retry"] {
        run!("{} '' -- true", option)
            .expect_code(125)
            .expect_stderr(&format!("backoff: {option}: \"\" is empty"));
    }
}

/// What they are told is how backoff ends, which is no success.
#[test]
fn who_is_told_of_a_failure_hears_no_0() {
    run!("-n 1 --success-if 'exit 1' --on-give-up 'echo status $BACKOFF_EXIT' -- true")
        .expect_code(1)
        .expect_stderr("\nstatus 1\n");
}

/// It is for backoff, and not for a program that decides something.
#[test]
fn usr1_while_it_is_asked_ends_the_wait_that_follows() {
    let mut live = live!("-v -n 2 --delays 1h --success-if 'echo asked >&2; sleep 0.5; exit 1' -- sh -c 'echo ran'");
    live.expect_line("ran");
    eventually("it is asked", || descendants_named(live.pid(), "sleep") == 1);
    live.signal(Signal::SIGUSR1);
    let shown = live.finish().expect_code(1);
    shown.expect_stderr("gave up after 2 attempts");
}

#[test]
fn it_decides_about_what_would_be_a_success() {
    let shown = thrice(
        "--success-if 'grep -q ready'",
        "echo try; test $BACKOFF_ATTEMPT != 2 || echo ready",
    );
    assert_eq!(shown.stdout, "try\ntry\nready\n");
    shown
        .expect_stderr("attempt 1 of 3 failed: --success-if says no (exit 0) after ")
        .expect_stderr("succeeded on attempt 2 of 3");
    let shown = thrice("--success-if 'exit 1' --exhausted-exit 75", "echo try").expect_code(75);
    assert_eq!(shown.stdout, "try\n".repeat(3));
    thrice("--success-if 'exit 1'", "exit 0")
        .expect_code(1)
        .expect_stderr("gave up after 3 attempts in ")
        .expect_stderr(": --success-if says no (exit 0) (no attempt is left: --attempts 3)\n");
    thrice("--success-exit 3 --success-if 'exit 0'", "exit 3")
        .expect_code(3)
        .expect_silence();
}

#[test]
fn any_other_answer_is_an_error() {
    for (answer, how) in [
        ("exit 2", "exit 2"),
        ("kill -KILL $$", "killed by SIGKILL"),
        ("no-such-command-here 2>&-", "exit 127"),
    ] {
        let shown = thrice(words!("--success-if {}", answer), "echo try").expect_code(1);
        assert_eq!(shown.stdout, "try\n", "{answer}");
        shown.expect_stderr(&format!(": exit 0 (permanent: --success-if failed: {how})\n"));
    }
}

#[test]
fn it_is_asked_only_where_it_has_a_say() {
    let asks = |rules: &str, script: &str| {
        let shown = thrice(words!("--success-if 'echo asked >&2; exit 0' {..}", rules), script);
        shown.stderr.lines().filter(|line| *line == "asked").count()
    };
    assert_eq!(asks("", "exit 0"), 1);
    assert_eq!(asks("", "exit 1"), 0);
    assert_eq!(asks("", "test $BACKOFF_ATTEMPT = 3"), 1);
    assert_eq!(asks("--success-exit 1", "exit 0"), 0);
    assert_eq!(asks("--fail-match bad", "echo bad"), 0);
    assert_eq!(
        asks("--success-match good", "test $BACKOFF_ATTEMPT != 2 || echo good"),
        1
    );
    assert_eq!(asks("-t 100ms", "exec sleep 9"), 0);
}

#[test]
fn rules_judge_the_failure_that_it_finds() {
    let no = |rules: &str| thrice(words!("--success-if 'exit 1' {..}", rules), "echo 'state: failed'").expect_code(1);
    no("--stop-match failed")
        .expect_stderr("after 1 attempt in ")
        .expect_stderr("(permanent: --stop-match)");
    no("--stop-exit 0").expect_stderr("after 1 attempt in ");
    no("--retry-if 'exit 1'")
        .expect_stderr("after 1 attempt in ")
        .expect_stderr("--success-if says no (exit 0) (permanent: --retry-if)");
    no("--retry-if 'exit 0'").expect_stderr("after 3 attempts in ");
    // Retry rules speak of what the command calls a failure.
    for rules in ["-e 75", "--for curl", "-r busy"] {
        no(rules).expect_stderr("after 3 attempts in ");
    }
}

#[test]
fn successes_in_a_row_are_those_that_it_grants() {
    let script = "echo $BACKOFF_ATTEMPT";
    let shown = run!(
        "-q -n 9 -b 1ms --consecutive 2 --success-if 'read -r n; test $n != 2' -- sh -c {}",
        script
    );
    assert_eq!(shown.expect_code(0).stdout, "1\n2\n3\n4\n");
}

#[test]
fn it_reads_the_output_and_what_else_there_is_to_know() {
    let ask = "echo \"$(cat) $BACKOFF_ATTEMPT exit=$BACKOFF_EXIT reason=$BACKOFF_REASON ran=${BACKOFF_RAN_MS:+known} \
               previous=$BACKOFF_PREVIOUS_EXIT\" >&2; test $BACKOFF_ATTEMPT = 2";
    let shown = run!("-q -b 1ms --success-if {} -- sh -c 'echo out; echo err >&2'", ask).expect_code(0);
    assert_eq!(shown.stdout, "out\n".repeat(2));
    for line in [
        "1 exit=0 reason= ran=known previous=\n",
        "2 exit=0 reason= ran=known previous=0\n",
    ] {
        assert!(shown.stderr.contains(&format!("out\nerr {line}")), "{shown:?}");
    }
    // Both predicates read it from its beginning, spilled or not.
    let script = "head -c 3000000 /dev/zero; printf x";
    let count = "test $(wc -c) = 3000001";
    let shown = thrice(
        words!(
            "--stdout null --success-if {} --retry-if {}",
            format!("! {count}"),
            count
        ),
        script,
    );
    shown.expect_code(1).expect_stderr("after 3 attempts in ");
    let on = |on: &str| thrice(words!("--match-on {} --success-if 'grep -q yes'", on), "echo yes");
    on("stdout").expect_code(0);
    on("stderr").expect_code(1);
}

#[test]
fn it_cannot_hang_the_run() {
    let began = Instant::now();
    let shown = thrice("-d 300ms -k 100ms --success-if 'sleep 60; :'", "exit 0");
    assert!(began.elapsed() < Duration::from_secs(10));
    shown
        .expect_code(1)
        .expect_stderr("--success-if failed: ended by the deadline");
    let mut live = live!("--success-if 'echo $$ >&2; exec sleep 60' -- sh -c 'exec 2>&1'");
    let asked = live.line_of_stderr();
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
    assert!(!is_alive(asked.trim().parse().unwrap()));
}
