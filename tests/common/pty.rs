//! A real pseudo-terminal with a session on it. `setsid --ctty` makes it the controlling one.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

use rustix::termios::{Winsize, tcsetwinsize};

use super::process::{is_alive, parent_of, state};
use super::words::Words;
use super::{BIN, PATIENCE, clean, end_of, eventually, path_with_backoff, probe};

pub const CTRL_C: &str = "\x03";
pub const CTRL_D: &str = "\x04";
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
    // Close-on-exec from the start: a terminal closes only when no process holds its master.
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    master
}

impl Terminal {
    /// Runs a program as the leader of a session on a new terminal.
    pub fn start(program: &str, args: impl Words) -> Terminal {
        Terminal::sized(None, program, args)
    }

    /// Like [`Terminal::start`], with the given rows and columns.
    pub fn sized(size: Option<(u16, u16)>, program: &str, args: impl Words) -> Terminal {
        let master = new_master();
        if let Some((rows, columns)) = size {
            set_size(&master, rows, columns);
        }
        let slave = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(ptsname_r(&master).unwrap())
            .unwrap();
        keep_what_is_shown(&slave);
        let mut command = clean("setsid");
        command.arg("--ctty").arg(program).args(args.words());
        command
            .env("PATH", path_with_backoff())
            .env("PS1", "prompt> ")
            .env("TERM", "dumb");
        command
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(Stdio::from(slave));
        let child = command.spawn().unwrap();
        Terminal {
            master: File::from(std::os::fd::OwnedFd::from(master)),
            child,
            shown: String::new(),
        }
    }

    /// Resizes the window.
    pub fn resize(&self, rows: u16, columns: u16) {
        set_size(&self.master, rows, columns);
    }

    /// Starts an interactive shell with job control.
    pub fn bash() -> Terminal {
        let mut terminal = Terminal::start("bash", "--norc --noprofile -i");
        terminal.expect("prompt> ");
        terminal
    }

    /// Returns the pid of the session leader.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn send(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Types a command line, and skips its echo.
    pub fn command(&mut self, line: &str) {
        self.send(&format!("{line}\n"));
        self.expect("\n");
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
                began.elapsed() < PATIENCE,
                "no {text:?} on the terminal, but {:?}",
                self.shown
            );
            assert!(
                self.read_some(),
                "the terminal closed without {text:?}: {:?}",
                self.shown
            );
        }
    }

    /// Returns the pid that the probe prints when it is ready.
    #[track_caller]
    pub fn pid_of_probe(&mut self) -> i32 {
        self.expect("ready ");
        self.expect("\r\n").parse().unwrap()
    }

    fn is_readable(&self, milliseconds: u8) -> bool {
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::from(milliseconds)).unwrap_or(0) > 0
    }

    /// Returns false once no process has the terminal open.
    fn read_some(&mut self) -> bool {
        if !self.is_readable(100) {
            return true;
        }
        let mut bytes = [0; 4096];
        match self.master.read(&mut bytes) {
            Ok(count) if count > 0 => {
                let text = String::from_utf8_lossy(&bytes[..count]);
                self.shown.push_str(&text);
                true
            }
            _ => false,
        }
    }

    /// Reads until no process has the terminal open, and waits for the session leader.
    #[track_caller]
    fn read_to_the_end(&mut self) {
        let began = Instant::now();
        while self.read_some() {
            let shown = &self.shown;
            assert!(began.elapsed() < PATIENCE, "the terminal is not closed: {shown:?}");
        }
        end_of("the session's leader", &mut self.child);
    }

    /// Returns all output until no process has the terminal open.
    #[track_caller]
    pub fn rest(mut self) -> String {
        self.read_to_the_end();
        std::mem::take(&mut self.shown)
    }

    /// Waits for the session leader.
    #[track_caller]
    pub fn finish(mut self) -> ExitStatus {
        let began = Instant::now();
        while self.read_some() {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            let shown = &self.shown;
            assert!(
                began.elapsed() < PATIENCE,
                "the session's leader does not end: {shown:?}"
            );
        }
        end_of("the session's leader", &mut self.child)
    }
}

/// Sets NOFLSH: on a signal key the line discipline sends the signal first and then discards pending output, which may
/// include a program's reaction to the signal.
fn keep_what_is_shown(slave: &File) {
    let mut settings = tcgetattr(slave).unwrap();
    settings.local_flags |= LocalFlags::NOFLSH;
    tcsetattr(slave, SetArg::TCSANOW, &settings).unwrap();
}

fn set_size(master: &impl AsFd, rows: u16, columns: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).unwrap();
}

/// Returns true if the terminal is in raw mode: keys send no signals, and input has no lines.
pub fn is_raw(terminal: &Terminal) -> bool {
    let flags = tcgetattr(&terminal.master).unwrap().local_flags;
    !flags.intersects(LocalFlags::ISIG | LocalFlags::ICANON)
}

/// Closes the terminal of a running command; of a stopped one whose shell forwards HUP or dies first; and of a command
/// whose backoff is the session leader, which alone gets HUP from the kernel.
#[track_caller]
pub fn closing_leaves_nothing_behind(options: &str) {
    for (leader, is_stopped, shell_dies) in [
        (false, false, false),
        (false, true, false),
        (false, true, true),
        (true, false, false),
    ] {
        let probe = probe();
        let args = words!("{..} -- {} sleep", options, probe);
        let mut terminal = if leader {
            Terminal::start(*BIN, &args)
        } else {
            let mut terminal = Terminal::bash();
            terminal.command(&format!("backoff {}", args.join(" ")));
            terminal
        };
        let pid = terminal.pid_of_probe();
        let backoff = parent_of(pid);
        if is_stopped {
            terminal.send(CTRL_Z);
            terminal.expect("Stopped");
            eventually("both stop", || state(pid) == Some('T') && state(backoff) == Some('T'));
        }
        let Terminal { master, mut child, .. } = terminal;
        if shell_dies {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        drop(master);
        eventually("the command ends", || !is_alive(pid));
        eventually("backoff ends", || !is_alive(backoff));
        end_of("the session's leader", &mut child);
    }
}
