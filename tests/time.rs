//! Time limits of a running process tree. Other tests are in `tests/cases/attempts.md`.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::util::process::is_alive;
use crate::util::{Ends, backoff, within};

tests! {
    a_timeout_ends_the_whole_tree
    a_process_that_ignores_term_gets_kill_even_when_its_parent_is_gone
    a_signal_while_a_tree_is_being_ended_is_heard
}

fn a_timeout_ends_the_whole_tree() {
    let dir = tempfile::tempdir().unwrap();
    // Starts `sleep` in several ways.
    let script = "sleep 60 & a=$!; (sleep 60 & echo $! >&3; wait) 3>&1 | cat >$0 & setsid sleep 60 & b=$!; \
                  until test -s $0; do sleep 0.01; done; printf '%s\n' $a $b $(cat $0) $$; wait";
    let mut live = backoff("-qq -n 1 -t 5s -- bash -c")
        .args([script, &within(&dir, "pid")])
        .live();
    let tree = [(); 4].map(|()| live.number());
    live.code(124);
    // The tree ends before backoff exits.
    assert_eq!(tree.map(is_alive), [false; 4]);
}

fn a_process_that_ignores_term_gets_kill_even_when_its_parent_is_gone() {
    let stubborn = "bash -c 'trap \"\" TERM; echo $$; while :; do sleep 0.01; done' & wait";
    let began = Instant::now();
    let mut live = backoff("-qq -n 1 -t 3s -k 200ms -- bash -c")
        .arg(stubborn)
        .live();
    let pid = live.number();
    live.code(124);
    assert!(!is_alive(pid));
    assert!(began.elapsed() >= Duration::from_millis(3200));
}

fn a_signal_while_a_tree_is_being_ended_is_heard() {
    let stubborn = "trap 'echo told $BACKOFF_ATTEMPT' TERM; while :; do sleep 0.01; done 2>&-";
    let mut live = backoff("-qq -n 5 -b 1ms -t 500ms -k 2s -- bash -c")
        .arg(stubborn)
        .live();
    live.expect_line("told 1");
    live.signal(Signal::SIGTERM);
    // The command may also receive this signal. No further attempt follows.
    assert!(!live.code(124).out().contains("told 2"));
}
