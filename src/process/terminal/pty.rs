//! `--pty`: a pseudo-terminal for an attempt, between the command and the terminal of our own.
//!
//! What the command shows comes out of the master and flows like the output of a pipe (`flow`). If our
//! standard input and output are a terminal, it is in raw mode while the attempt runs, and what is typed
//! goes to the master as it is: the line discipline of the new terminal edits lines and makes signals of
//! keys. Of those signals the rest of our own process group must hear too, as it would without `--pty`;
//! so such keys are also told to whoever runs the attempt ([`Pty::typed`]).

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Mutex;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::libc;
use nix::poll::PollFlags;
use nix::pty::{PtyMaster, grantpt, posix_openpt, unlockpt};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices as Key, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, read, tcgetpgrp, write};

use crate::policy::signal::Signal;
use crate::process::sys::fd::uninterrupted;
use crate::process::sys::fd::{above_standard, duplicate, set_nonblocking};

/// The size without a terminal of our own.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// Typed input that is taken at once.
const CHUNK: usize = 1024;

/// In the background, how often to look whether we are in the foreground by now: a shell's `fg` does not
/// tell a job that runs.
const FOREGROUND_LOOK: Duration = Duration::from_millis(250);

/// The settings that our terminal had before it was put into raw mode, while it is.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

/// Gives our terminal back the settings it had before it was put into raw mode; does nothing if it is not.
pub fn restore() {
    let Ok(mut saved) = SAVED.try_lock() else { return };
    // In the background the terminal is somebody else's, who has set it as they need it.
    if let Some(settings) = saved.take()
        && is_foreground()
    {
        let _ = tcsetattr(standard(0), SetArg::TCSANOW, &settings);
    }
}

/// The pseudo-terminal of one attempt.
#[derive(Debug)]
pub struct Pty {
    /// None once the terminal was hung up.
    master: Option<OwnedFd>,
    /// Held while the command runs: if the command closes all of its own, the terminal is still there.
    slave: Option<OwnedFd>,
    /// A terminal of our own, whose size is copied.
    ours: Option<OwnedFd>,
    /// What is typed is read here.
    keyboard: Option<OwnedFd>,
    input: Input,
    /// The command's process and process group.
    leader: libc::pid_t,
    /// What was typed and is not passed on yet.
    pending: Vec<u8>,
    typed: Vec<Signal>,
}

/// What the command has as standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// What it would have without `--pty`.
    Kept,
    /// The pseudo-terminal, into which nobody types.
    Mute,
    /// The pseudo-terminal. What is typed is the shell's, as long as it has us in the background.
    Background,
    /// The pseudo-terminal. Our own is in raw mode and what is typed is passed on.
    Typed,
}

impl Pty {
    /// Opens one, as large as ours. `may_type`: standard input would be inherited.
    pub fn open(may_type: bool) -> io::Result<Pty> {
        let (master, slave) = pair()?;
        let is_terminal = may_type && io::stdin().is_terminal();
        let input = match (is_terminal, io::stdout().is_terminal(), is_foreground()) {
            (false, ..) => Input::Kept,
            (true, true, _) => Input::Background,
            // In a pipeline (`| less`) the keyboard may be another's. What the command reads from the
            // terminal it reads itself.
            (true, false, true) => Input::Kept,
            // There it would take from the shell what is meant for the shell.
            (true, false, false) => Input::Mute,
        };
        if input == Input::Background
            && let Ok(settings) = tcgetattr(standard(0))
        {
            tcsetattr(&slave, SetArg::TCSANOW, &settings)?;
        }
        let pty = Pty {
            master: Some(master),
            slave: Some(slave),
            ours: own_terminal(),
            keyboard: (input == Input::Background).then(keyboard).flatten(),
            input,
            leader: 0,
            pending: Vec::new(),
            typed: Vec::new(),
        };
        pty.set_size(pty.own_size().unwrap_or(size(0, 0)));
        Ok(pty)
    }

    /// The end that output comes out of.
    pub fn output(&self) -> io::Result<OwnedFd> {
        self.master.as_ref().ok_or(Errno::EIO)?.try_clone()
    }

    /// What the command gets in place of 0, 1 and 2.
    pub fn ends(&self) -> io::Result<[Option<OwnedFd>; 3]> {
        let slave = || self.slave.as_ref().map(OwnedFd::try_clone).transpose();
        let input = if self.input == Input::Kept { None } else { slave()? };
        Ok([input, slave()?, slave()?])
    }

    /// The command runs, as this process.
    pub fn started(&mut self, leader: libc::pid_t) {
        self.leader = leader;
        self.enter();
    }

    /// The command has ended: once nobody has the terminal open any more, its output is over.
    pub fn ended(&mut self) {
        self.slave = None;
    }

    /// Nobody reads what is shown: the command gets HUP, and errors where it writes.
    pub fn hang_up(&mut self) {
        self.leave();
        self.input = Input::Mute;
        self.master = None;
        self.slave = None;
        self.pending.clear();
    }

    /// Puts our terminal into raw mode, if what is typed is for the command.
    pub fn enter(&mut self) {
        if !matches!(self.input, Input::Background | Input::Typed) {
            return;
        }
        self.input = Input::Background;
        let Ok(mut saved) = SAVED.lock() else { return };
        if !is_foreground() {
            return;
        }
        // After a STOP that nobody could hear of, they are saved still.
        let Some(settings) = saved.take().or_else(|| tcgetattr(standard(0)).ok()) else {
            self.input = Input::Mute;
            return;
        };
        let mut raw = settings.clone();
        cfmakeraw(&mut raw);
        if tcsetattr(standard(0), SetArg::TCSANOW, &raw).is_ok() {
            self.input = Input::Typed;
        }
        *saved = Some(settings);
    }

    /// Gives our terminal its settings back.
    pub fn leave(&mut self) {
        if self.input == Input::Typed {
            self.input = Input::Background;
        }
        restore();
    }

    /// Our terminal's size is the command's. False if we have no terminal.
    pub fn resize(&self) -> bool {
        let size = self.own_size();
        if let Some(size) = size {
            self.set_size(size);
        }
        size.is_some()
    }

    /// The signals that keys have made, for the command and, as it would be without a pseudo-terminal,
    /// for our own process group. INT and QUIT the command has got already.
    pub fn typed(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.typed)
    }

    /// What to poll for on behalf of what is typed.
    pub fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.master {
            Some(master) if !self.pending.is_empty() => Some((master.as_fd(), PollFlags::POLLOUT)),
            Some(_) if self.input == Input::Typed => Some((standard(0), PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// When to look again, whatever poll says.
    pub fn wake_after(&self) -> Option<Duration> {
        (self.input == Input::Background && self.leader != 0).then_some(FOREGROUND_LOOK)
    }

    /// Passes on what is typed; `ready`: what [`Pty::interest`] waited for is there.
    pub fn work(&mut self, ready: bool) {
        if self.input == Input::Background {
            self.enter();
        }
        if !ready {
            return;
        }
        if self.pending.is_empty() && self.input == Input::Typed {
            // A shell takes the terminal as soon as it sees one process of the job stopped, whatever the others
            // do. It may give it back.
            if is_foreground() {
                self.read_keys();
            } else {
                self.leave();
            }
        }
        self.pass_on();
    }

    fn read_keys(&mut self) {
        let mut bytes = [0; CHUNK];
        let keyboard = self.keyboard.as_ref().map_or(standard(0), OwnedFd::as_fd);
        match read(keyboard, &mut bytes) {
            Err(Errno::EINTR) => {}
            // Somebody else has read it, perhaps a shell that had set the terminal as it needs it.
            Err(Errno::EAGAIN) => self.enter(),
            // Our terminal is gone; HUP tells the rest.
            Ok(0) => {
                self.leave();
                self.input = Input::Mute;
            }
            // In the background since just now.
            Err(_) => self.leave(),
            Ok(count) => self.take(&bytes[..count]),
        }
    }

    fn pass_on(&mut self) {
        let Some(master) = &self.master else { return };
        if self.pending.is_empty() {
            return;
        }
        match write(master, &self.pending) {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(_) => self.pending.clear(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let settings = self.slave.as_ref().and_then(|slave| tcgetattr(slave).ok());
        // Where the command is a shell that has put a job into the foreground, keys are the job's alone.
        let is_in_front = self
            .master
            .as_ref()
            .and_then(|master| tcgetpgrp(master).ok())
            .is_some_and(|group| group.as_raw() == self.leader);
        let settings = settings.filter(|settings| is_in_front && settings.local_flags.contains(LocalFlags::ISIG));
        for byte in bytes {
            match settings.as_ref().and_then(|settings| signal_of(*byte, settings)) {
                // The group of a session's leader whose parent is elsewhere is orphaned: the kernel would
                // not let TSTP stop it.
                Some(Signal::TSTP) if is_controlling() && !ignores(self.leader, Signal::TSTP) => {
                    self.typed.push(Signal::TSTP);
                    continue;
                }
                None | Some(Signal::TSTP) => {}
                Some(signal) => self.typed.push(signal),
            }
            self.pending.push(*byte);
        }
    }

    fn own_size(&self) -> Option<libc::winsize> {
        let mut own = size(0, 0);
        // SAFETY: TIOCGWINSZ fills the winsize that it is given.
        let result = unsafe { libc::ioctl(self.ours.as_ref()?.as_raw_fd(), libc::TIOCGWINSZ, &raw mut own) };
        (result == 0).then_some(own)
    }

    /// The kernel tells the command (WINCH) if it has changed.
    fn set_size(&self, mut size: libc::winsize) {
        let Some(master) = &self.master else { return };
        // A terminal that does not know its size says 0.
        if size.ws_row == 0 {
            size.ws_row = ROWS;
        }
        if size.ws_col == 0 {
            size.ws_col = COLUMNS;
        }
        // SAFETY: TIOCSWINSZ reads the winsize that it is given.
        unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A new pseudo-terminal: its master, non-blocking, and its slave.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = uninterrupted(|| posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY))?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = name(&master)?;
    let master = above_standard(master.into())?;
    fcntl(&master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    set_nonblocking(&master)?;
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(path)?;
    Ok((master, above_standard(slave.into())?))
}

#[cfg(target_os = "linux")]
fn name(master: &PtyMaster) -> nix::Result<String> {
    nix::pty::ptsname_r(master)
}

#[cfg(not(target_os = "linux"))]
fn name(master: &PtyMaster) -> nix::Result<String> {
    // SAFETY: one thread, so nobody else overwrites the name before it is copied.
    unsafe { nix::pty::ptsname(master) }
}

/// How wide the terminal on this descriptor is; None if it is none or does not know.
pub fn columns(fd: RawFd) -> Option<u16> {
    let mut seen = size(0, 0);
    // SAFETY: TIOCGWINSZ fills the winsize that it is given, and fails where there is no terminal.
    let result = unsafe { libc::ioctl(fd, libc::TIOCGWINSZ, &raw mut seen) };
    (result == 0 && seen.ws_col > 0).then_some(seen.ws_col)
}

fn size(rows: u16, columns: u16) -> libc::winsize {
    libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

fn standard(fd: i32) -> BorrowedFd<'static> {
    // SAFETY: a standard descriptor is never closed by us; if the caller closed it, calls say EBADF, as
    // all of our own descriptors are above 2.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// The terminal on a standard descriptor, or the controlling one.
fn own_terminal() -> Option<OwnedFd> {
    if let Some(fd) = (0..=2).find(|fd| standard(*fd).is_terminal()) {
        return duplicate(fd).ok();
    }
    let terminal = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open("/dev/tty")
        .ok()?;
    above_standard(terminal.into()).ok()
}

/// The terminal on standard input in a description of our own, so that O_NONBLOCK can be set: what `poll` has
/// promised somebody else may read first, and who waits in `read(2)` is deaf to signals.
fn keyboard() -> Option<OwnedFd> {
    let path = if is_controlling() {
        "/dev/tty"
    } else {
        "/proc/self/fd/0"
    };
    let terminal = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    above_standard(terminal.into()).ok()
}

/// Whether the terminal on standard input is the one that controls this process.
pub fn is_controlling() -> bool {
    tcgetpgrp(standard(0)).is_ok()
}

/// Whether what is typed at the terminal on standard input is ours: it is nobody else's by job control.
fn is_foreground() -> bool {
    tcgetpgrp(standard(0)).map_or(true, |group| group == getpgrp())
}

/// The signal that this terminal makes of a key.
fn signal_of(byte: u8, settings: &Termios) -> Option<Signal> {
    let keys = [
        (Key::VINTR, Signal::INT),
        (Key::VQUIT, Signal::QUIT),
        (Key::VSUSP, Signal::TSTP),
    ];
    let is_it = |key: Key| byte == settings.control_chars[key as usize] && byte != libc::_POSIX_VDISABLE;
    keys.into_iter().find_map(|(key, signal)| is_it(key).then_some(signal))
}

/// Whether a process ignores a signal, where `/proc` can say.
fn ignores(pid: libc::pid_t, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (signal.number() - 1) != 0)
}
