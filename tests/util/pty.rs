//! A session on a real pseudo-terminal, which `setsid --ctty` makes its controlling terminal.

use std::fs::File;
use std::io::{PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, ExitStatus};
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{PtyMaster, grantpt, posix_openpt, unlockpt};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

use super::process::{is_alive, parent_of, state};
use super::{BIN, PATIENCE, clean, eventually, path_with_backoff, probe, words};

pub const CTRL_C: &str = "\x03";
pub const CTRL_Z: &str = "\x1a";
pub const CTRL_BACKSLASH: &str = "\x1c";

pub struct Terminal {
    pub master: File,
    pub child: Child,
    /// Output that no `expect` has consumed yet.
    pub shown: String,
}

/// Opens the master of a new terminal.
pub fn new_master() -> PtyMaster {
    // Close-on-exec from the start, as a terminal closes only when no process holds its master.
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    master
}

/// Returns the path of the other end.
pub fn slave_path(master: &PtyMaster) -> String {
    #[cfg(target_os = "linux")]
    return nix::pty::ptsname_r(master).unwrap();
    #[cfg(not(target_os = "linux"))]
    {
        static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _alone = ALONE.lock();
        // SAFETY: no other thread calls it, as the lock is held.
        #[allow(unsafe_code, reason = "the call has one buffer for all threads")]
        unsafe { nix::pty::ptsname(master) }.unwrap()
    }
}

impl Terminal {
    /// Runs a program as the leader of a session on a new terminal.
    pub fn start(program: &str, args: &[&str]) -> Terminal {
        Terminal::sized(0, program, args)
    }

    /// Like [`Terminal::start`], with a pipe as descriptor 9.
    pub fn with_descriptor_9(pipe: PipeWriter, program: &str, args: &[&str]) -> Terminal {
        // This process may use descriptor 9 for something else.
        let line = format!(
            "exec 9>/proc/{}/fd/{}; exec \"$@\"",
            std::process::id(),
            pipe.as_raw_fd()
        );
        let terminal = Terminal::start("sh", &[&["-c", &line, "sh", program], args].concat());
        eventually("the pipe is open", || {
            std::fs::exists(format!("/proc/{}/fd/9", terminal.pid())).unwrap()
        });
        // Now only the program holds the writing end.
        drop(pipe);
        terminal
    }

    /// Like [`Terminal::start`], with 12 rows and `columns` columns. With 0, the size remains unknown.
    pub fn sized(columns: u16, program: &str, args: &[&str]) -> Terminal {
        let master = new_master();
        let mut options = File::options();
        options
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits());
        let slave = options.open(slave_path(&master)).unwrap();
        // On a signal key, the line discipline sends the signal and then discards pending output, which may include a
        // program's reaction to the signal. NOFLSH prevents this.
        let mut settings = tcgetattr(&slave).unwrap();
        settings.local_flags |= LocalFlags::NOFLSH;
        tcsetattr(&slave, SetArg::TCSANOW, &settings).unwrap();
        let mut command = clean("setsid");
        command.arg("--ctty").arg(program).args(args);
        command
            .env("PATH", path_with_backoff())
            .env("PS1", "prompt> ")
            .env("TERM", "dumb")
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave);
        let master = File::from(OwnedFd::from(master));
        if columns > 0 {
            set_columns(&master, columns);
        }
        Terminal {
            master,
            child: command.spawn().unwrap(),
            shown: String::new(),
        }
    }

    /// Runs a line of sh with backoff on its PATH.
    pub fn sh(line: &str) -> Terminal {
        Terminal::start("sh", &["-c", line])
    }

    /// Runs backoff as the session leader.
    pub fn backoff(line: &str, args: &[&str]) -> Terminal {
        let words = words(line);
        let words: Vec<&str> = words
            .iter()
            .map(String::as_str)
            .chain(args.iter().copied())
            .collect();
        Terminal::start(*BIN, &words)
    }

    /// Starts an interactive shell with job control.
    pub fn bash() -> Terminal {
        let mut terminal = Terminal::start("bash", &["--norc", "--noprofile", "-i"]);
        terminal.expect("prompt> ");
        terminal
    }

    /// Starts an interactive shell, and types a command line.
    pub fn with(line: &str) -> Terminal {
        let mut terminal = Terminal::bash();
        terminal.command(line);
        terminal
    }

    pub fn resize(&self, columns: u16) {
        set_columns(&self.master, columns);
    }

    pub fn modes(&self) -> Termios {
        tcgetattr(&self.master).unwrap()
    }

    /// Returns true if keys send no signals and input is not divided into lines.
    pub fn is_raw(&self) -> bool {
        !self
            .modes()
            .local_flags
            .intersects(LocalFlags::ISIG | LocalFlags::ICANON)
    }

    /// Waits until backoff has made the terminal raw.
    #[track_caller]
    pub fn until_raw(&self) {
        eventually("the terminal is raw", || self.is_raw());
    }

    /// Returns the terminal settings that the shell gives a command.
    #[track_caller]
    pub fn settings(&mut self) -> String {
        self.command("stty -g | sed s/^/settings-/");
        self.expect("settings-");
        let settings = self.expect("\r\n");
        self.expect("prompt> ");
        settings
    }

    /// Returns the PID of the session leader.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn send(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Types a command line, and skips its echo.
    #[track_caller]
    pub fn command(&mut self, line: &str) {
        self.send(&format!("{line}\n"));
        self.expect("\n");
    }

    /// Waits for the prompt, and asserts the exit status of the last command. Returns the output before the prompt.
    #[track_caller]
    pub fn expect_status(&mut self, status: i32) -> String {
        let before = self.expect("prompt> ");
        self.command("echo status-$?");
        self.expect(&format!("status-{status}\r\nprompt> "));
        before
    }

    /// Waits until the text is shown, and returns the output before it.
    #[track_caller]
    pub fn expect(&mut self, text: &str) -> String {
        let began = Instant::now();
        loop {
            if let Some(at) = self.shown.find(text) {
                let before = self.shown[..at].to_owned();
                self.shown.drain(..at + text.len());
                return before;
            }
            assert!(
                self.read_some(began),
                "closed without {text:?}: {:?}",
                self.shown
            );
            assert!(
                began.elapsed() < PATIENCE,
                "no {text:?} on the terminal, but {:?}",
                self.shown
            );
        }
    }

    /// Returns the PID that the probe prints when it is ready.
    #[track_caller]
    pub fn pid_of_probe(&mut self) -> i32 {
        self.expect("ready ");
        self.expect("\r\n").parse().unwrap()
    }

    /// Waits a moment for output. Returns false once no process has the terminal open.
    #[track_caller]
    fn read_some(&mut self, began: Instant) -> bool {
        assert!(
            began.elapsed() < PATIENCE,
            "the terminal is not closed: {:?}",
            self.shown
        );
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        if poll(&mut fds, PollTimeout::from(100_u8)) == Ok(0) {
            return true;
        }
        let mut bytes = [0; 4096];
        match self.master.read(&mut bytes) {
            Ok(count) if count > 0 => {
                self.shown
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
                true
            }
            _ => false,
        }
    }

    #[track_caller]
    fn end(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the end of the session's leader", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Returns all output, once no process has the terminal open.
    #[track_caller]
    pub fn rest(mut self) -> String {
        let began = Instant::now();
        while self.read_some(began) {}
        self.end();
        std::mem::take(&mut self.shown)
    }

    /// Waits until the session leader exits.
    #[track_caller]
    pub fn finish(mut self) -> ExitStatus {
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() && self.read_some(began) {}
        self.end()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn set_columns(master: &File, columns: u16) {
    let mut stty = clean("stty");
    let stty = stty.args(["rows", "12", "cols", &columns.to_string()]);
    assert!(
        stty.stdin(master.try_clone().unwrap())
            .status()
            .unwrap()
            .success()
    );
}

/// Asserts that closing the terminal ends the command and backoff. The command runs, or is stopped while its shell
/// forwards SIGHUP or dies first. In the last case backoff is the session leader, which alone gets SIGHUP from the
/// kernel.
#[track_caller]
pub fn closing_leaves_nothing_behind(options: &str) {
    for (is_leader, is_stopped, shell_dies) in [
        (false, false, false),
        (false, true, false),
        (false, true, true),
        (true, false, false),
    ] {
        let line = format!("{options} -- {} sleep", probe());
        let mut terminal = match is_leader {
            true => Terminal::backoff(&line, &[]),
            false => Terminal::with(&format!("backoff {line}")),
        };
        let pid = terminal.pid_of_probe();
        let backoff = parent_of(pid);
        if is_stopped {
            terminal.send(CTRL_Z);
            terminal.expect("Stopped");
            eventually("both stop", || {
                state(pid) == Some('T') && state(backoff) == Some('T')
            });
        }
        if shell_dies {
            terminal.child.kill().unwrap();
            terminal.child.wait().unwrap();
        }
        terminal.master = File::open("/").unwrap();
        eventually("the command ends", || !is_alive(pid));
        eventually("backoff ends", || !is_alive(backoff));
        terminal.end();
    }
}
