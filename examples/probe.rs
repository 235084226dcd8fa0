//! A child for the tests: tells on standard output what it got from whoever started it.
//!
//! - `probe signals [CODE]` prints `ready PID`, then the number of each signal it gets; TERM ends it
//!   with CODE if one is given.
//! - `probe sleep` prints `ready PID` and sleeps with all signals at their defaults.
//! - `probe die N` dies of signal N.
//! - `probe stamp FILE CODE` appends the monotonic clock in nanoseconds to FILE, and exits with CODE.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods, reason = "a program for tests")]

use std::io::Write;

use nix::sys::signal::SigSet;
use nix::sys::signalfd::SignalFd;
use nix::time::{ClockId, clock_gettime};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["signals"] => signals(None),
        ["signals", code] => signals(Some(code.parse().unwrap())),
        ["sleep"] => {
            println!("ready {}", std::process::id());
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        ["die", signal] => {
            let own = std::process::id().to_string();
            // Twice: Rust's runtime takes the first SEGV or BUS to tell a stack overflow.
            for _ in 0..2 {
                let _ = std::process::Command::new("kill").args([&format!("-{signal}"), &own]).status();
            }
        }
        ["stamp", file, code] => {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
            let line = format!("{}\n", i128::from(now.tv_sec()) * 1_000_000_000 + i128::from(now.tv_nsec()));
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
            file.write_all(line.as_bytes()).unwrap();
            std::process::exit(code.parse().unwrap());
        }
        _ => panic!("probe: {words:?}?"),
    }
}

fn signals(code_after_term: Option<i32>) {
    let all = SigSet::all();
    all.thread_block().unwrap();
    let fd = SignalFd::new(&all).unwrap();
    println!("ready {}", std::process::id());
    loop {
        let Ok(Some(info)) = fd.read_signal() else { continue };
        println!("{}", info.ssi_signo);
        if info.ssi_signo == 15
            && let Some(code) = code_after_term
        {
            std::process::exit(code);
        }
    }
}
