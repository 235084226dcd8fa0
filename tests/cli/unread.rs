//! The deadline bounds the run also where nobody reads what it writes.

use std::fs::{File, OpenOptions};
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};
use serde_json::Value;

use crate::common::words::Words;
use crate::common::{backoff, eventually, finish, wait_for, within};

/// How much a pipe holds.
fn capacity(pipe: impl AsFd) -> usize {
    fcntl(pipe, FcntlArg::F_GETPIPE_SZ).unwrap() as usize
}

/// A pipe without room, and the end that nobody reads.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&vec![b'\n'; capacity(&writer)]).unwrap();
    (reader, writer)
}

/// A named pipe without room, as long as the file is open.
fn full_fifo(path: &str) -> File {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    // With both ends of its own it does not wait for another.
    let mut fifo = OpenOptions::new().read(true).write(true).open(path).unwrap();
    fifo.write_all(&vec![b'\n'; capacity(&fifo)]).unwrap();
    fifo
}

/// How it ends, which it has to long before anybody loses patience.
#[track_caller]
fn end(child: &mut Child) -> ExitStatus {
    let (began, mut status) = (Instant::now(), None);
    eventually("the end, or too long", || {
        status = child.try_wait().unwrap();
        status.is_some() || began.elapsed() > Duration::from_secs(10)
    });
    status.expect("it ends")
}

/// Runs each with a deadline, and a standard output and error that nobody reads.
#[track_caller]
fn expect_ends(cases: &[(i32, &str)]) {
    let started: Vec<(PipeReader, Child)> = cases
        .iter()
        .map(|(_, args)| {
            let (reader, full) = full_pipe();
            let mut command = backoff(words!("-d 1s {..}", args));
            let command = command.stdout(full.try_clone().unwrap()).stderr(full);
            (reader, command.spawn().unwrap())
        })
        .collect();
    for ((_reader, mut child), (code, args)) in started.into_iter().zip(cases) {
        let status = end(&mut child);
        assert_eq!(status.code(), Some(*code), "{args}: {status:?}");
    }
}

#[test]
fn messages() {
    expect_ends(&[
        (3, "-n 3 -b 1ms -- sh -c 'exit 3'"),
        (3, "--log-format json -n 3 -b 1ms -- sh -c 'exit 3'"),
        (75, "--exhausted-exit 75 -n 3 -b 1ms -- sh -c 'exit 3'"),
        // One that comes after the last attempt changes nothing of a success.
        (0, "-n 1 -q --report /nonexistent/report -- true"),
    ]);
}

#[test]
fn what_has_waited_until_the_deadline_is_not_begun() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "file");
    expect_ends(&[
        (124, &format!("-v -- touch {file}")),
        (124, &format!("-vv --initial-delay 200ms -- touch {file}")),
        (1, &format!("-b 1ms --on-retry 'touch {file}' -- false")),
    ]);
    assert!(!std::fs::exists(&file).unwrap());
}

#[test]
fn a_log_and_a_report_in_a_named_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "fifo");
    let _fifo = full_fifo(&path);
    for (option, why) in [
        ("--log-file", "going on without it\n"),
        ("--report", "nobody reads it\n"),
    ] {
        let mut command = backoff(words!("-d 2s -n 2 -b 1ms {} {} -- sh -c 'exit 3'", option, path));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        assert_eq!(end(&mut child).code(), Some(3), "{option}");
        let said = finish("the end of standard error", child).stderr;
        assert!(said.contains(&format!("{option} {path:?}: nobody reads it")), "{said}");
        assert!(said.ends_with(why), "{said}");
    }
}

#[test]
fn a_log_and_a_report_in_a_descriptor() {
    expect_ends(&[
        (3, "-q --report /dev/stdout -n 2 -b 1ms -- sh -c 'exit 3'"),
        (3, "--log-file /dev/stdout -n 2 -b 1ms -- sh -c 'exit 3'"),
    ]);
}

#[test]
fn output_that_is_passed_on() {
    // But for one, they have ended long before, and what they said has not arrived.
    expect_ends(&[
        (124, "-r x -- echo hello"),
        (124, "-r x --stop-exit 9 -- sh -c 'echo hello; exit 9'"),
        (75, "-r x --exhausted-exit 75 -- echo hello"),
        (124, "-r x --exhausted-exit 75 --idempotent no -- echo hello"),
        (124, "-i 9s -- sh -c 'echo hello >&2'"),
        (124, "-r x -- yes"),
    ]);
}

#[test]
fn output_that_is_kept() {
    expect_ends(&[
        (124, "--stdout final -- echo hello"),
        (124, "--stdout final --stop-exit 9 -- sh -c 'echo hello; exit 9'"),
        (75, "--stdout final --exhausted-exit 75 -- echo hello"),
        (124, "--stdout final --exhausted-exit 75 --idempotent no -- echo hello"),
        (124, "--stderr failure -n 1 -- sh -c 'echo hello >&2; exit 3'"),
        // Nothing to print is nothing lost.
        (0, "--stderr failure -- sh -c 'echo hello >&2'"),
    ]);
}

#[test]
fn kept_output_that_is_cut_off_is_told() {
    let (_reader, full) = full_pipe();
    let dir = tempfile::tempdir().unwrap();
    let report = within(&dir, "report");
    let mut command = backoff(words!("-d 1s --stdout final --report {} -- echo hello", report));
    let mut child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(end(&mut child).code(), Some(124));
    let said = finish("the end of standard error", child).stderr;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].starts_with("backoff: warning: kept output is cut off"),
        "{said}"
    );
    assert!(
        lines[1].starts_with("backoff: echo: gave up after 1 attempt in "),
        "{said}"
    );
    assert!(lines[1].ends_with(": ended by the deadline (--deadline 1s)"), "{said}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["result"], "gave_up");
    assert_eq!(report["gave_up"], "deadline");
    assert_eq!(report["exit_status"], 124);
}

#[test]
fn what_a_hook_prints() {
    expect_ends(&[
        (1, "-b 1ms -q --on-retry 'echo hello; echo more' -- false"),
        (1, "-n 1 -q --on-give-up 'echo hello; echo more' -- false"),
    ]);
}

/// Starts a run whose last message but one finds no room. What it says when there is some.
fn after_room(options: impl Words) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (called, drained) = (within(&dir, "called"), within(&dir, "drained"));
    let hook = format!("touch {called}; until test -e {drained}; do sleep 0.02; done; exit 9");
    let (mut reader, full) = full_pipe();
    let mut filling = vec![0; capacity(&reader)];
    let mut command: Command = backoff(words!("-d 1s -n 1 --on-give-up {} {..} -- false", hook, options));
    let mut child = command.stderr(full).spawn().unwrap();
    drop(command);
    eventually("the hook", || std::fs::exists(&called).unwrap());
    reader.read_exact(&mut filling).unwrap();
    File::create(drained).unwrap();
    assert_eq!(end(&mut child).code(), Some(1));
    let mut said = String::new();
    wait_for("the end of standard error", child.id(), || {
        reader.read_to_string(&mut said).unwrap()
    });
    said
}

#[test]
fn that_lines_are_missing_is_said_first() {
    let missing = "lines before this one are missing, as standard error was not read in time";
    let failed = "--on-give-up failed: exit 9";
    assert_eq!(
        after_room(""),
        format!("backoff: warning: {missing}\nbackoff: warning: {failed}\n")
    );
    let said = after_room("--log-format json");
    let messages: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let messages: Vec<&Value> = messages.iter().map(|line| &line["message"]).collect();
    assert_eq!(messages, [missing, failed]);
    // Not only in the log.
    let said = after_room("-q --report /nonexistent/report");
    assert_eq!(said.lines().count(), 2, "nothing was lost: {said}");
}
