//! A state directory on a file system that hangs or fails (`slowfs.c`). Only root may mount it.

use std::process::Command;

use crate::util::slowfs::SlowFs;
use crate::util::{Ends, backoff, shell};

tests! {
    a_state_directory_that_hangs ["fuse"]
    a_state_directory_that_hangs_and_denies ["fuse"]
    a_state_directory_that_fails ["fuse"]
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

/// Asserts that no byte of kept output is lost if the temporary directory fails, at first or later.
fn the_temporary_directory_fails() {
    let fs = SlowFs::mount();
    let keeps_all = |script: &str| {
        let line =
            "backoff --stdout final -- sh -c \"$0\" | cmp - <(seq 3000000); echo ${PIPESTATUS[*]}";
        let mut run = shell(line);
        run.arg(script).env("TMPDIR", fs.dir());
        run.code(0).stdout("0 0\n")
    };
    for effect in ["write ENOSPC", "write EDQUOT", "write EIO", "create EACCES"] {
        fs.control(effect);
        keeps_all("seq 3000000");
        fs.control("");
        let spoil = format!("echo {effect} >{}", fs.control_path());
        let run = keeps_all(&format!("seq 2600000; {spoil}; seq 2600001 3000000"));
        if effect.starts_with("write") {
            run.says("standard output cannot be kept");
        }
    }
}
