//! Time-outs and deadlines: the whole tree ends, in time, and not before its time.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::process::is_alive;
use crate::common::{detached, eventually, run, shell};

/// A script that starts `sleep` in several ways, prints their process numbers on a line, and stays.
const TREE: &str = "sleep 60 & a=$!; (sleep 60 & echo $! >&3; wait) 3>&1 | cat >/tmp/pid.$$ & \
                    setsid sleep 60 & b=$!; until test -s /tmp/pid.$$; do sleep 0.01; done; echo $a $b $(cat /tmp/pid.$$) $$; rm /tmp/pid.$$; wait";

fn numbers(line: &str) -> Vec<i32> {
    line.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn a_time_out_ends_the_whole_tree() {
    let mut live = live!("-q -n 1 -t 5s -- bash -c {}", TREE);
    let tree = numbers(&live.line());
    assert_eq!(tree.len(), 4);
    live.finish().expect_code(124);
    // Gone already, not some time later.
    assert_eq!(tree.iter().filter(|pid| is_alive(**pid)).count(), 0);
}

#[test]
fn what_ignores_term_gets_kill_even_when_its_parent_is_gone() {
    let stubborn = "bash -c 'trap \"\" TERM; echo $$; while :; do sleep 0.01; done' & wait";
    let began = Instant::now();
    let mut live = live!("-q -n 1 -t 1s -k 200ms -- bash -c {}", stubborn);
    let pid: i32 = live.line().parse().unwrap();
    live.finish().expect_code(124);
    assert!(!is_alive(pid));
    assert!(began.elapsed() >= Duration::from_millis(1200));
}

#[test]
fn the_tree_is_gone_before_the_next_attempt_starts() {
    // All processes of the machine are looked at, and others may run these tests too.
    let nap = format!("sleep 61.{}", std::process::id());
    // The whole line, as the script and its children that are not yet another program have the same text in theirs.
    let script = format!("pgrep -x -f '{nap}' | wc -l; {nap} & {nap}");
    let shown = run(&mut detached(words!("-q -n 3 -b 0 -m 0 -t 2s -- bash -c {}", script)));
    assert_eq!(shown.stdout, "0\n0\n0\n", "{shown:?}");
}

#[test]
fn the_signal_can_be_chosen_and_kill_can_wait_for_ever() {
    let script = "trap 'echo got-int; exit 0' INT; echo ready; while :; do sleep 0.01; done";
    let shown = run!("-q -n 1 -t 1s -s INT -- bash -c {}", script).expect_code(124);
    assert_eq!(shown.stdout, "ready\ngot-int\n");
    let slow = "trap 'sleep 1; echo done; exit 0' TERM; while :; do sleep 0.01; done";
    let shown = run!("-q -n 1 -t 1s -k 0 -- bash -c {}", slow).expect_code(124);
    assert_eq!(shown.stdout, "done\n");
}

#[test]
fn a_stopped_command_can_be_timed_out() {
    let began = Instant::now();
    run!("-q -n 1 -t 300ms -k 20s -- sh -c 'kill -STOP $$'").expect_code(124);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_time_out_is_punctual() {
    let began = Instant::now();
    run!("-q -n 1 -t 300ms -- sleep 60").expect_code(124);
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(300) && took < Duration::from_secs(3),
        "{took:?}"
    );
}

#[test]
fn the_end_of_the_command_is_noticed_at_once() {
    let began = Instant::now();
    run!("-t 60s -d 60s -- sleep 0.2").expect_code(0);
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_deadline_ends_a_running_attempt_and_starts_nothing_more() {
    let shown = run!("-n 9 -b 1ms -d 1s -- sh -c 'echo $BACKOFF_ATTEMPT; sleep 60'").expect_code(124);
    assert_eq!(shown.stdout, "1\n");
    assert!(
        shown.stderr.contains("gave up after 1 attempt in ") && shown.stderr.contains(": ended by the deadline"),
        "{shown:?}"
    );
}

#[test]
fn a_wait_past_the_deadline_is_not_started() {
    let began = Instant::now();
    let shown = run!("-g constant -j none -b 20s -d 10s -- sh -c 'exit 7'").expect_code(7);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(
        shown.stderr.contains("gave up after 1 attempt") && shown.stderr.contains("after --deadline 10s"),
        "{shown:?}"
    );
}

#[test]
fn no_attempt_begins_after_stop_after_and_none_is_cut_off() {
    for until in ["success", "never"] {
        let args = words!("--until {} --stop-after 300ms -n unlimited -b 1ms", until);
        let shown = run!("{..} -- sh -c 'sleep 0.6; echo done; exit 7'", args).expect_code(7);
        assert_eq!(shown.stdout, "done\n");
        shown.expect_stderr(
            ": exit 7 (the next attempt would begin after --stop-after 300ms); raise --stop-after to allow more\n",
        );
    }
    // Attempts are unlimited, and a wait that would end too late is not started.
    let began = Instant::now();
    run!("--stop-after 10s --delays 1ms,1ms,1ms,1ms,1ms,20s -j none --exhausted-exit 75 -- false")
        .expect_code(75)
        .expect_stderr("gave up after 6 attempts in ");
    assert!(began.elapsed() < Duration::from_secs(8));
    // The earlier of two limits is named, and a deadline still ends the running attempt.
    run!("--stop-after 5s -d 9s -b 6s -j none -- false")
        .expect_stderr(" after --stop-after 5s); raise --stop-after to allow more\n");
    run!("--stop-after 9s -d 5s -b 6s -j none -- false")
        .expect_stderr(" after --deadline 5s); raise --deadline to allow more\n");
    run!("--stop-after 9s -d 100ms -- sleep 30")
        .expect_code(124)
        .expect_stderr(": ended by the deadline (--deadline 100ms)\n");
    run!("-q --until never --stop-after 50ms -b 40ms -j none -- true").expect_code(0);
}

#[test]
fn the_shorter_of_time_out_and_deadline_counts() {
    run!("-n 1 -t 100ms -d 20s -- sleep 60")
        .expect_code(124)
        .expect_stderr("timed out");
    run!("-n 1 -t 20s -d 100ms -- sleep 60")
        .expect_code(124)
        .expect_stderr("ended by the deadline");
}

#[test]
fn a_signal_while_a_tree_is_being_ended_is_heard() {
    let stubborn = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
    let mut live = live!("-n 5 -b 1ms -t 1s -k 4s -- bash -c {}", stubborn);
    live.expect_line("ready");
    std::thread::sleep(Duration::from_millis(1500));
    live.signal(Signal::SIGTERM);
    let shown = live.finish().expect_code(124);
    assert_eq!(shown.stdout, "", "no further attempt");
}

#[test]
fn few_descriptors_do_not_hide_the_tree() {
    let few = 8;
    let script = format!(
        "ulimit -n {few}; exec backoff -q -n 1 -t 1s -k 500ms -- /bin/sh -c 'setsid /bin/sleep 50 >/dev/null 2>&1 & echo $!; /bin/sleep 50'"
    );
    let shown = run(&mut shell(&script)).expect_code(124);
    let member: i32 = shown.stdout.trim().parse().unwrap();
    eventually("it ends", || !is_alive(member));
}

#[test]
fn many_attempts_are_quick_and_memory_stays() {
    let began = Instant::now();
    let shown = run!(
        "-q -n 1500 -b 0 -m 0 -- sh -c {}",
        "case $BACKOFF_ATTEMPT in 10|1500) grep VmRSS /proc/$PPID/status;; esac; exit 1"
    );
    assert!(began.elapsed() < Duration::from_secs(60));
    let sizes: Vec<u64> = shown
        .stdout
        .lines()
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(sizes[1] <= sizes[0] + 64, "{sizes:?} KiB");
}

#[test]
fn each_attempt_has_its_own_bound_and_the_last_one_repeats() {
    let script = "sleep 0.3; exit 3";
    let ends = |options: &str| {
        let shown = run!("-b 1ms -n 4 {..} -- sh -c {}", options, script);
        let end = |line: &str| if line.contains("timed out") { 't' } else { 'e' };
        (shown.stderr.lines().map(end).collect::<String>(), shown.code())
    };
    assert_eq!(ends("-t 30s,50ms"), ("ettt".to_owned(), Some(124)));
    assert_eq!(ends("-t 50ms,30s,50ms,0"), ("tete".to_owned(), Some(3)));
    assert_eq!(ends("--timeout 50ms,30s"), ("teee".to_owned(), Some(3)));
    // The deadline bounds all.
    let shown = run!("-t 50ms,30s -d 3s -b 1ms -- sleep 30").expect_code(124);
    shown
        .expect_stderr("gave up after 2 attempts in ")
        .expect_stderr(": ended by the deadline (--deadline 3s)\n");
}
