//! The processes of a round, known by a variable in their environment.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub const VARIABLE: &str = "LAB_ATTACK";

/// Those that run or are stopped. A zombie shows no environment.
pub fn processes(mark: &Path) -> Vec<i32> {
    let mark = format!("{VARIABLE}={}", mark.display()).into_bytes();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &i32| {
            let environ = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|entry| entry == mark)
        })
        .collect()
}

/// Those that are there still after a while.
pub fn left(mark: &Path, patience: Duration) -> Vec<i32> {
    let began = Instant::now();
    loop {
        let left = processes(mark);
        if left.is_empty() || began.elapsed() > patience {
            return left;
        }
        sleep(Duration::from_millis(2));
    }
}

/// Name, state and parent of each.
pub fn described(numbers: &[i32]) -> String {
    let described = numbers.iter().filter_map(|number| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        let words: String = words.chars().take(60).collect();
        let waits = fs::read_to_string(format!("/proc/{number}/wchan")).unwrap_or_default();
        let facts = stat.rsplit_once(") ").map_or("", |(_, facts)| facts);
        let mut facts = facts.split(' ');
        let (state, parent, group) = (facts.next()?, facts.next()?, facts.next()?);
        Some(format!(
            "{number} ({words:?}) in state {state}, parent {parent}, group {group}, waits in {waits}"
        ))
    });
    described.collect::<Vec<_>>().join("; ")
}

/// Whether a process is stopped.
pub fn is_stopped(number: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, facts)| facts.starts_with('T'))
}

pub fn kill_all(mark: &Path) {
    // Once more for what was being started just then.
    for _ in 0..3 {
        for number in processes(mark) {
            let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
        }
        sleep(Duration::from_millis(5));
    }
}
