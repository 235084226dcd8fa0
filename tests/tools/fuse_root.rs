//! A state directory on a file system that hangs or fails (`slowfs.c`). Only root may mount it.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::common::ledger::{counted, ledger};
use crate::common::leftovers::mark;
use crate::common::process::with_variable;
use crate::common::slowfs::SlowFs;
use crate::common::{Ends, backoff, eventually, shell};

tests! {
    a_state_directory_that_hangs ["fuse"]
    a_state_directory_that_hangs_and_denies ["fuse"]
    a_state_directory_that_fails ["fuse"]
    a_caller_waits_for_no_step ["fuse", "flock"]
    term_while_a_count_hangs ["fuse"]
    one_step_at_a_time ["fuse"]
    every_name_is_taken ["fuse"]
    the_temporary_directory_fails ["fuse"]
}

/// Operations of a step. The first two are needed only where there is no budget yet.
const OPERATIONS: &str = "mkdir create lookup getattr open flock read write flush";

/// Returns a command with its state in this file system, which holds a budget unless `operation` makes one.
fn with_state(fs: &SlowFs, operation: &str, line: &str) -> Command {
    fs.control("");
    if ["mkdir", "create"].contains(&operation) {
        remove_state(fs);
    } else {
        // On a busy machine, a step may take longer than a run waits for it, which the run says.
        eventually("a budget is made in time", || {
            remove_state(fs);
            let said = stateful(fs, "--budget api -- true").code(0).err();
            said.is_empty()
        });
    }
    stateful(fs, line)
}

/// Removes all state, once no earlier run's step works on it.
fn remove_state(fs: &SlowFs) {
    eventually("no step is left", || left() == 0);
    let _ = std::fs::remove_dir_all(format!("{}/backoff", fs.dir()));
}

fn stateful(fs: &SlowFs, line: &str) -> Command {
    let mut command = backoff(line);
    command.env("XDG_STATE_HOME", fs.dir());
    command
}

/// Returns the number of processes that this test has started and that still run.
fn left() -> usize {
    let (name, value) = mark();
    with_variable(name, &value).len()
}

fn a_state_directory_that_hangs() {
    let fs = SlowFs::mount();
    for operation in OPERATIONS.split(' ') {
        // Not even KILL ends a call that hangs; one that waits ends by any signal.
        for effect in ["hang", "wait"] {
            let mut run = with_state(&fs, operation, "-n 2 -b 1ms --budget api -- false");
            fs.control(&format!("{operation} {effect}"));
            run.code(1).stderr(
                "backoff: warning: .../backoff: gives no answer within 250ms; going on without the budget \"api\"\n\
                 backoff: false: attempt 1 of 2 failed: exit 1 after ...; retrying in ...\n\
                 backoff: false: gave up after 2 attempts in ...: exit 1 (attempt limit reached); raise --attempts to allow more\n",
            );
            fs.control("");
            eventually("nothing is left", || left() == 0);
        }
    }
}

fn a_state_directory_that_hangs_and_denies() {
    let fs = SlowFs::mount();
    let line = "-n 9 -b 1ms --budget api --store-down deny -- false";
    let mut run = with_state(&fs, "flock", line);
    fs.control("flock hang");
    run.code(1)
        .says("without the budget \"api\" no retry is made")
        .says("gave up after 1 attempt");
}

fn a_state_directory_that_fails() {
    let fs = SlowFs::mount();
    for operation in OPERATIONS.split(' ').filter(|name| *name != "flush") {
        for error in ["EIO", "ENOSPC", "EDQUOT", "ESTALE"] {
            let mut run = with_state(&fs, operation, "-n 2 -b 1ms --budget api -- false");
            fs.control(&format!("{operation} {error}"));
            run.code(1)
                .says("; going on without the budget \"api\"")
                .says("gave up after 2 attempts");
        }
    }
}

/// Asserts that neither a command substitution nor a lock of the caller waits for a step that hangs.
fn a_caller_waits_for_no_step() {
    let fs = SlowFs::mount();
    drop(with_state(&fs, "flock", ""));
    fs.control("flock hang");
    let lock = format!("{}.lock", fs.dir());
    let script = format!(
        "exec 8>{lock} && flock 8; echo \"[$(backoff --budget api -- echo out)]\"; exec 8>&-; flock -n {lock} echo free"
    );
    shell(&script)
        .env("XDG_STATE_HOME", fs.dir())
        .code(0)
        .stdout("[out]\nfree\n")
        .says("gives no answer");
    assert_eq!(left(), 1);
}

/// Asserts that a count that was begun is finished even if backoff has ended.
fn term_while_a_count_hangs() {
    let fs = SlowFs::mount();
    let line = "--budget api -- sh -c 'echo ready; exec sleep 60'";
    let mut command = with_state(&fs, "flock", line);
    fs.control("flock hang");
    let mut run = command.live();
    run.expect_line("ready");
    run.signal(Signal::SIGTERM);
    run.killed_by(Signal::SIGTERM).stderr("...");
    fs.control("");
    let file = format!("{}/backoff/api.budget", fs.dir());
    eventually("it is counted", || counted(&ledger(&file)) == (2, 0));
}

/// Asserts that a run leaves one process at most, however often it asks.
fn one_step_at_a_time() {
    let fs = SlowFs::mount();
    let mut run = with_state(&fs, "flock", "-n 9 -b 1ms -qq --budget api -- false");
    fs.control("flock hang");
    run.code(1).says("gives no answer");
    assert_eq!(left(), 1);
}

/// Asserts that a file system on which no name is free is given up.
fn every_name_is_taken() {
    let fs = SlowFs::mount();
    fs.control("create EEXIST");
    let report = format!("{}/report", fs.dir());
    backoff(format!("--report {report} -- true"))
        .code(0)
        .says("cannot write to --report")
        .says("File exists");
    keeps_all(&fs, "seq 1000000");
}

/// Asserts that backoff keeps a million lines of a script with the temporary directory on this file system.
fn keeps_all(fs: &SlowFs, script: &str) {
    let line =
        "backoff --stdout final -- sh -c \"$0\" | cmp - <(seq 1000000); echo ${PIPESTATUS[*]}";
    let mut run = shell(line);
    run.arg(script).env("TMPDIR", fs.dir());
    run.code(0).stdout("0 0\n");
}

/// Asserts that kept output survives any error of the temporary directory, at first or later.
fn the_temporary_directory_fails() {
    let fs = SlowFs::mount();
    for effect in ["write ENOSPC", "write EDQUOT", "write EIO", "create EACCES"] {
        fs.control(effect);
        keeps_all(&fs, "seq 1000000");
        fs.control("");
        let spoil = format!("echo {effect} >{}", fs.control_path());
        keeps_all(&fs, &format!("seq 500000; {spoil}; seq 500001 1000000"));
    }
}
