//! `--pty`: a pseudo-terminal for an attempt, between the command and our terminal.
//!
//! Output of the command is read from the master and forwarded like that of a pipe. If our standard input and output
//! are a terminal, it is in raw mode while the attempt runs, and typed input goes to the master: line editing is done
//! by the new terminal.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::poll::PollFlags;
use nix::pty::openpty;
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};

use super::control::{controlling, is_ours};
use super::keyboard::{CommandTerminal, Keyboard, Route};
use crate::process::sys::fd::{duplicate, inherited, set_nonblocking};
use crate::process::sys::stdio;

/// Interval of checks for the foreground: a shell's `fg` does not notify a running job.
const FOREGROUND_LOOK: Duration = Duration::from_millis(250);

/// Size if ours is unknown.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// The pseudo-terminal of one attempt.
#[derive(Debug)]
pub(crate) struct Pty {
    /// None after a hangup.
    master: Option<OwnedFd>,
    /// Held while the command runs, so that the terminal stays if the command closes its own descriptors.
    slave: Option<OwnedFd>,
    /// Our terminal, whose size is copied.
    ours: Option<OwnedFd>,
    keyboard: Keyboard,
    /// The command's process and process group; 0 before the start.
    leader: libc::pid_t,
}

impl Pty {
    /// Opens a pseudo-terminal as large as ours. `may_type`: the command would inherit standard input.
    pub(crate) fn open(may_type: bool) -> io::Result<Pty> {
        let pair = openpty(None, None)?;
        for fd in [&pair.master, &pair.slave] {
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        set_nonblocking(&pair.master)?;
        let keyboard = Keyboard::new(may_type);
        // In the background, our modes are those of the shell's line editor.
        if keyboard.route == Route::Background
            && is_ours(stdio::IN)
            && let Ok(settings) = tcgetattr(inherited(stdio::IN))
        {
            tcsetattr(&pair.slave, SetArg::TCSANOW, &settings)?;
        }
        let standard = [stdio::IN, stdio::OUT, stdio::ERR];
        let ours = standard.into_iter().find(|fd| stdio::is_terminal(*fd));
        let pty = Pty {
            master: Some(pair.master),
            slave: Some(pair.slave),
            ours: ours.map_or_else(|| controlling().ok(), |fd| duplicate(fd).ok()),
            keyboard,
            leader: 0,
        };
        pty.set_size(pty.own_size());
        Ok(pty)
    }

    /// Returns a copy of the master, for reading output.
    pub(crate) fn output(&self) -> io::Result<OwnedFd> {
        self.master.as_ref().ok_or(Errno::EIO)?.try_clone()
    }

    /// Returns the command's standard input, if `--pty` replaces it.
    pub(crate) fn child_input(&self) -> io::Result<Option<OwnedFd>> {
        match self.keyboard.route {
            Route::Untouched => Ok(None),
            _ => self.child_output(),
        }
    }

    /// Returns the command's standard output or error.
    pub(crate) fn child_output(&self) -> io::Result<Option<OwnedFd>> {
        self.slave.as_ref().map(OwnedFd::try_clone).transpose()
    }

    /// Begins forwarding typed input to the command, which runs as process `leader`.
    pub(crate) fn started(&mut self, leader: libc::pid_t) {
        self.leader = leader;
        self.keyboard.enter();
    }

    /// Restores our terminal's modes, as the command has ended. Output ends once no process has the command's terminal
    /// open.
    pub(crate) fn ended(&mut self) {
        self.keyboard.unplug();
        self.slave = None;
    }

    /// Hangs up, as the output has no reader: the command gets HUP, and errors when it writes.
    pub(crate) fn hang_up(&mut self) {
        self.ended();
        self.master = None;
    }

    /// Resumes raw mode and copies the size of our terminal, as backoff was continued.
    pub(crate) fn resume(&mut self) {
        self.keyboard.enter();
        self.copy_size();
    }

    /// Restores our terminal's modes before backoff stops. Returns true if a key asks the whole job to stop.
    pub(crate) fn pause(&mut self) -> bool {
        self.keyboard.leave();
        std::mem::take(&mut self.keyboard.asks_to_stop)
    }

    /// Copies the size of our terminal to the command's. Returns true if the size is known.
    pub(crate) fn copy_size(&self) -> bool {
        let size = self.own_size();
        if size.is_some() {
            self.set_size(size);
        }
        size.is_some()
    }

    fn own_size(&self) -> Option<Winsize> {
        tcgetwinsize(self.ours.as_ref()?).ok()
    }

    /// Sets the size of the command's terminal. On a change the kernel sends WINCH.
    fn set_size(&self, size: Option<Winsize>) {
        // A terminal of unknown size reports 0.
        let known = |side: fn(&Winsize) -> u16, or: u16| size.as_ref().map(side).filter(|side| *side > 0).unwrap_or(or);
        let whole = Winsize {
            ws_row: known(|size| size.ws_row, ROWS),
            ws_col: known(|size| size.ws_col, COLUMNS),
            ws_xpixel: known(|size| size.ws_xpixel, 0),
            ws_ypixel: known(|size| size.ws_ypixel, 0),
        };
        if let Some(master) = &self.master {
            let _ = tcsetwinsize(master, whole);
        }
    }

    /// Returns the descriptor and events to poll for typed input.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.master {
            Some(master) if self.keyboard.has_typed() => Some((master.as_fd(), PollFlags::POLLOUT)),
            Some(_) if self.keyboard.route == Route::Command => Some((inherited(stdio::IN), PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// Returns the time until the next check for the foreground, if one is needed.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        (self.keyboard.route == Route::Background && self.leader != 0).then_some(FOREGROUND_LOOK)
    }

    /// Forwards typed input. `ready`: [`Pty::interest`] is ready.
    pub(crate) fn work(&mut self, ready: bool) {
        if self.keyboard.route == Route::Background {
            self.keyboard.enter();
        }
        if let Some(master) = &self.master
            && ready
        {
            self.keyboard.work(CommandTerminal {
                master,
                slave: self.slave.as_ref(),
                leader: self.leader,
            });
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.pause();
    }
}
