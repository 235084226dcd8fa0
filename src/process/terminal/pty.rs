//! `--pty`: a pseudo-terminal for an attempt, between the command and the terminal of our own.
//!
//! What the command shows comes out of the master and is passed on like the output of a pipe. If our standard input and output
//! are a terminal, it is in raw mode while the attempt runs, and what is typed goes to the master: the line discipline of the
//! new terminal edits lines.

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

/// In the background, how often to look whether we are in the foreground by now: a shell's `fg` does not
/// tell a job that runs.
const FOREGROUND_LOOK: Duration = Duration::from_millis(250);

/// The size if our terminal is none, or does not know.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// The pseudo-terminal of one attempt.
#[derive(Debug)]
pub(crate) struct Pty {
    /// None once the terminal was hung up.
    master: Option<OwnedFd>,
    /// Held while the command runs: if the command closes all of its own, the terminal is still there.
    slave: Option<OwnedFd>,
    /// A terminal of our own, whose size is copied.
    ours: Option<OwnedFd>,
    keyboard: Keyboard,
    /// The command's process and process group; 0 before it was started.
    leader: libc::pid_t,
}

impl Pty {
    /// Opens one, as large as ours. `may_type`: standard input would be inherited.
    pub(crate) fn open(may_type: bool) -> io::Result<Pty> {
        let pair = openpty(None, None)?;
        for fd in [&pair.master, &pair.slave] {
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        set_nonblocking(&pair.master)?;
        let keyboard = Keyboard::new(may_type);
        // In the background ours is set as the shell's line editor needs it.
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

    /// Returns a copy of the end that output comes out of.
    pub(crate) fn output(&self) -> io::Result<OwnedFd> {
        self.master.as_ref().ok_or(Errno::EIO)?.try_clone()
    }

    /// Returns the command's standard input, if it is not what it would be without a terminal of its own.
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

    /// The command runs, as this process.
    pub(crate) fn started(&mut self, leader: libc::pid_t) {
        self.leader = leader;
        self.keyboard.enter();
    }

    /// The command has ended: our terminal gets its settings back, and the output is over once no process has the
    /// command's terminal open.
    pub(crate) fn ended(&mut self) {
        self.keyboard.unplug();
        self.slave = None;
    }

    /// Nobody reads what is shown: the command gets HUP, and errors where it writes.
    pub(crate) fn hang_up(&mut self) {
        self.ended();
        self.master = None;
    }

    /// backoff goes on: what is typed is for the command, and our terminal may have another size.
    pub(crate) fn resume(&mut self) {
        self.keyboard.enter();
        self.copy_size();
    }

    /// backoff stops: gives our terminal its settings back. Returns true if a key asks the whole job to stop.
    pub(crate) fn pause(&mut self) -> bool {
        self.keyboard.leave();
        std::mem::take(&mut self.keyboard.asks_to_stop)
    }

    /// Returns true if we have a terminal whose size can be copied.
    pub(crate) fn has_size_to_copy(&self) -> bool {
        self.own_size().is_some()
    }

    /// Gives the command's terminal the size of ours, if we have one.
    pub(crate) fn copy_size(&self) {
        if let Some(size) = self.own_size() {
            self.set_size(Some(size));
        }
    }

    fn own_size(&self) -> Option<Winsize> {
        tcgetwinsize(self.ours.as_ref()?).ok()
    }

    /// Sets the size of the command's terminal. The kernel sends WINCH if it has changed.
    fn set_size(&self, size: Option<Winsize>) {
        // A terminal that does not know its size says 0.
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

    /// Returns what to poll for on behalf of what is typed.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.master {
            Some(master) if self.keyboard.has_typed() => Some((master.as_fd(), PollFlags::POLLOUT)),
            Some(_) if self.keyboard.route == Route::Command => Some((inherited(stdio::IN), PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// Returns when to look again, whatever poll says.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        (self.keyboard.route == Route::Background && self.leader != 0).then_some(FOREGROUND_LOOK)
    }

    /// Moves what is typed; `ready`: what [`Pty::interest`] waited for is there.
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
