//! Standard input of several attempts, with real pipes and commands. A descriptor of the test replaces backoff's
//! standard input.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at clocks and have writers of their own"
)]

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Stdin;
use crate::run::streams::InputMode;

const PATIENCE: Duration = Duration::from_secs(60);

/// The output of an attempt, and the number of calls to `fill_pipe`.
struct Attempt {
    output: Vec<u8>,
    calls: usize,
}

/// Runs a shell command as one attempt, until its output ends.
fn attempt(input: &mut Stdin, script: &str) -> Attempt {
    attempt_until(input, script, None)
}

/// Runs a shell command as one attempt, until it has written `enough` bytes.
fn attempt_until(input: &mut Stdin, script: &str, enough: Option<usize>) -> Attempt {
    let (mut reader, writer) = io::pipe().unwrap();
    let stdin = input.begin().unwrap();
    if let Some(fd) = &stdin {
        assert!(fd.as_raw_fd() > 2);
    }
    let mut child = Command::new("sh")
        .args(["-c", script])
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(writer)
        .spawn()
        .unwrap();
    let mut output = Vec::new();
    let mut calls = 0;
    let started = Instant::now();
    let mut buffer = vec![0; 1 << 16];
    loop {
        assert!(
            started.elapsed() < PATIENCE,
            "{script}: {} bytes came",
            output.len()
        );
        let limit = input
            .wake_after()
            .map_or(PATIENCE, |after| after.min(PATIENCE));
        let mut fds = vec![PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
        if let Some((fd, flags)) = input.interest() {
            fds.push(PollFd::new(fd, flags));
        }
        let limit = PollTimeout::try_from(limit.as_micros().div_ceil(1000)).unwrap();
        let count = poll(&mut fds, limit).unwrap();
        let has_output = fds[0].any().unwrap();
        let is_ready = fds.get(1).is_some_and(|fd| fd.any().unwrap());
        drop(fds);
        if is_ready || count == 0 {
            calls += 1;
            input.fill_pipe();
        }
        if has_output {
            let count = reader.read(&mut buffer).unwrap();
            output.extend_from_slice(&buffer[..count]);
            if count == 0 || enough.is_some_and(|enough| output.len() >= enough) {
                break;
            }
        }
    }
    if enough.is_some() {
        child.kill().unwrap();
    }
    child.wait().unwrap();
    input.end();
    assert!(input.interest().is_none() && input.wake_after().is_none());
    Attempt { output, calls }
}

fn run(input: &mut Stdin, script: &str) -> Vec<u8> {
    attempt(input, script).output
}

/// Leaks a descriptor, so that it lives as long as the process.
fn forever(fd: impl Into<OwnedFd>) -> BorrowedFd<'static> {
    let fd: &'static OwnedFd = Box::leak(Box::new(fd.into()));
    fd.as_fd()
}

fn source() -> (BorrowedFd<'static>, PipeWriter) {
    let (reader, writer) = io::pipe().unwrap();
    (forever(reader), writer)
}

/// Returns a pipe, and the thread that writes these bytes to it and closes it.
fn pipe_of(bytes: Vec<u8>) -> (BorrowedFd<'static>, JoinHandle<()>) {
    let (reader, mut writer) = source();
    let writing = spawn(move || writer.write_all(&bytes).unwrap());
    (reader, writing)
}

fn auto(source: BorrowedFd<'static>) -> Stdin {
    Stdin::new(source, InputMode::Auto, u64::MAX).unwrap()
}

/// Returns the bytes left for a later program.
fn rest(source: BorrowedFd<'static>) -> Vec<u8> {
    let mut found = Vec::new();
    let mut reader = PipeReader::from(source.try_clone_to_owned().unwrap());
    reader.read_to_end(&mut found).unwrap();
    found
}

/// Returns bytes of any value, without a short period.
fn binary(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_le_bytes()
    };
    let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(next).collect();
    bytes.truncate(count);
    bytes
}

fn lines(count: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|i| format!("line {i}\n").into_bytes())
        .collect()
}

#[test]
fn every_attempt_reads_everything() {
    for size in [0, 1, 4095, 4096, 4097, 65_536, 300_001, 8 << 20] {
        let all = binary(size);
        let (source, writing) = pipe_of(all.clone());
        let mut input = auto(source);
        for _ in 0..3 {
            assert!(run(&mut input, "cat") == all, "{size}");
        }
        writing.join().unwrap();
        assert!(rest(source).is_empty());
    }
}

#[test]
fn a_part_that_was_read_is_taken_once() {
    for count in [1, 1000, 4096, 5000, 100_000] {
        let all = binary(200_000);
        let (source, _writing) = pipe_of(all.clone());
        let mut input = auto(source);
        let script =
            format!("dd bs=1000 iflag=fullblock,count_bytes count={count} 2>/dev/null; exit 1");
        for _ in 0..3 {
            assert!(run(&mut input, &script) == all[..count], "{count}");
        }
        assert!(rest(source) == all[count..], "{count}");
    }
}

#[test]
fn line_by_line_and_byte_by_byte_to_the_end() {
    let all = lines(3000);
    let (source, _writing) = pipe_of(all.clone());
    let mut input = auto(source);
    assert!(run(&mut input, "while read -r a; do echo \"$a\"; done") == all);
    assert!(run(&mut input, "dd bs=1 2>/dev/null") == all);
    assert!(run(&mut input, "while read -r a; do echo \"$a\"; done") == all);
    assert!(run(&mut input, "dd bs=7000 2>/dev/null") == all);
}

#[test]
fn small_reads_of_much() {
    let all = binary(3 << 20);
    for block in [100, 4096, 5000, 65_536] {
        let (source, _writing) = pipe_of(all.clone());
        let mut input = auto(source);
        for _ in 0..2 {
            assert!(
                run(&mut input, &format!("dd bs={block} 2>/dev/null")) == all,
                "{block}"
            );
        }
    }
}

#[test]
fn several_processes_read_in_turn() {
    let all = lines(20_000);
    let (source, _writing) = pipe_of(all.clone());
    let mut input = auto(source);
    for _ in 0..2 {
        let output = run(
            &mut input,
            "read a; echo \"$a\"; (read b; echo \"$b\"); cat",
        );
        assert!(output == all);
    }
}

#[test]
fn a_writer_that_is_slow_is_waited_for_without_polling() {
    let (source, mut writer) = source();
    let writing = spawn(move || {
        for i in 0..20 {
            writer.write_all(format!("line {i}\n").as_bytes()).unwrap();
            sleep(Duration::from_millis(10));
        }
    });
    let mut input = auto(source);
    let first = attempt(&mut input, "cat");
    assert!(first.output == lines(20));
    // backoff sees each line arrive, and soon sees that the command has read it.
    assert!(first.calls <= 200, "{}", first.calls);
    assert!(run(&mut input, "cat") == lines(20));
    writing.join().unwrap();
}

#[test]
fn a_writer_that_stalls_does_not_hold_up_the_end() {
    let (source, mut writer) = source();
    writer.write_all(b"one\n").unwrap();
    let mut input = auto(source);
    for _ in 0..3 {
        let seen = attempt(&mut input, "read a; echo $a; sleep 0.1");
        assert_eq!(seen.output, b"one\n");
        assert!(seen.calls <= 40, "{}", seen.calls);
    }
    writer.write_all(b"two\n").unwrap();
    drop(writer);
    assert_eq!(run(&mut input, "cat"), b"one\ntwo\n");
}

#[test]
fn a_reader_that_pauses_is_polled_for_ever_less_often() {
    let (source, _writing) = pipe_of(binary(1 << 20));
    let mut input = auto(source);
    let seen = attempt(&mut input, "dd bs=10 count=1 2>/dev/null; sleep 0.3");
    assert_eq!(seen.output.len(), 10);
    assert!(seen.calls <= 40, "{}", seen.calls);
    let seen = attempt(
        &mut input,
        "dd bs=1000 count=500 iflag=fullblock 2>/dev/null; sleep 1; cat",
    );
    assert!(seen.output.len() == 1 << 20);
    assert!(seen.calls <= 1200, "{}", seen.calls);
}

#[test]
fn a_reader_that_stops_reading_is_left_alone() {
    for size in [10_000, 1 << 20] {
        let (source, _writing) = pipe_of(binary(size));
        let mut input = auto(source);
        for _ in 0..2 {
            let seen = attempt(
                &mut input,
                "dd bs=1000 count=5 iflag=fullblock 2>/dev/null; exec <&-; sleep 0.3",
            );
            assert!(seen.output == binary(5000));
            assert!(seen.calls < 40, "{}", seen.calls);
        }
        assert!(rest(source) == binary(size)[5000..]);
    }
}

#[test]
fn a_killed_attempt_counts_what_it_read() {
    let all = binary(1 << 20);
    let (source, _writing) = pipe_of(all.clone());
    let mut input = auto(source);
    let seen = attempt_until(&mut input, "exec dd bs=4096 2>/dev/null", Some(300_000));
    assert!(all.starts_with(&seen.output));
    assert!(run(&mut input, "cat") == all);
}

#[test]
fn an_attempt_that_never_started_takes_nothing() {
    let (source, _writing) = pipe_of(lines(100));
    let mut input = auto(source);
    drop(input.begin().unwrap());
    input.end();
    assert!(run(&mut input, "cat") == lines(100));
}
