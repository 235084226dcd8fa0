//! `--pty`: a pseudo-terminal for an attempt, between the command and the terminal of our own.
//!
//! What the command shows comes out of the master and is passed on like the output of a pipe. If our
//! standard input and output are a terminal, it is in raw mode while the attempt runs, and what is typed
//! goes to the master as it is: the line discipline of the new terminal edits lines and makes signals of
//! keys. Of those signals the rest of our own process group must hear too, as it would without `--pty`;
//! so such keys are also told to whoever runs the attempt ([`Pty::take_key_signals`]).

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::libc;
use nix::poll::PollFlags;
use nix::pty::{grantpt, posix_openpt, unlockpt};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use rustix::termios::Winsize;

use super::foreground::is_ours;
use super::keyboard::{CommandTerminal, Keyboard, Route};
use super::size::{set_size, size};
use crate::policy::signal::Signal;
use crate::process::sys::fd::{duplicate, inherited, set_nonblocking, uninterrupted};
use crate::process::sys::stdio;

/// In the background, how often to look whether we are in the foreground by now: a shell's `fg` does not
/// tell a job that runs.
const FOREGROUND_LOOK: Duration = Duration::from_millis(250);

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
        let (master, slave) = pair()?;
        let keyboard = Keyboard::new(may_type);
        // In the background ours is set as the shell's line editor needs it.
        if keyboard.route() == Route::Background
            && is_ours(stdio::IN)
            && let Ok(settings) = tcgetattr(inherited(stdio::IN))
        {
            tcsetattr(&slave, SetArg::TCSANOW, &settings)?;
        }
        let ours = own_terminal();
        set_size(&master, ours.as_ref().and_then(size));
        Ok(Pty {
            master: Some(master),
            slave: Some(slave),
            ours,
            keyboard,
            leader: 0,
        })
    }

    /// The end that output comes out of.
    pub(crate) fn output(&self) -> io::Result<OwnedFd> {
        self.master.as_ref().ok_or(Errno::EIO)?.try_clone()
    }

    /// What the command gets as standard input, if it is not what it would be without a terminal of its own.
    pub(crate) fn child_input(&self) -> io::Result<Option<OwnedFd>> {
        match self.keyboard.route() {
            Route::Untouched => Ok(None),
            _ => self.child_output(),
        }
    }

    /// What the command gets as standard output, and as standard error.
    pub(crate) fn child_output(&self) -> io::Result<Option<OwnedFd>> {
        self.slave.as_ref().map(OwnedFd::try_clone).transpose()
    }

    /// The command runs, as this process.
    pub(crate) fn started(&mut self, leader: libc::pid_t) {
        self.leader = leader;
        self.take_keyboard();
    }

    /// The command has ended: our terminal gets its settings back, and the output is over once no process has the
    /// command's terminal open.
    pub(crate) fn ended(&mut self) {
        self.keyboard.unplug();
        self.slave = None;
    }

    /// Nobody reads what is shown: the command gets HUP, and errors where it writes.
    pub(crate) fn hang_up(&mut self) {
        self.keyboard.unplug();
        self.master = None;
        self.slave = None;
    }

    /// Puts our terminal into raw mode, if what is typed is for the command.
    pub(crate) fn take_keyboard(&mut self) {
        self.keyboard.enter();
    }

    /// Gives our terminal its settings back.
    pub(crate) fn release_keyboard(&mut self) {
        self.keyboard.leave();
    }

    /// Whether we have a terminal of our own whose size can be copied.
    pub(crate) fn has_size_to_copy(&self) -> bool {
        self.own_size().is_some()
    }

    /// Our terminal's size is the command's, where there is one.
    pub(crate) fn copy_size(&self) {
        if let (Some(master), Some(own)) = (&self.master, self.own_size()) {
            set_size(master, Some(own));
        }
    }

    fn own_size(&self) -> Option<Winsize> {
        size(self.ours.as_ref()?)
    }

    /// Returns the signals that keys have made since the last call, for our own process group as without a
    /// pseudo-terminal. The command has got them from its terminal, except TSTP.
    pub(crate) fn take_key_signals(&mut self) -> Vec<Signal> {
        self.keyboard.take_signals()
    }

    /// What to poll for on behalf of what is typed.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.master {
            Some(master) if self.keyboard.has_pending() => Some((master.as_fd(), PollFlags::POLLOUT)),
            Some(_) if self.keyboard.route() == Route::Command => Some((inherited(stdio::IN), PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// When to look again, whatever poll says.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        (self.keyboard.route() == Route::Background && self.leader != 0).then_some(FOREGROUND_LOOK)
    }

    /// Passes on what is typed; `ready`: what [`Pty::interest`] waited for is there.
    pub(crate) fn work(&mut self, ready: bool) {
        if self.keyboard.route() == Route::Background {
            self.keyboard.enter();
        }
        if let Some(master) = &self.master
            && ready
        {
            self.keyboard.read(CommandTerminal {
                master,
                slave: self.slave.as_ref(),
                leader: self.leader,
            });
            self.keyboard.pass_on(master.as_fd());
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.release_keyboard();
    }
}

/// A new pseudo-terminal: its master, non-blocking, and its slave.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = uninterrupted(|| posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY))?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = rustix::pty::ptsname(&master, Vec::new())?;
    let master = OwnedFd::from(master);
    fcntl(&master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    set_nonblocking(&master)?;
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(OsStr::from_bytes(path.as_bytes()))?;
    Ok((master, slave.into()))
}

/// The terminal on a standard descriptor, or the controlling one.
fn own_terminal() -> Option<OwnedFd> {
    if let Some(fd) = [stdio::IN, stdio::OUT, stdio::ERR]
        .into_iter()
        .find(|fd| inherited(*fd).is_terminal())
    {
        return duplicate(fd).ok();
    }
    let terminal = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open("/dev/tty")
        .ok()?;
    Some(terminal.into())
}
