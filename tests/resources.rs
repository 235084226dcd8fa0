//! Resources held by a waiting run.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{PipeWriter, Read as _};
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::Signal;

use crate::util::process::{
    children_of, context_switches, descriptors, sleeping_child, state, threads,
};
use crate::util::{Ends, Live, backoff, eventually, shell, within};

tests! {
    one_thread_few_descriptors_and_no_wake_ups
    no_wake_ups_while_nobody_reads_past_an_unfinished_line
    no_wake_ups_once_the_reader_of_an_unfinished_line_is_gone
}

/// Waits until a run does not wake up, as its start may not be complete.
#[track_caller]
fn sleeps(pid: i32) {
    eventually("it sleeps", || {
        let before = context_switches(pid);
        // A run that wakes up now and then never sleeps as long as this.
        std::thread::sleep(Duration::from_millis(700));
        state(pid) == Some('S') && context_switches(pid) == before
    });
}

/// Asserts that a run of backoff holds few resources and does not wake up once it has printed a line.
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
    // The standard streams, and a descriptor to read signals from; other systems also need one to write signals to.
    holds_little("-b 1h -m 1h -j none -- sh -c 'echo ran; exit 1'", 6, 0);
    holds_little("-t 1h -- sh -c 'echo ran; exec sleep 60'", 6, 1);
    let script = "test $BACKOFF_ATTEMPT = 2 || exit 1; echo ran; exec sleep 60";
    holds_little(&format!("-b 100ms -j none -- sh -c '{script}'"), 6, 1);
    // In addition, two pipes that backoff reads, and a second description of each stream that it writes to.
    holds_little("-r again -- sh -c 'echo ran; exec sleep 60'", 10, 1);
}

/// Starts a run with both outputs in this pipe, whose command runs `sleep` after the script.
fn in_one_pipe(pipe: PipeWriter, script: &str) -> Live {
    let mut command = backoff("-i 1h -n 1 -- sh -c");
    command.arg(format!("{script}; exec sleep 60"));
    let stdout = pipe.try_clone().unwrap();
    command.stdout(stdout).stderr(pipe).unread()
}

fn no_wake_ups_while_nobody_reads_past_an_unfinished_line() {
    let (_reader, pipe) = std::io::pipe().unwrap();
    let capacity = fcntl(&pipe, FcntlArg::F_GETPIPE_SZ).unwrap();
    let script = format!("head -c {capacity} /dev/zero | tr '\\0' x; echo late >&2");
    let live = in_one_pipe(pipe, &script);
    sleeping_child(live.pid());
    sleeps(live.pid());
}

fn no_wake_ups_once_the_reader_of_an_unfinished_line_is_gone() {
    let (mut reader, pipe) = std::io::pipe().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let gone = within(&dir, "gone");
    let wait = format!("until test -e {gone}; do sleep 0.02; done");
    let live = in_one_pipe(pipe, &format!("printf x; {wait}; echo late >&2"));
    reader.read_exact(&mut [0]).unwrap();
    drop(reader);
    File::create(gone).unwrap();
    sleeping_child(live.pid());
    sleeps(live.pid());
}
