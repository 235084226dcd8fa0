//! The deadline also limits a run whose output nobody reads.

use std::fs::{File, OpenOptions};
use std::io::{PipeReader, PipeWriter, Read as _, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::util::{Ends, backoff, eventually, within};

tests! {
    messages_logs_and_hooks
    output_that_is_passed_on_or_kept
    a_log_and_a_report_in_a_named_pipe
    kept_output_that_is_cut_off_is_told
    a_signal_that_cuts_off_kept_output_is_told
    missing_lines_are_told_first
}

/// Fills a pipe, and returns the number of bytes in it.
fn fill(mut pipe: impl Write + AsFd) -> usize {
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let mut count = 0;
    while let Ok(more) = pipe.write(b"\n") {
        count += more;
    }
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    count
}

fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    fill(&writer);
    (reader, writer)
}

/// Asserts that a command exits with `code` although its output is not read. Returns its messages.
#[track_caller]
fn ends(command: &mut Command, code: i32) -> String {
    let mut live = command.unread();
    assert_eq!(live.status().code(), Some(code), "{command:?}");
    String::from_utf8(live.output().stderr).unwrap()
}

/// Asserts that each run exits by its deadline although its standard output and error are not read.
#[track_caller]
fn all_end(cases: &[(i32, &str)]) {
    std::thread::scope(|scope| {
        for (code, args) in cases {
            scope.spawn(move || {
                let (_reader, full) = full_pipe();
                let mut command = backoff(format!("-d 1s {args}"));
                ends(
                    command.stdout(full.try_clone().unwrap()).stderr(full),
                    *code,
                );
            });
        }
    });
}

fn messages_logs_and_hooks() {
    all_end(&[
        (3, "-n 3 -b 1ms -- sh -c 'exit 3'"),
        (3, "--log-format json -n 3 -b 1ms -- sh -c 'exit 3'"),
        (75, "--exhausted-exit 75 -n 3 -b 1ms -- sh -c 'exit 3'"),
        (3, "-qq --report /dev/stdout -n 2 -b 1ms -- sh -c 'exit 3'"),
        (3, "--log-file /dev/stdout -n 2 -b 1ms -- sh -c 'exit 3'"),
        (1, "-b 1ms -qq --on-retry 'echo hello; echo more' -- false"),
        (1, "-n 1 -qq --on-give-up 'echo hello; echo more' -- false"),
        // A message after the last attempt does not change a success.
        (0, "-n 1 -qq --report /nonexistent/report -- true"),
    ]);
}

fn output_that_is_passed_on_or_kept() {
    // Most commands exit long before the deadline, but their output has not arrived.
    all_end(&[
        (124, "-r x -- echo hello"),
        (124, "-r x --stop-exit 9 -- sh -c 'echo hello; exit 9'"),
        (75, "-r x --exhausted-exit 75 -- echo hello"),
        (
            124,
            "-r x --exhausted-exit 75 --idempotent no -- echo hello",
        ),
        (124, "-i 9s -- sh -c 'echo hello >&2'"),
        (124, "-r x -- yes"),
        (124, "--stdout final -- echo hello"),
        (
            124,
            "--stdout final --stop-exit 9 -- sh -c 'echo hello; exit 9'",
        ),
        (75, "--stdout final --exhausted-exit 75 -- echo hello"),
        (
            124,
            "--stdout final --exhausted-exit 75 --idempotent no -- echo hello",
        ),
        (
            124,
            "--stderr failure -n 1 -- sh -c 'echo hello >&2; exit 3'",
        ),
        // Nothing is lost, as backoff prints nothing.
        (0, "--stderr failure -- sh -c 'echo hello >&2'"),
    ]);
}

fn a_log_and_a_report_in_a_named_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "fifo");
    nix::unistd::mkfifo(&*path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // Opening only one end would block.
    let fifo = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    fill(&fifo);
    for (option, why) in [
        ("--log-file", "messages go to standard error\n"),
        ("--report", "not read in time\n"),
    ] {
        let mut command = backoff(format!(
            "-d 2s -n 2 -b 1ms {option} {path} -- sh -c 'exit 3'"
        ));
        let said = ends(command.stderr(Stdio::piped()), 3);
        assert!(
            said.contains(&format!("{option} {path:?}: not read in time")),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
    }
}

fn kept_output_that_is_cut_off_is_told() {
    let (_reader, full) = full_pipe();
    let dir = tempfile::tempdir().unwrap();
    let report = within(&dir, "report");
    let mut command = backoff(format!(
        "-d 1s --stdout final --report {report} -- echo hello"
    ));
    let said = ends(command.stdout(full).stderr(Stdio::piped()), 124);
    let (first, second) = said.split_once('\n').unwrap();
    assert!(
        first.starts_with("backoff: warning: output was cut off"),
        "{said}"
    );
    assert!(
        second.starts_with("backoff: echo: gave up after 1 attempt in "),
        "{said}"
    );
    assert!(
        second.ends_with(": ended by the deadline (--deadline 1s)\n"),
        "{said}"
    );
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(
        (&report["gave_up"], &report["exit_status"]),
        (&"deadline".into(), &124.into())
    );
}

fn a_signal_that_cuts_off_kept_output_is_told() {
    let (_reader, full) = full_pipe();
    let script = "trap 'exit 0' TERM; echo kept; echo on >&2; while :; do sleep 0.05; done 2>&-";
    let mut live = backoff("--stdout final -- sh -c")
        .arg(script)
        .stdout(full)
        .stderr(Stdio::piped())
        .unread();
    assert_eq!(live.line_of_stderr(), "on");
    live.signal(Signal::SIGTERM);
    // The command exits with 0, so only this line explains the 124.
    let said = live.code(124).err();
    assert!(
        said.ends_with("\nbackoff: sh: interrupted by SIGTERM; no further attempt\n"),
        "{said}"
    );
}

/// Runs backoff with a full standard error, and drains it while the hook runs. Returns the messages after that.
fn after_room(options: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (called, drained) = (within(&dir, "called"), within(&dir, "drained"));
    let hook = format!("touch {called}; until test -e {drained}; do sleep 0.02; done; exit 9");
    let (mut reader, full) = std::io::pipe().unwrap();
    let mut filling = vec![0; fill(&full)];
    let mut command = backoff("-d 1s -n 1 --on-give-up");
    let options = options.split_whitespace();
    let mut live = command
        .arg(hook)
        .args(options)
        .args(["--", "false"])
        .stderr(full)
        .unread();
    drop(command);
    eventually("the hook", || std::fs::exists(&called).unwrap());
    reader.read_exact(&mut filling).unwrap();
    File::create(drained).unwrap();
    assert_eq!(live.status().code(), Some(1));
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    said
}

fn missing_lines_are_told_first() {
    let missing = "earlier lines were lost because standard error was not read in time";
    let failed = "--on-give-up failed: exit 9";
    let text = format!("backoff: warning: {missing}\nbackoff: warning: {failed}\n");
    assert_eq!(after_room(""), text);
    let said = after_room("--log-format json");
    let messages: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        [&messages[0]["message"], &messages[1]["message"]],
        [missing, failed]
    );
    // With `-qq` there is no message before the hook, so none is lost.
    let said = after_room("-qq --report /nonexistent/report");
    assert_eq!(said.lines().count(), 2, "nothing was lost: {said}");
}
