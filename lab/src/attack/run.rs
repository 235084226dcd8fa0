//! A run of backoff in a round.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::round::Round;
use crate::Result;

/// Limit on the time of a run; each has little work.
const PATIENCE: Duration = Duration::from_secs(20);
/// The processes of a run may end this much later than the run.
const GRACE: Duration = Duration::from_secs(5);

/// The receiver of a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Backoff,
    /// The process group of backoff.
    Group,
}

pub struct Started {
    child: Child,
    began: Instant,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Started {
    /// Starts the command. Without `input`, its standard input is empty.
    pub fn start(command: &mut Command, input: Option<Vec<u8>>) -> Result<Started> {
        let stdin = if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let (Some(pipe), Some(bytes)) = (child.stdin.take(), input) {
            feed(pipe, bytes);
        }
        Ok(Started {
            stdout: child.stdout.take().map(read_all),
            stderr: child.stderr.take().map(read_all),
            child,
            began: Instant::now(),
        })
    }

    /// Sends a signal; returns true if it arrived. The pid is still backoff's, as the child is not yet reaped.
    pub fn signal(&self, signal: Signal, target: Target) -> bool {
        let pid = self.child.id() as i32;
        let receiver = match target {
            Target::Backoff => pid,
            Target::Group => -pid,
        };
        kill(Pid::from_raw(receiver), signal).is_ok()
    }

    /// Waits for the end; fails after the time limit, or if processes are left.
    pub fn end(mut self, round: &Round) -> Result<Ended> {
        let has_ended = self.wait_for_end()?;
        let left = if has_ended {
            processes_after_grace(round)
        } else {
            round.processes()
        };
        // Described before they are killed.
        let left: Vec<String> = left
            .into_iter()
            .map(|number| format!("{number}: {}", facts(number)))
            .collect();
        if !left.is_empty() {
            round.kill_all();
        }
        let ended = Ended {
            status: self.child.wait()?,
            stdout: joined(self.stdout),
            stderr: String::from_utf8_lossy(&joined(self.stderr)).into_owned(),
        };
        ensure!(has_ended, "it hangs: {left:?}\n{ended}");
        ensure!(left.is_empty(), "left behind: {left:?}\n{ended}");
        ensure!(!ended.has_panicked(), "a panic\n{ended}");
        Ok(ended)
    }

    /// Returns false if backoff has not ended in time. Continues a stopped backoff, as the user of a shell would.
    fn wait_for_end(&mut self) -> Result<bool> {
        while self.began.elapsed() < PATIENCE {
            sleep(Duration::from_millis(1));
            if facts(self.child.id() as i32).starts_with('T') {
                self.signal(Signal::SIGCONT, Target::Backoff);
            }
            if self.child.try_wait()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Writes to the pipe in a thread, as the command may leave some input unread.
fn feed(mut pipe: ChildStdin, bytes: Vec<u8>) {
    thread::spawn(move || drop(pipe.write_all(&bytes)));
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

/// Returns the bytes that a thread of [`read_all`] has read.
fn joined(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    match reader {
        Some(reader) => reader.join().unwrap_or_default(),
        None => Vec::new(),
    }
}

/// Returns the processes of a round whose backoff has ended, once there are none or they have had time to end.
fn processes_after_grace(round: &Round) -> Vec<i32> {
    let end = Instant::now();
    let mut left = round.processes();
    while !left.is_empty() && end.elapsed() < GRACE {
        sleep(Duration::from_millis(2));
        left = round.processes();
    }
    left
}

/// Returns the state of a process and the fields after it in `/proc/PID/stat`.
fn facts(number: i32) -> String {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    match stat.rsplit_once(") ") {
        Some((_, facts)) => facts.chars().take(20).collect(),
        None => String::new(),
    }
}

pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// Returns the status as a shell has it: 128 + N after signal N.
    pub fn status_in_shell(&self) -> Option<i32> {
        self.code().or(self.signal().map(|signal| 128 + signal))
    }

    fn has_panicked(&self) -> bool {
        self.stderr.contains("internal error") || self.stderr.contains("panicked")
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        writeln!(f, "output: ...{}", tail(&self.stdout))?;
        write!(f, "errors: ...{}", tail(self.stderr.as_bytes()))
    }
}

/// Returns the last 300 bytes, with escapes for those that are not printable.
fn tail(bytes: &[u8]) -> String {
    let begin = bytes.len().saturating_sub(300);
    bytes[begin..].escape_ascii().to_string()
}
