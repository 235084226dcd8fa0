//! Resources held by a waiting run.
#![cfg(target_os = "linux")]

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common::process::{children_of, context_switches, descriptors, state, threads};
use crate::common::{Live, eventually, shell};

/// Starts backoff with nothing open but the standard streams.
fn start(words: &str) -> Live {
    let close = "for fd in /proc/$$/fd/*; do fd=${fd##*/}; if ((fd > 2)); then exec {fd}>&-; fi; done";
    Live::start(&mut shell(&format!("{close}; exec backoff {words}")))
}

/// Asserts that a run holds few resources and does not wake up.
#[track_caller]
fn expect_little(live: Live, most_descriptors: usize) {
    let pid = live.pid();
    // The last of the start may still be under way.
    std::thread::sleep(Duration::from_millis(300));
    eventually("it sleeps", || state(pid) == Some('S'));
    assert_eq!(threads(pid), 1);
    let descriptors = descriptors(pid);
    assert!(descriptors.len() <= most_descriptors, "{descriptors:?}");
    let before = context_switches(pid);
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(context_switches(pid), before, "it has woken up");
    live.signal(Signal::SIGTERM);
    live.finish();
}

#[test]
fn a_wait_between_attempts_takes_one_thread_and_no_wake_ups() {
    let mut live = start("-q -b 1h -m 1h -j none -- sh -c 'echo ran; exit 1'");
    live.expect_line("ran");
    eventually("the attempt is over", || children_of(live.pid()).is_empty());
    // The standard streams, and where signals are read; elsewhere than on Linux also where they are written.
    expect_little(live, 6);
}

#[test]
fn neither_does_a_command_that_runs_for_long() {
    let mut live = start("-t 1h -- sh -c 'echo runs; exec sleep 60'");
    live.expect_line("runs");
    expect_little(live, 6);
}

#[test]
fn nor_one_that_comes_after_a_wait() {
    let script = "test $BACKOFF_ATTEMPT = 2 || exit 1; echo runs; exec sleep 60";
    let mut live = start(&format!("-q -b 1s -j none -- sh -c '{script}'"));
    live.expect_line("runs");
    expect_little(live, 6);
}

#[test]
fn nor_one_whose_output_is_looked_at() {
    let mut live = start("-r again -- sh -c 'echo runs; exec sleep 60'");
    live.expect_line("runs");
    // Two pipes that are read, and a second description of each stream that is written to.
    expect_little(live, 10);
}
