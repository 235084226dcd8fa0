//! A state directory on a file system that hangs or fails (`slowfs.c`). Only root may mount it.

use std::process::Command;

use crate::common::slowfs::SlowFs;
use crate::common::{Ends, backoff, shell};

tests! {
    a_state_directory_that_hangs ["fuse"]
    a_state_directory_that_hangs_and_denies ["fuse"]
    a_state_directory_that_fails ["fuse"]
    every_name_is_taken ["fuse"]
    the_temporary_directory_fails ["fuse"]
}

/// Operations of a step. The first two are needed only where there is no budget yet.
const OPERATIONS: &str = "mkdir create lookup getattr open flock read write";

/// Returns a command with its state in this file system, which holds a budget unless `operation` makes one.
fn with_state(fs: &SlowFs, operation: &str, line: &str) -> Command {
    fs.control("");
    if ["mkdir", "create"].contains(&operation) {
        remove_state(fs);
    } else {
        remove_state(fs);
        stateful(fs, "--budget api -- true").code(0);
    }
    stateful(fs, line)
}

fn remove_state(fs: &SlowFs) {
    let _ = std::fs::remove_dir_all(format!("{}/backoff", fs.dir()));
}

fn stateful(fs: &SlowFs, line: &str) -> Command {
    let mut command = backoff(line);
    command.env("XDG_STATE_HOME", fs.dir());
    command
}

/// Asserts that a run goes on without its budget. (A call that even KILL does not interrupt would delay its end.)
fn a_state_directory_that_hangs() {
    let fs = SlowFs::mount();
    for operation in ["create", "flock"] {
        let mut run = with_state(&fs, operation, "-n 2 -b 1ms --budget api -- false");
        fs.control(&format!("{operation} wait"));
        run.code(1).stderr(
            "backoff: warning: .../backoff: gives no answer within 5s; going on without the budget \"api\"\n\
             backoff: false: attempt 1 of 2 failed: exit 1 after ...; retrying in ...\n\
             backoff: false: gave up after 2 attempts in ...: exit 1 (attempt limit reached); raise --attempts to allow more\n",
        );
    }
}

fn a_state_directory_that_hangs_and_denies() {
    let fs = SlowFs::mount();
    let line = "-n 9 -b 1ms --budget api --store-down deny -- false";
    let mut run = with_state(&fs, "flock", line);
    fs.control("flock wait");
    run.code(1)
        .says("without the budget \"api\" no retry is made")
        .says("gave up after 1 attempt");
}

fn a_state_directory_that_fails() {
    let fs = SlowFs::mount();
    for operation in OPERATIONS.split(' ') {
        for error in ["EIO", "ENOSPC", "EDQUOT", "ESTALE"] {
            let mut run = with_state(&fs, operation, "-n 2 -b 1ms --budget api -- false");
            fs.control(&format!("{operation} {error}"));
            run.code(1)
                .says("; going on without the budget \"api\"")
                .says("gave up after 2 attempts");
        }
    }
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
