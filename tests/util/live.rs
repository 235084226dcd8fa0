//! A running command whose output is read as it comes. Every read has a time limit, and its error says what is missing.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ended::Ended;

/// Limit on any wait in the tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `holds` returns true.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(
            began.elapsed() < PATIENCE,
            "{what}: not within {PATIENCE:?}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sleeps until this time has passed since `began`.
pub fn sleep_until(began: Instant, passed: Duration) {
    std::thread::sleep(passed.saturating_sub(began.elapsed()));
}

pub fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).expect("it is there");
}

/// A stream, and bytes that were read but not yet returned.
struct Stream {
    pipe: Option<File>,
    read: Vec<u8>,
}

impl Stream {
    fn of(pipe: Option<impl Into<OwnedFd>>) -> Stream {
        Stream {
            pipe: pipe.map(|pipe| File::from(pipe.into())),
            read: Vec::new(),
        }
    }
}

const OUT: usize = 0;
const ERR: usize = 1;

/// A running command. Dropping it kills its process group.
pub struct Live {
    pub child: Child,
    /// Time limit for a line or for the end of the output.
    pub patience: Duration,
    streams: [Stream; 2],
    command: String,
}

impl Live {
    /// Starts a command and reads its output.
    #[track_caller]
    pub fn start(command: &mut Command) -> Live {
        Live::unread(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts a command without redirecting its output.
    #[track_caller]
    pub fn unread(command: &mut Command) -> Live {
        let mut child = command.spawn().unwrap();
        Live {
            streams: [
                Stream::of(child.stdout.take()),
                Stream::of(child.stderr.take()),
            ],
            child,
            patience: PATIENCE,
            command: format!("{command:?}"),
        }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Writes to standard input, which must be a pipe.
    pub fn write(&mut self, text: &str) {
        let mut stdin = self.child.stdin.as_ref().expect("a pipe");
        // Once the pipe has room, so few bytes do not block.
        for part in text.as_bytes().chunks(nix::libc::PIPE_BUF) {
            let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLOUT)];
            let room = poll(&mut fds, PollTimeout::try_from(PATIENCE).unwrap());
            assert_eq!(room, Ok(1), "{} does not read", self.command);
            stdin.write_all(part).unwrap();
        }
    }

    /// Reads some bytes from these streams. Returns false at the end of all of them.
    #[track_caller]
    fn read(&mut self, streams: &[usize], what: &str, began: Instant) -> bool {
        let open = streams
            .iter()
            .filter(|stream| self.streams[**stream].pipe.is_some());
        let open: Vec<usize> = open.copied().collect();
        let pipe = |stream: &usize| self.streams[*stream].pipe.as_ref().unwrap().as_fd();
        let mut fds: Vec<PollFd<'_>> = open
            .iter()
            .map(|stream| PollFd::new(pipe(stream), PollFlags::POLLIN))
            .collect();
        let left = PollTimeout::try_from(self.patience.saturating_sub(began.elapsed())).unwrap();
        let is_late = !open.is_empty() && poll(&mut fds, left).unwrap() == 0;
        assert!(
            !is_late,
            "{what} of {}: not within {:?}: {:?}",
            self.command,
            self.patience,
            self.texts()
        );
        let ready: Vec<bool> = fds.iter().map(|fd| fd.any() == Some(true)).collect();
        for (stream, _) in open.iter().zip(ready).filter(|(_, is_ready)| *is_ready) {
            let Stream { pipe, read } = &mut self.streams[*stream];
            let mut bytes = [0; 8192];
            match pipe.as_mut().unwrap().read(&mut bytes).unwrap() {
                0 => *pipe = None,
                count => read.extend(&bytes[..count]),
            }
        }
        !open.is_empty()
    }

    fn texts(&self) -> [String; 2] {
        [OUT, ERR].map(|stream| String::from_utf8_lossy(&self.streams[stream].read).into_owned())
    }

    #[track_caller]
    fn line_of(&mut self, stream: usize) -> String {
        let began = Instant::now();
        loop {
            let read = &mut self.streams[stream].read;
            if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = read.drain(..=end).collect();
                return String::from_utf8_lossy(&line[..end]).into_owned();
            }
            let what = ["a line on standard output", "a line on standard error"][stream];
            assert!(
                self.read(&[stream], what, began),
                "the end, and not {what} of {}",
                self.command
            );
        }
    }

    /// Returns the next line of standard output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.line_of(OUT)
    }

    /// Returns the next line of standard error.
    #[track_caller]
    pub fn line_of_stderr(&mut self) -> String {
        self.line_of(ERR)
    }

    /// Returns the number in the next line, such as a PID.
    #[track_caller]
    pub fn number(&mut self) -> i32 {
        let line = self.line();
        line.parse()
            .unwrap_or_else(|_| panic!("no number: {line:?}"))
    }

    #[track_caller]
    pub fn expect_line(&mut self, expected: &str) {
        assert_eq!(self.line(), expected);
    }

    /// Returns the PID that the probe prints when it is ready.
    #[track_caller]
    pub fn pid_of_probe(&mut self) -> i32 {
        let line = self.line();
        let pid = line
            .trim()
            .strip_prefix("ready ")
            .and_then(|pid| pid.parse().ok());
        pid.unwrap_or_else(|| panic!("no probe in {line:?}"))
    }

    /// Waits until the command exits, without reading its output.
    #[track_caller]
    pub fn status(&mut self) -> ExitStatus {
        let mut status = None;
        eventually(&format!("the end of {}", self.command), || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Waits until the command exits, and returns the rest of its output.
    #[track_caller]
    pub fn output(mut self) -> Output {
        drop(self.child.stdin.take());
        let began = Instant::now();
        while self.read(&[OUT, ERR], "the end of the output", began) {}
        let status = self.status();
        let [stdout, stderr] =
            [OUT, ERR].map(|stream| std::mem::take(&mut self.streams[stream].read));
        Output {
            status,
            stdout,
            stderr,
        }
    }

    /// Waits until the command exits, and asserts this exit code.
    #[track_caller]
    pub fn code(self, code: i32) -> Ended {
        let command = self.command.clone();
        Ended::with_code(&command, self.output(), code)
    }

    /// Waits until the command exits, and asserts that this signal killed it.
    #[track_caller]
    pub fn killed_by(self, signal: Signal) -> Ended {
        let command = self.command.clone();
        Ended::by_signal(&command, self.output(), signal)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = kill(Pid::from_raw(-self.pid()), Signal::SIGKILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
