//! One round: its directory, its random choices, the runs of backoff in it, and the processes that they start.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::Result;

/// Limit on the time of a run; each has little work.
const PATIENCE: Duration = Duration::from_secs(20);
/// The processes of a run may end this much later than the run.
const GRACE: Duration = Duration::from_secs(5);
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

    pub fn is(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    /// Waits for a random time of at most this many microseconds.
    pub fn pause(&mut self, most: u64) {
        sleep(Duration::from_micros(self.rng.random_range(0..=most)));
    }

    /// Starts backoff in its own session, without a terminal. `before` are the words before backoff, `options` the
    /// words after it; in both, `DIR` is the directory of the round.
    pub fn start(
        &mut self,
        before: &str,
        options: &str,
        command: Vec<String>,
        input: Option<Vec<u8>>,
    ) -> Result<Started> {
        let dir = self.dir().display().to_string();
        let split = |words: &str| -> Vec<String> {
            let words = words.split_whitespace();
            words.map(|word| word.replace("DIR", &dir)).collect()
        };
        let words = [
            split(before),
            vec![self.binary.clone()],
            split(options),
            command,
        ]
        .concat();
        self.story.push(format!("{words:?}"));
        let mut line = Command::new("setsid");
        line.args(words)
            .env("BACKOFF_CONFIG", "none")
            .env(MARK, self.dir())
            .env("TMPDIR", self.dir())
            .env("LC_ALL", "C")
            .current_dir(self.dir())
            .stdin(if input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = line.spawn()?;
        let feeder = child.stdin.take().zip(input);
        // The command may leave some input unread.
        feeder.map(|(mut pipe, bytes)| thread::spawn(move || drop(pipe.write_all(&bytes))));
        Ok(Started {
            stdout: child.stdout.take().map(read_all),
            stderr: child.stderr.take().map(read_all),
            child,
            began: Instant::now(),
        })
    }

    /// Returns the processes of the round that run or are stopped. A zombie has no environment.
    fn processes(&self) -> Vec<i32> {
        let mark = format!("{MARK}={}", self.dir().display()).into_bytes();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut numbers: Vec<i32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        numbers.retain(|number| {
            let environ = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|entry| entry == mark)
        });
        numbers
    }

    fn kill_all(&self) {
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

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

pub struct Started {
    child: Child,
    began: Instant,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Started {
    /// Sends a signal to backoff or its group; returns true if it arrived. The pid is still backoff's, as the child is
    /// not yet reaped.
    pub fn signal(&self, signal: Signal, group: bool) -> bool {
        let pid = self.child.id() as i32;
        kill(Pid::from_raw(if group { -pid } else { pid }), signal).is_ok()
    }

    /// Waits for the end; fails after the time limit, or if processes are left. Continues a stopped backoff, as the
    /// user of a shell would.
    pub fn end(mut self, round: &Round) -> Result<Shown> {
        let mut ended = None;
        while ended.is_none() && self.began.elapsed() < PATIENCE {
            sleep(Duration::from_millis(1));
            if facts(self.child.id() as i32).starts_with('T') {
                self.signal(Signal::SIGCONT, false);
            }
            ended = self.child.try_wait()?;
        }
        let end = Instant::now();
        let mut left = round.processes();
        while ended.is_some() && !left.is_empty() && end.elapsed() < GRACE {
            sleep(Duration::from_millis(2));
            left = round.processes();
        }
        let described: Vec<String> = left
            .iter()
            .map(|number| format!("{number}: {}", facts(*number)))
            .collect();
        if !left.is_empty() {
            round.kill_all();
        }
        let bytes = |reader: Option<JoinHandle<Vec<u8>>>| {
            reader
                .and_then(|reader| reader.join().ok())
                .unwrap_or_default()
        };
        let shown = Shown {
            status: self.child.wait()?,
            stdout: bytes(self.stdout),
            stderr: String::from_utf8_lossy(&bytes(self.stderr)).into_owned(),
        };
        ensure!(ended.is_some(), "it hangs: {described:?}\n{shown}");
        ensure!(left.is_empty(), "left behind: {described:?}\n{shown}");
        let panicked = ["internal error", "panicked"]
            .iter()
            .any(|words| shown.stderr.contains(words));
        ensure!(!panicked, "a panic\n{shown}");
        Ok(shown)
    }
}

/// Returns the state of a process and the fields after it in `/proc/PID/stat`.
fn facts(number: i32) -> String {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .map_or_else(String::new, |(_, facts)| facts.chars().take(20).collect())
}

pub struct Shown {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Shown {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = |bytes: &[u8]| {
            bytes[bytes.len().saturating_sub(300)..]
                .escape_ascii()
                .to_string()
        };
        let (output, errors) = (tail(&self.stdout), tail(self.stderr.as_bytes()));
        write!(
            f,
            "{}\noutput: ...{output}\nerrors: ...{errors}",
            self.status
        )
    }
}
