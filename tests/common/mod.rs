//! What all black-box tests share: the binary, the probe child, processes that are waited for by
//! what they print.
#![allow(dead_code, unused_macros, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at clocks and environments from outside"
)]

// First, for their macros.
#[macro_use]
pub mod diff;
#[macro_use]
pub mod words;

pub mod documents;
pub mod ledger;
pub mod leftovers;
pub mod options;
pub mod process;
pub mod pty;
pub mod readme;
#[cfg(feature = "redis")]
pub mod redis;
pub mod storm;
pub mod tools;

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use words::Words;

/// Nothing in the tests may take longer.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The binary under test: cargo's, or another build that TESTED_BACKOFF names.
pub static BIN: LazyLock<&'static str> = LazyLock::new(|| match std::env::var("TESTED_BACKOFF") {
    Ok(path) => path.leak(),
    Err(_) => env!("CARGO_BIN_EXE_backoff"),
});

/// Whether it has none of Linux's own calls (`--cfg backoff_portable`). What it cannot do then is among the known limits of
/// docs/DESIGN.md.
pub static IS_PORTABLE: LazyLock<bool> = LazyLock::new(|| {
    let version = Command::new(*BIN).arg("--version").output().unwrap().stdout;
    String::from_utf8(version).unwrap().contains("portable")
});

/// How long a command sleeps that is to outlive the test, unless backoff is killed and nobody but it ends the command.
pub fn long_sleep() -> u32 {
    if *IS_PORTABLE { 2 } else { 60 }
}

/// Signals come through a pipe of its own there, and so does what exec says.
pub fn more_descriptors() -> usize {
    if *IS_PORTABLE { 3 } else { 0 }
}

/// A child that tells what it gets (examples/probe.rs).
pub fn probe() -> String {
    let mut path = PathBuf::from(*BIN);
    path.pop();
    path.push("examples/probe");
    let written = |path: &std::path::Path| path.metadata().and_then(|facts| facts.modified()).ok();
    if written(&path) < written(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/probe.rs").as_ref()) {
        // A plain `cargo test` has built it; `cargo test --test NAME` has not.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--example", "probe"])
            // Where a benchmark asks.
            .args(BIN.ends_with("/release/backoff").then_some("--release"))
            .status();
        assert!(
            built.unwrap().success() && path.exists(),
            "cannot build the example \"probe\""
        );
    }
    path.to_str().unwrap().to_owned()
}

/// A command without the variables of an outer run, and without the configuration of who runs the tests.
pub fn clean(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("BACKOFF_NO_CONFIG", "1");
    let (name, value) = leftovers::mark();
    command.env(name, value);
    // No test counts in the budgets of whoever runs the tests, nor in another test's.
    command.env("XDG_STATE_HOME", "/dev/null");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BACKOFF_") && name != "BACKOFF_NO_CONFIG" {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// `backoff` with these words, whatever terminal the tests run on.
pub fn backoff(args: impl Words) -> Command {
    let mut command = clean(*BIN);
    command.args(args.words());
    command
}

/// `backoff` in a session of its own: without a controlling terminal, as under cron.
pub fn detached(args: impl Words) -> Command {
    let mut command = clean("setsid");
    command.arg(*BIN).args(args.words());
    command
}

/// A shell script with `backoff` on its PATH.
pub fn shell(script: &str) -> Command {
    let mut command = clean("bash");
    command.arg("-c").arg(script).env("PATH", path_with_backoff());
    command
}

pub fn path_with_backoff() -> String {
    let dir = PathBuf::from(*BIN).parent().unwrap().to_str().unwrap().to_owned();
    format!("{dir}:{}", std::env::var("PATH").unwrap())
}

/// What a finished run showed.
#[derive(Debug)]
pub struct Shown {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Shown {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    #[track_caller]
    pub fn expect_code(self, code: i32) -> Shown {
        assert_eq!(self.code(), Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn expect_silence(self) -> Shown {
        assert_eq!(self.stderr, "", "{self:#?}");
        self
    }

    #[track_caller]
    pub fn expect_stderr(self, part: &str) -> Shown {
        assert!(self.stderr.contains(part), "no {part:?} in {self:#?}");
        self
    }
}

impl From<Output> for Shown {
    fn from(output: Output) -> Shown {
        Shown {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs to the end of its output, and kills what has none.
#[track_caller]
pub fn run(command: &mut Command) -> Shown {
    run_within(PATIENCE, command)
}

/// As [`run`], for what takes long.
#[track_caller]
pub fn run_within(limit: Duration, command: &mut Command) -> Shown {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    drop(child.stdin.take());
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    let mark = leftovers::mark();
    let (ended, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let is_late = end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            if is_late {
                leftovers::kill_all(&mark);
                // It may have lost the mark.
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
            is_late
        });
        let output = child.wait_with_output();
        drop(ended);
        let mut shown = Shown::from(output.expect("readable output"));
        assert!(!watch.join().unwrap(), "not within {limit:?}: {shown:#?}");
        if *IS_PORTABLE {
            // Standard input is a pipe here.
            let is_remark = |line: &&str| line.starts_with("backoff: standard input cannot be duplicated here");
            for text in [&mut shown.stdout, &mut shown.stderr] {
                *text = text.split_inclusive('\n').filter(|line| !is_remark(line)).collect();
            }
        }
        shown
    })
}

/// `backoff` with these words, run to the end.
#[track_caller]
pub fn ran(args: impl Words) -> Shown {
    run(&mut backoff(args))
}

/// A running command whose output is read line by line.
pub struct Live {
    pub child: Child,
    lines: BufReader<ChildStdout>,
}

impl Live {
    pub fn start(command: &mut Command) -> Live {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().unwrap());
        Live { child, lines }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The next line, without its end; empty at the end of the output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("readable output");
        line.trim_end_matches('\n').to_owned()
    }

    #[track_caller]
    pub fn expect_line(&mut self, expected: &str) {
        assert_eq!(self.line(), expected);
    }

    /// What the probe says of itself when it is ready.
    #[track_caller]
    pub fn pid_of_probe(&mut self) -> i32 {
        let line = self.line();
        let pid = line.trim().strip_prefix("ready ").and_then(|pid| pid.parse().ok());
        pid.unwrap_or_else(|| panic!("no probe in {line:?}"))
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("it is there");
    }

    /// How it ends though nobody reads its output; None if that takes long.
    pub fn ends_unread(&mut self) -> Option<ExitStatus> {
        let began = Instant::now();
        let mut status = None;
        eventually("the end", || {
            status = self.child.try_wait().unwrap();
            status.is_some() || began.elapsed() > Duration::from_secs(5)
        });
        status
    }

    /// Waits for the end; the rest of the output.
    #[track_caller]
    pub fn finish(mut self) -> Shown {
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut self.lines, &mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Shown {
            stdout: String::from_utf8_lossy(&rest).into_owned(),
            ..Shown::from(output)
        }
    }
}

/// Waits until something holds.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Makes a file that can be executed. Another process writes it: whatever this one has open for writing, a process that
/// another test starts just then has open too, until it has executed its program, and meanwhile the file is busy.
#[track_caller]
pub fn executable(path: &str, text: &str) {
    let script = r#"printf %s "$1" >"$0" && chmod 755 "$0""#;
    let written = run(clean("sh").args(["-c", script, path, text]));
    assert!(written.status.success(), "{written:?}");
}

/// A file's path inside a temporary directory, as text.
pub fn within(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}
