//! Output that is kept, and printed when it is known whether it is the last attempt's.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::process::{state, until_it_is_stuck};
use crate::common::words::Words;
use crate::common::{Live, backoff, detached, eventually, finish, line_of_stderr, long_sleep, shell};

/// Starts it, and waits until the first line on standard error says this.
#[track_caller]
fn until_it_says(what: &str, command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let line = line_of_stderr(&mut child);
    assert!(line.contains(what), "{line}");
    child
}

/// A run that waits, having kept the line "part"; how long, and by when it is to end, say the options.
#[track_caller]
fn waiting(options: impl Words) -> Child {
    let kept = "-j none --stdout final -- sh -c 'echo part; exit 3'";
    until_it_says("; retrying in ", &mut detached(words!("{..} {..}", options, kept)))
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

#[test]
fn it_is_held_until_the_end_and_no_longer() {
    let args = "--stdout final -- sh -c 'echo early; echo ready >&2; read x; echo late'";
    let mut child = until_it_says("ready", backoff(args).stdin(Stdio::piped()));
    let stdout = child.stdout.as_ref().unwrap();
    let mut fds = [nix::poll::PollFd::new(
        std::os::fd::AsFd::as_fd(stdout),
        nix::poll::PollFlags::POLLIN,
    )];
    assert_eq!(nix::poll::poll(&mut fds, 50u16).unwrap(), 0, "nothing is printed yet");
    drop(child.stdin.take());
    assert_eq!(finish("what was kept", child).stdout, "early\nlate\n");
}

#[test]
fn nothing_is_left_in_the_temporary_directory_after_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let is_empty = || std::fs::read_dir(dir.path()).unwrap().count() == 0;
    let much = "head -c 3000000 /dev/zero; echo ready >&2";
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let script = format!("{much}; exec sleep {}", long_sleep());
        let args = words!("--stdout final -- sh -c {}", script);
        let child = until_it_says("ready", detached(&args).env("TMPDIR", dir.path()));
        send(&child, signal);
        let output = finish(signal.as_str(), child);
        let kept = if signal == Signal::SIGKILL { 0 } else { 3_000_000 };
        assert_eq!(output.stdout.len(), kept, "{signal}");
        assert!(is_empty());
    }
}

#[test]
fn a_signal_prints_what_was_kept_of_the_last_attempt() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        // During the wait.
        let child = waiting("-b 25s");
        send(&child, signal);
        let shown = finish("the end", child);
        assert_eq!((shown.signal(), shown.stdout.as_str()), (Some(signal as i32), "part\n"));
    }
    // During an attempt; whatever it adds is part of it.
    let script = "trap 'echo last; exit 6' TERM; echo part; echo ready >&2; while :; do sleep 0.01; done";
    for (keep, prints) in [("final", "part\nlast\n"), ("success", ""), ("null", "")] {
        let child = until_it_says(
            "ready",
            &mut detached(words!("--stdout {} -- bash -c {}", keep, script)),
        );
        send(&child, Signal::SIGTERM);
        let shown = finish("the end", child).expect_code(6);
        assert_eq!(shown.stdout, prints, "{keep}");
    }
    // A success is what is called one.
    let script = "trap 'exit 3' TERM; echo part; echo ready >&2; while :; do sleep 0.01; done";
    let options = "-q --success-exit 3 --stdout success";
    let child = until_it_says("ready", &mut detached(words!("{..} -- bash -c {}", options, script)));
    send(&child, Signal::SIGTERM);
    let shown = finish("the end", child).expect_code(3);
    assert_eq!(shown.stdout, "part\n");
}

#[test]
fn a_signal_ends_a_run_whose_held_output_nobody_reads() {
    let mut live = live!("--stdout final -- seq 1000000");
    live.expect_line("1");
    until_it_is_stuck(live.pid());
    live.signal(Signal::SIGTERM);
    assert!(live.ends_unread().is_some(), "TERM, and nobody reads");
}

#[test]
fn a_deadline_that_passed_while_stopped_prints_what_was_kept() {
    // Between the two there is time for an attempt on the slowest machine.
    let child = waiting("-b 3s -d 6s");
    send(&child, Signal::SIGSTOP);
    let stopped = Instant::now();
    let pid = child.id() as i32;
    eventually("it is stopped for long", || {
        state(pid) == Some('T') && stopped.elapsed() > Duration::from_secs(6)
    });
    send(&child, Signal::SIGCONT);
    let shown = finish("the end", child).expect_code(3);
    assert_eq!(shown.stdout, "part\n");
}

#[test]
fn what_is_held_is_printed_once() {
    // A signal comes when the reader has taken some of it: what follows is the rest, or a part of that.
    let mut live = live!("--stdout final -- seq 1000000");
    live.expect_line("1");
    until_it_is_stuck(live.pid());
    live.signal(Signal::SIGTERM);
    let all: String = (2..=1_000_000).map(|number| format!("{number}\n")).collect();
    let rest = live.finish().stdout;
    assert!(
        all.starts_with(&rest),
        "it began again: {} of {}",
        rest.len(),
        all.len()
    );
}

#[test]
fn the_output_arrives_as_it_is_written() {
    let mut live = Live::start(&mut shell(
        "backoff -- sh -c 'echo first; read x; echo $x' < <(sleep 0.3; echo second)",
    ));
    live.expect_line("first");
    live.expect_line("second");
    live.finish().expect_code(0);
}
