//! Shared code of the black-box tests: the binary, the probe child, and processes whose output tests wait for.
#![allow(dead_code, unused_macros, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at clocks and environments from outside"
)]

// First, so that later modules see their macros.
#[macro_use]
pub mod diff;
#[macro_use]
pub mod words;

pub mod deadline;
pub mod documents;
pub mod ended;
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
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Once};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use words::Words;

pub use deadline::{PATIENCE, end_of, eventually, finish, wait_for};
pub use ended::Ends;

/// The binary under test: cargo's, or the build named by TESTED_BACKOFF.
pub static BIN: LazyLock<&'static str> = LazyLock::new(|| match std::env::var("TESTED_BACKOFF") {
    Ok(path) => path.leak(),
    Err(_) => env!("CARGO_BIN_EXE_backoff"),
});

/// True if the binary avoids Linux-only calls (`--cfg backoff_portable`). See the known limits in docs/DESIGN.md.
pub static IS_PORTABLE: LazyLock<bool> = LazyLock::new(|| {
    let version = Command::new(*BIN).arg("--version").output().unwrap().stdout;
    String::from_utf8(version).unwrap().contains("portable")
});

/// Returns the sleep of a command that outlives the test unless backoff ends it. Short in a portable build, where the
/// command survives a KILL of backoff.
pub fn long_sleep() -> u32 {
    if *IS_PORTABLE { 2 } else { 60 }
}

/// Returns the path of the child that prints what it gets (examples/probe.rs).
pub fn probe() -> String {
    let mut path = PathBuf::from(*BIN);
    path.pop();
    path.push("examples/probe");
    let written = |path: &std::path::Path| path.metadata().and_then(|facts| facts.modified()).ok();
    if written(&path) < written(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/probe.rs").as_ref()) {
        // A plain `cargo test` has built it; `cargo test --test NAME` has not.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--example", "probe"])
            // Benchmarks run release builds.
            .args(BIN.ends_with("/release/backoff").then_some("--release"))
            .status();
        assert!(
            built.unwrap().success() && path.exists(),
            "cannot build the example \"probe\""
        );
    }
    path.to_str().unwrap().to_owned()
}

/// Returns a command without the variables of an outer run and without the tester's configuration.
pub fn clean(program: &str) -> Command {
    stop_ignoring_signals();
    let mut command = Command::new(program);
    command.env("BACKOFF_CONFIG", "none");
    let (name, value) = leftovers::mark();
    command.env(name, value);
    // Tests count in no budget of the tester, nor of another test.
    command.env("XDG_STATE_HOME", "/dev/null");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BACKOFF_") && name != "BACKOFF_CONFIG" {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Restores the default action of signals that the tests' caller ignores, for children: INT and QUIT in the background
/// of a script, HUP under nohup. A no-op handler replaces SIG_IGN, and exec resets it.
fn stop_ignoring_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let ignored = process::ignored_signals(std::process::id() as i32);
        // std restores SIGPIPE by itself.
        let of_the_caller = Signal::iterator().filter(|signal| *signal != Signal::SIGPIPE);
        for signal in of_the_caller.map(|signal| signal as i32) {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).unwrap();
            }
        }
    });
}

/// Returns `backoff` with these words, independent of the tests' terminal.
pub fn backoff(args: impl Words) -> Command {
    let mut command = clean(*BIN);
    command.args(args.words());
    command
}

/// Returns `backoff` in its own session, without a controlling terminal, as under cron.
pub fn detached(args: impl Words) -> Command {
    let mut command = clean("setsid");
    command.arg(*BIN).args(args.words());
    command
}

/// Returns a shell script with `backoff` on its PATH.
pub fn shell(script: &str) -> Command {
    let mut command = clean("bash");
    command.arg("-c").arg(script).env("PATH", path_with_backoff());
    command
}

pub fn path_with_backoff() -> String {
    let dir = PathBuf::from(*BIN).parent().unwrap().to_str().unwrap().to_owned();
    format!("{dir}:{}", std::env::var("PATH").unwrap())
}

/// Result of a finished run.
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

/// Runs a command to the end of its output; kills it after the time limit.
#[track_caller]
pub fn run(command: &mut Command) -> Shown {
    run_within(PATIENCE, command)
}

/// Like [`run`], with a time limit for slow commands.
#[track_caller]
pub fn run_within(limit: Duration, command: &mut Command) -> Shown {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    drop(child.stdin.take());
    let (output, is_late) = deadline::in_time(limit, child.id(), || child.wait_with_output());
    let mut shown = Shown::from(output.expect("readable output"));
    assert!(!is_late, "the end of {command:?}: not within {limit:?}: {shown:#?}");
    if *IS_PORTABLE {
        // Standard input is a pipe here.
        let is_remark = |line: &&str| line.starts_with("backoff: standard input cannot be duplicated here");
        for text in [&mut shown.stdout, &mut shown.stderr] {
            *text = text.split_inclusive('\n').filter(|line| !is_remark(line)).collect();
        }
    }
    shown
}

/// Runs `backoff` with these words to the end.
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
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().unwrap());
        Live { child, lines }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Returns the next line without its end; empty at the end of the output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let read = wait_for("a line on standard output", self.child.id(), || {
            self.lines.read_line(&mut line)
        });
        read.expect("readable output");
        line.trim_end_matches('\n').to_owned()
    }

    /// Returns the next line on standard error without its end. Reads byte by byte, as [`Live::finish`] needs the rest.
    #[track_caller]
    pub fn line_of_stderr(&mut self) -> String {
        line_of_stderr(&mut self.child)
    }

    #[track_caller]
    pub fn expect_line(&mut self, expected: &str) {
        assert_eq!(self.line(), expected);
    }

    /// Returns the pid that the probe prints when it is ready.
    #[track_caller]
    pub fn pid_of_probe(&mut self) -> i32 {
        let line = self.line();
        let pid = line.trim().strip_prefix("ready ").and_then(|pid| pid.parse().ok());
        pid.unwrap_or_else(|| panic!("no probe in {line:?}"))
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("it is there");
    }

    /// Returns the exit status of a run whose output is not read; None after the time limit.
    pub fn ends_unread(&mut self) -> Option<ExitStatus> {
        let began = Instant::now();
        let mut status = None;
        eventually("the end", || {
            status = self.child.try_wait().unwrap();
            status.is_some() || began.elapsed() > Duration::from_secs(5)
        });
        status
    }

    /// Waits for the end, and returns the rest of the output.
    #[track_caller]
    pub fn finish(mut self) -> Shown {
        let mut rest = Vec::new();
        let read = wait_for("the end of standard output", self.child.id(), || {
            std::io::Read::read_to_end(&mut self.lines, &mut rest)
        });
        read.expect("readable output");
        Shown {
            stdout: String::from_utf8_lossy(&rest).into_owned(),
            ..finish("the end", self.child)
        }
    }
}

/// Returns the next line on a child's standard error without its end, and reads no further byte.
#[track_caller]
pub fn line_of_stderr(child: &mut Child) -> String {
    let process = child.id();
    let mut stderr = BufReader::with_capacity(1, child.stderr.as_mut().unwrap());
    let mut line = String::new();
    let read = wait_for("a line on standard error", process, || stderr.read_line(&mut line));
    read.expect("readable output");
    line.trim_end_matches('\n').to_owned()
}

/// Creates an executable file. Another process writes it: a child that another test starts meanwhile would inherit an
/// open descriptor until exec, and the file would be busy (ETXTBSY).
#[track_caller]
pub fn executable(path: &str, text: &str) {
    let script = r#"printf %s "$1" >"$0" && chmod 755 "$0""#;
    let written = run(clean("sh").args(["-c", script, path, text]));
    assert!(written.status.success(), "{written:?}");
}

/// Returns the path of a file in a temporary directory.
pub fn within(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}
