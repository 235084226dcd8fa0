//! One round: its directory, its random choices, the runs of backoff in it, and the processes that they start.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use super::run::Started;
use crate::Result;

/// Marks the environment of all processes of a round.
const MARK: &str = "LAB_ATTACK";

/// Returns an error unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+).into());
        }
    };
}

pub struct Round {
    pub rng: Xoshiro256PlusPlus,
    /// The steps of the round, which are printed if it fails.
    pub story: Vec<String>,
    binary: String,
    dir: TempDir,
}

impl Round {
    pub fn new(seed: u64, binary: &Path) -> Result<Round> {
        Ok(Round {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            story: Vec::new(),
            binary: binary.display().to_string(),
            dir: tempfile::Builder::new().prefix("attack-").tempdir()?,
        })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    /// Returns true with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    /// Waits for a random time of at most this many microseconds.
    pub fn pause(&mut self, most: u64) {
        sleep(Duration::from_micros(self.rng.random_range(0..=most)));
    }

    /// Starts backoff in its own session, without a terminal.
    pub fn start(&mut self, invocation: Invocation<'_>) -> Result<Started> {
        let mut words = self.split(invocation.tracer);
        words.push(self.binary.clone());
        words.extend(self.split(invocation.options));
        words.extend(invocation.command);
        self.story.push(format!("{words:?}"));
        let mut command = Command::new("setsid");
        command
            .args(words)
            .env("BACKOFF_CONFIG", "none")
            .env(MARK, self.dir())
            .env("TMPDIR", self.dir())
            .env("LC_ALL", "C")
            .current_dir(self.dir());
        Started::start(&mut command, invocation.input)
    }

    fn split(&self, words: &str) -> Vec<String> {
        let dir = self.dir().display().to_string();
        let words = words.split_whitespace();
        words.map(|word| word.replace("DIR", &dir)).collect()
    }

    /// Returns the processes of the round that run or are stopped.
    pub fn processes(&self) -> Vec<i32> {
        let mark = format!("{MARK}={}", self.dir().display()).into_bytes();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut numbers: Vec<i32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        numbers.retain(|number| has_in_environment(*number, &mark));
        numbers
    }

    pub fn kill_all(&self) {
        // Repeated for processes that are being started.
        for _ in 0..3 {
            for number in self.processes() {
                let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
            }
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Returns false for a zombie, too, as it has no environment.
fn has_in_environment(number: i32, variable: &[u8]) -> bool {
    let environ = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
    environ
        .split(|byte| *byte == 0)
        .any(|entry| entry == variable)
}

/// A command line of backoff. `DIR` in the words of `tracer` and `options` is the directory of the round.
#[derive(Default)]
pub struct Invocation<'a> {
    /// The words before backoff: a program that runs it.
    pub tracer: &'a str,
    pub options: &'a str,
    pub command: Vec<String>,
    pub input: Option<Vec<u8>>,
}
