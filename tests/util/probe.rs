//! A program that the tests run.
//!
//! - `probe signals [CODE]` prints `ready PID`, then the number of each signal that it receives. SIGTERM makes it
//!   exit with CODE, if one is given.
//! - `probe sleep` prints `ready PID` and sleeps with all signals at their defaults.
//! - `probe die N` dies of signal N.
//! - `probe stamp FILE CODE` appends the monotonic clock in nanoseconds to FILE, and exits with CODE.
#![no_main]
#![allow(
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program for tests"
)]

use std::ffi::OsString;
use std::io::Write;

use backoff_cli::{Argv, Exit};
use nix::sys::signal::SigSet;
use nix::time::{ClockId, clock_gettime};

/// The exit status if the probe outlives its sleep or its signal.
const SURVIVED: Exit = Exit::Code(99);

// Without Rust's runtime, which would change SIGPIPE, SIGSEGV and closed descriptors.
#[allow(unsafe_code, reason = "this attribute")]
#[unsafe(no_mangle)]
extern "C" fn main(_: std::ffi::c_int, argv: Argv) -> std::ffi::c_int {
    backoff_cli::enter(argv, probe)
}

fn probe(args: Vec<OsString>) -> Exit {
    let words: Vec<&str> = args
        .iter()
        .skip(1)
        .map(|word| word.to_str().unwrap())
        .collect();
    match words.as_slice() {
        ["signals"] => print_signals(None),
        ["signals", code] => print_signals(Some(code.parse().unwrap())),
        ["sleep"] => sleep_for_a_minute(),
        ["die", signal] => die_of(signal),
        ["stamp", file, code] => {
            append_clock(file);
            Exit::Code(code.parse().unwrap())
        }
        _ => panic!("probe: {words:?}?"),
    }
}

fn print_signals(code_after_term: Option<u8>) -> Exit {
    let all = SigSet::all();
    all.thread_block().unwrap();
    let mut source = Source::new(&all);
    println!("ready {}", std::process::id());
    loop {
        let Some(signal) = source.next() else {
            continue;
        };
        println!("{signal}");
        if signal == 15
            && let Some(code) = code_after_term
        {
            return Exit::Code(code);
        }
    }
}

fn sleep_for_a_minute() -> Exit {
    println!("ready {}", std::process::id());
    std::thread::sleep(std::time::Duration::from_secs(60));
    SURVIVED
}

fn die_of(signal: &str) -> Exit {
    let own = std::process::id().to_string();
    let _ = std::process::Command::new("kill")
        .args([&format!("-{signal}"), &own])
        .status();
    SURVIVED
}

/// Appends the monotonic clock, so that tests can compare the times of several processes.
fn append_clock(file: &str) {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    let nanoseconds = i128::from(now.tv_sec()) * 1_000_000_000 + i128::from(now.tv_nsec());
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .unwrap();
    file.write_all(format!("{nanoseconds}\n").as_bytes())
        .unwrap();
}

/// Blocked signals, one at a time.
#[cfg(target_os = "linux")]
struct Source(nix::sys::signalfd::SignalFd);

#[cfg(target_os = "linux")]
impl Source {
    fn new(all: &SigSet) -> Source {
        Source(nix::sys::signalfd::SignalFd::new(all).unwrap())
    }

    fn next(&mut self) -> Option<u32> {
        let info = self.0.read_signal().ok()??;
        Some(info.ssi_signo)
    }
}

/// Reads blocked signals one at a time. Other systems have no real-time signals, or none that tests send.
#[cfg(not(target_os = "linux"))]
struct Source(SigSet);

#[cfg(not(target_os = "linux"))]
impl Source {
    fn new(all: &SigSet) -> Source {
        Source(*all)
    }

    fn next(&mut self) -> Option<u32> {
        Some(self.0.wait().ok()? as u32)
    }
}
