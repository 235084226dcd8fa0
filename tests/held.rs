//! Output that is kept while a command runs. What backoff finally prints of it is in `tests/cases/streams.md`.

use std::process::{Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::util::process::{state, until_it_is_stuck};
use crate::util::{Ends, Live, backoff, eventually, long_sleep};

tests! {
    it_is_held_until_the_end_and_no_longer
    nothing_is_left_in_the_temporary_directory_after_a_signal
    a_signal_prints_what_was_kept_of_the_last_attempt
    a_signal_ends_a_run_whose_held_output_nobody_reads
    a_signal_leaves_the_reader_of_held_output_only_some_time
}

/// Starts a command, and asserts that its first line on standard error contains `part`.
#[track_caller]
fn until_it_says(part: &str, command: &mut Command) -> Live {
    let mut live = command.live();
    let line = live.line_of_stderr();
    assert!(line.contains(part), "{line}");
    live
}

/// Starts a run that keeps the line "part" and is waiting to retry.
#[track_caller]
fn waiting(options: &str) -> Live {
    let options = format!("{options} -j none --stdout final -- sh -c 'echo part; exit 3'");
    until_it_says("; retrying in ", &mut backoff(options))
}

fn it_is_held_until_the_end_and_no_longer() {
    let mut command =
        backoff("--stdout final -- sh -c 'echo early; echo ready >&2; read x; echo late'");
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut live = command
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(Stdio::piped())
        .unread();
    drop(command);
    assert_eq!(live.line_of_stderr(), "ready");
    let mut fds = [PollFd::new(
        std::os::fd::AsFd::as_fd(&reader),
        PollFlags::POLLIN,
    )];
    assert_eq!(
        poll(&mut fds, PollTimeout::from(50_u8)),
        Ok(0),
        "nothing is printed yet"
    );
    live.write("\n");
    live.code(0);
    let mut kept = String::new();
    std::io::Read::read_to_string(&mut reader, &mut kept).unwrap();
    assert_eq!(kept, "early\nlate\n");
}

fn nothing_is_left_in_the_temporary_directory_after_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let script = format!(
            "head -c 3000000 /dev/zero; echo ready >&2; exec sleep {}",
            long_sleep()
        );
        let mut command = backoff("--stdout final -- sh -c");
        let live = until_it_says("ready", command.arg(script).env("TMPDIR", dir.path()));
        live.signal(signal);
        let kept = if signal == Signal::SIGKILL {
            0
        } else {
            3_000_000
        };
        assert_eq!(live.killed_by(signal).out().len(), kept, "{signal}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

fn a_signal_prints_what_was_kept_of_the_last_attempt() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let live = waiting("-b 25s");
        live.signal(signal);
        live.killed_by(signal).stdout("part\n");
    }
    // During an attempt, output after the signal belongs to the attempt.
    let script = "trap 'echo last; exit 3' TERM; echo part; echo ready >&2; while :; do sleep 0.01; done 2>&-";
    for (options, prints) in [
        ("--stdout final", "part\nlast\n"),
        ("--stdout success", ""),
        ("--stdout null", ""),
        ("--success-exit 3 --stdout success", "part\nlast\n"),
    ] {
        let live = until_it_says(
            "ready",
            backoff(format!("-qq {options} -- bash -c")).arg(script),
        );
        live.signal(Signal::SIGTERM);
        live.code(3).stdout(prints);
    }
}

/// Asserts that backoff continues after the part already read, and prints no byte twice.
fn a_signal_ends_a_run_whose_held_output_nobody_reads() {
    let mut live = backoff("--stdout final -- seq 1000000").live();
    live.expect_line("1");
    until_it_is_stuck(live.pid());
    live.signal(Signal::SIGTERM);
    live.status();
    let all: String = (2..=1_000_000)
        .map(|number| format!("{number}\n"))
        .collect();
    let rest = live.output().stdout;
    assert!(
        all.as_bytes().starts_with(&rest),
        "it began again: {} bytes",
        rest.len()
    );
}

/// Without backoff, the command would die of the signal or of SIGPIPE. Asserts that backoff also exits.
fn a_signal_leaves_the_reader_of_held_output_only_some_time() {
    let live = until_it_says(
        "ready",
        &mut backoff("--stdout final -- sh -c 'seq 1000000; echo ready >&2; exec sleep 60'"),
    );
    live.signal(Signal::SIGTERM);
    eventually("it ends without a reader", || {
        state(live.pid()) == Some('Z')
    });
    live.code(124).says("output was cut off").out();
}
