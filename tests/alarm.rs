//! An alarm that the caller set before it executed backoff ends the run whenever it fires.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::util::{Ended, Ends, shell, within};

tests! {
    while_output_is_waited_for
    while_the_rest_of_a_tree_is_waited_for
}

/// Runs backoff with an alarm after five seconds, when it runs even on a slow machine. Asserts how it ends and that the
/// command ran once.
#[track_caller]
fn expect_one_attempt(options: &str, command: &str, expect_end: impl Fn(&mut Command) -> Ended) {
    let dir = tempfile::tempdir().unwrap();
    let count = within(&dir, "count");
    let script = format!(
        "exec perl -e 'alarm 5; exec @ARGV' backoff {options} -- sh -c 'echo ran >>{count}; {command}'"
    );
    drop(expect_end(&mut shell(&script)).texts());
    assert_eq!(std::fs::read_to_string(count).unwrap(), "ran\n");
}

fn while_output_is_waited_for() {
    // A pause of 0.3 s would end the wait for output. Even on a busy machine, four writers do not all pause at once.
    let still_talking = r#"perl -e "fork; fork; \$| = 1; for (1..900) { print qq(x\n); select undef, undef, undef, .01 }" & sleep 3; exit 1"#;
    expect_one_attempt("-v -n 2 -b 10ms -i 60s", still_talking, |run| {
        run.killed_by(Signal::SIGALRM)
    });
}

fn while_the_rest_of_a_tree_is_waited_for() {
    let stays = "(trap \"\" TERM; sleep 6.5; sleep .2)& exec sleep 30";
    expect_one_attempt("-v -n 2 -b 10ms -t 500ms -k 9s", stays, |run| run.code(124));
}
