//! Resources held by a waiting run.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::util::process::{
    children_of, context_switches, descriptors, state, threads,
};
use crate::util::{Ends, eventually, shell};

tests! {
    one_thread_few_descriptors_and_no_wake_ups
}

/// Waits until a run no longer wakes up, as it may still be starting.
#[track_caller]
fn sleeps(pid: i32) {
    eventually("it sleeps", || {
        let before = context_switches(pid);
        // A run that wakes up periodically never sleeps this long.
        std::thread::sleep(Duration::from_millis(700));
        state(pid) == Some('S') && context_switches(pid) == before
    });
}

/// Asserts that a run that has printed "ran" holds few resources and does not wake up.
#[track_caller]
fn holds_little(words: &str, most_descriptors: usize, children: usize) {
    // Closes all descriptors except the standard streams.
    let close =
        "for fd in /proc/$$/fd/*; do fd=${fd##*/}; if ((fd > 2)); then exec {fd}>&-; fi; done";
    let mut live = shell(&format!("{close}; exec backoff -qq {words}")).live();
    live.expect_line("ran");
    let pid = live.pid();
    eventually("it is under way", || children_of(pid).len() == children);
    sleeps(pid);
    assert_eq!(threads(pid), 1);
    let descriptors = descriptors(pid);
    assert!(descriptors.len() <= most_descriptors, "{descriptors:?}");
    live.signal(Signal::SIGTERM);
    live.killed_by(Signal::SIGTERM);
}

fn one_thread_few_descriptors_and_no_wake_ups() {
    // The standard streams, and the pair of sockets through which signals arrive.
    holds_little("-b 1h -m 1h -j none -- sh -c 'echo ran; exit 1'", 6, 0);
    holds_little("-t 1h -- sh -c 'echo ran; exec sleep 60'", 6, 1);
    let script = "test $BACKOFF_ATTEMPT = 2 || exit 1; echo ran; exec sleep 60";
    holds_little(&format!("-b 100ms -j none -- sh -c '{script}'"), 6, 1);
    // Also two pipes that backoff reads, and a second open file for each stream that it writes to.
    holds_little("-r again -- sh -c 'echo ran; exec sleep 60'", 10, 1);
}
