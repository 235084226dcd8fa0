//! One round: its directory, its randomness, and the runs of backoff in it.

use std::io::{self, Read, Write};
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

use super::marked;
use super::outcome::{Outcome, ensure};
use crate::child;

/// No run may take longer: all of them have little to do.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// What a run has started may take so long to go after it.
const AFTERMATH: Duration = Duration::from_secs(5);

pub struct Round {
    pub rng: Xoshiro256PlusPlus,
    pub binary: String,
    pub runs: u64,
    /// What was done, for whoever looks into a loss.
    pub story: Vec<String>,
    dir: TempDir,
}

impl Round {
    pub fn new(seed: u64, binary: &str) -> io::Result<Round> {
        Ok(Round {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            binary: binary.to_owned(),
            runs: 0,
            story: Vec::new(),
            dir: tempfile::Builder::new().prefix("attack-").tempdir()?,
        })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A path in the directory, as text.
    pub fn path(&self, name: &str) -> String {
        self.dir().join(name).display().to_string()
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    pub fn is(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    /// Words of options, `DIR` being the directory.
    pub fn options(&self, options: &str) -> Vec<String> {
        let dir = self.dir().display().to_string();
        options
            .split_whitespace()
            .map(|word| word.replace("DIR", &dir))
            .collect()
    }

    /// backoff in a session of its own, without a terminal.
    pub fn backoff(&self, words: &[String]) -> Command {
        let mut command = self.command("setsid");
        command.arg(&self.binary).args(words);
        command
    }

    /// Any program, marked as this round's.
    pub fn command(&self, program: &str) -> Command {
        let mut command = child::command(program);
        command
            .env("BACKOFF_NO_CONFIG", "1")
            .env(marked::VARIABLE, self.dir())
            .env("TMPDIR", self.dir())
            // What takes the place of a hostile server is not this machine's own.
            .env("XDG_STATE_HOME", self.dir().join("state"))
            .current_dir(self.dir())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&mut self, command: &mut Command, input: Option<Vec<u8>>) -> Outcome<Started> {
        self.runs += 1;
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
        let program = command.get_program().to_string_lossy().into_owned();
        let line: Vec<String> = std::iter::once(program)
            .chain(words)
            .map(|word| quoted(&word))
            .collect();
        self.story.push(line.join(" "));
        let mut child = command.spawn()?;
        let feeder = child.stdin.take().zip(input);
        let feeder = feeder.map(|(mut pipe, bytes)| {
            // Nobody has to read it.
            thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        Ok(Started {
            stdout: child.stdout.take().map(read_all),
            stderr: child.stderr.take().map(read_all),
            feeder,
            child,
            began: Instant::now(),
        })
    }

    /// Starts it and waits for the end.
    pub fn run(&mut self, command: &mut Command, input: Option<Vec<u8>>) -> Outcome<Shown> {
        let started = self.start(command, input)?;
        started.end(self)
    }

    /// A pause of up to so many microseconds.
    pub fn pause(&mut self, most: u64) {
        sleep(Duration::from_micros(self.rng.random_range(0..=most)));
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        marked::kill_all(self.dir());
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let word: String = if word.len() > 1500 {
        "...".into()
    } else {
        word.replace('\'', r"'\''")
    };
    format!("'{word}'")
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
    feeder: Option<JoinHandle<()>>,
}

impl Started {
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// It cannot have been reaped yet, so that the number is its own. Whether there was anybody.
    pub fn signal(&self, signal: i32, group: bool) -> bool {
        let pid = if group { -self.pid() } else { self.pid() };
        // nix has no names for real-time signals.
        match Signal::try_from(signal) {
            Ok(signal) => kill(Pid::from_raw(pid), signal).is_ok(),
            Err(_) => {
                let mut command = Command::new("kill");
                command.args([format!("-{signal}"), "--".into(), pid.to_string()]);
                command
                    .stderr(Stdio::null())
                    .status()
                    .is_ok_and(|status| status.success())
            }
        }
    }

    /// Waits for the end, which has to come, with nothing left behind. What stops is continued, as a shell's user
    /// would do.
    pub fn end(mut self, round: &Round) -> Outcome<Shown> {
        let mut ended = None;
        while ended.is_none() && self.began.elapsed() < PATIENCE {
            sleep(Duration::from_millis(1));
            if marked::is_stopped(self.pid()) {
                self.signal(Signal::SIGCONT as i32, false);
            }
            ended = self.child.try_wait()?;
        }
        let took = self.began.elapsed();
        let left = match ended {
            Some(_) => marked::left(round.dir(), AFTERMATH),
            None => marked::processes(round.dir()),
        };
        let described = marked::described(&left);
        if !left.is_empty() {
            marked::kill_all(round.dir());
        }
        let status = self.child.wait()?;
        let shown = Shown {
            stdout: bytes(self.stdout),
            stderr: String::from_utf8_lossy(&bytes(self.stderr)).into_owned(),
            status,
            took,
        };
        drop(self.feeder.map(JoinHandle::join));
        ensure!(ended.is_some(), "it hangs: {described}\n{shown}");
        ensure!(left.is_empty(), "left behind: {described}\n{shown}");
        ensure!(
            !["internal error", "panicked"]
                .iter()
                .any(|words| shown.stderr.contains(words)),
            "a panic\n{shown}"
        );
        Ok(shown)
    }
}

fn bytes(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
}

pub struct Shown {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub took: Duration,
}

impl Shown {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tail = |bytes: &[u8]| bytes[bytes.len().saturating_sub(300)..].escape_ascii().to_string();
        write!(
            f,
            "{}, after {:.3} s\noutput: ...{}\nerrors: ...{}",
            self.status,
            self.took.as_secs_f64(),
            tail(&self.stdout),
            tail(self.stderr.as_bytes())
        )
    }
}
