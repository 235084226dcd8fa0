//! An alarm that the caller set before it executed backoff asks to end the run, whenever it fires.

use crate::common::{self, run, shell};

/// Runs backoff with an alarm that fires after three seconds. The command counts its attempts in a file.
#[track_caller]
fn expect_one_attempt(options: &str, command: &str, code: i32) {
    let dir = tempfile::tempdir().unwrap();
    let count = common::within(&dir, "count");
    let script =
        format!("exec perl -e 'alarm 3; exec @ARGV' backoff {options} -- sh -c 'echo ran >>{count}; {command}'");
    let shown = run(&mut shell(&script)).expect_code(code);
    assert_eq!(std::fs::read_to_string(count).unwrap(), "ran\n", "{shown:#?}");
}

#[test]
fn while_output_is_waited_for() {
    let still_talking = "(for i in $(seq 25); do echo x; sleep .2; done)& sleep .9; exit 1";
    expect_one_attempt("-v -n 2 -b 10ms -i 60s", still_talking, 1);
}

#[test]
fn while_the_rest_of_a_tree_is_waited_for() {
    let stays = "(trap \"\" TERM; sleep 3.5; sleep .2)& exec sleep 30";
    expect_one_attempt("-v -n 2 -b 10ms -t 500ms -k 5s", stays, 124);
}
