//! `--pty`: a pseudo-terminal for an attempt, between the command and our terminal.
//!
//! Output of the command is read from the master and forwarded like that of a pipe. If our standard input and output
//! are a terminal, it is in raw mode while the attempt runs, and typed input goes to the master: line editing is done
//! by the new terminal. Keys that generate signals there are sent to backoff's own process group as those signals.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::poll::PollFlags;
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices as Key, Termios, tcgetattr};
use nix::unistd::{read, tcgetpgrp, write};

use super::control::{controlling, is_controlling, is_ours, job, window_size};
use super::modes;
use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::process::sys::fd::{duplicate, inherited, set_nonblocking};
use crate::process::sys::stdio;
use crate::run::interrupts::uninterrupted;

/// Interval of checks for the foreground: a shell's `fg` does not notify a running job.
const FOREGROUND_LOOK: Duration = Duration::from_millis(250);

nix::ioctl_write_ptr_bad!(set_window_size, libc::TIOCSWINSZ, Winsize);

/// Size if ours is unknown.
const USUAL_SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 80,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// The pseudo-terminal of one attempt.
#[derive(Debug)]
pub(crate) struct Pty {
    /// None after a hangup.
    master: Option<OwnedFd>,
    /// Held while the command runs, so that the terminal stays if the command closes its own descriptors.
    slave: Option<OwnedFd>,
    /// Our terminal.
    ours: Option<OwnedFd>,
    route: Route,
    /// Typed bytes that are not written yet.
    typed: Vec<u8>,
    /// The command's process and process group; 0 before the start.
    leader: libc::pid_t,
}

/// The destination of typed input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Unchanged: the command inherits the caller's standard input.
    Untouched,
    /// None: the command's standard input is its terminal, and no input reaches it.
    Nowhere,
    /// The shell, while backoff is in the background; the command after that.
    Background,
    /// The command. Our terminal is in raw mode.
    Command,
}

impl Pty {
    /// Opens a pseudo-terminal as large as ours. `may_type`: the command would inherit standard input.
    pub(crate) fn open(may_type: bool) -> io::Result<Pty> {
        let is_typed_at = may_type && stdio::is_terminal(stdio::IN);
        let route = match (is_typed_at, stdio::is_terminal(stdio::OUT)) {
            (true, true) => Route::Background,
            // Reading there would take input that is meant for the shell.
            (true, false) if !is_ours(stdio::IN) => Route::Nowhere,
            // In a pipeline (`| less`) another program may read the keyboard. The command reads from the terminal
            // directly.
            _ => Route::Untouched,
        };
        // In the background, our modes are those of the shell's line editor.
        let is_usual = route == Route::Background && is_ours(stdio::IN);
        let modes = is_usual.then(|| tcgetattr(inherited(stdio::IN)).ok()).flatten();
        let pair = uninterrupted(|| openpty(None, modes.as_ref()))?;
        for fd in [&pair.master, &pair.slave] {
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        set_nonblocking(&pair.master)?;
        let mut standard = [stdio::IN, stdio::OUT, stdio::ERR].into_iter();
        let pty = Pty {
            master: Some(pair.master),
            slave: Some(pair.slave),
            // Non-blocking if possible: another process may read first what `poll` has promised.
            ours: match standard.find(|fd| stdio::is_terminal(*fd)) {
                Some(fd) if !is_controlling(fd) => duplicate(fd).ok(),
                standard => controlling().ok().or_else(|| duplicate(standard?).ok()),
            },
            route,
            typed: Vec::new(),
            leader: 0,
        };
        pty.copy_size();
        Ok(pty)
    }

    /// Returns a copy of the master, for reading output.
    pub(crate) fn output(&self) -> io::Result<OwnedFd> {
        self.master.as_ref().ok_or(Errno::EIO)?.try_clone()
    }

    /// Returns the command's standard input, if `--pty` replaces it.
    pub(crate) fn child_input(&self) -> io::Result<Option<OwnedFd>> {
        match self.route {
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
        self.enter();
    }

    /// Puts our terminal into raw mode, if typed input goes to the command.
    fn enter(&mut self) {
        if matches!(self.route, Route::Background | Route::Command) {
            let is_raw = modes::make_raw();
            self.route = if is_raw { Route::Command } else { Route::Background };
        }
    }

    /// Restores our terminal's modes, for example before backoff stops.
    pub(crate) fn pause(&mut self) {
        if self.route == Route::Command {
            self.route = Route::Background;
        }
        modes::restore();
    }

    /// Resumes raw mode and copies the size of our terminal, as backoff was continued.
    pub(crate) fn resume(&mut self) {
        self.enter();
        self.copy_size();
    }

    /// Restores our terminal's modes, as the command has ended. Output ends once no process has the command's terminal
    /// open.
    pub(crate) fn ended(&mut self) {
        self.pause();
        self.route = Route::Nowhere;
        self.typed.clear();
        self.slave = None;
    }

    /// Hangs up, as the output has no reader: the command gets HUP, and errors when it writes.
    pub(crate) fn hang_up(&mut self) {
        self.ended();
        self.master = None;
    }

    /// Copies the size of our terminal to the command's; the kernel sends WINCH if it changes. Returns true if the size
    /// is known.
    pub(crate) fn copy_size(&self) -> bool {
        let size = self.ours.as_ref().and_then(|ours| window_size(ours).ok());
        // A terminal of unknown size reports 0.
        let known = size.filter(|size| size.ws_row > 0 && size.ws_col > 0);
        if let Some(master) = &self.master {
            // SAFETY: the call reads a record of this type.
            let _ = unsafe { set_window_size(master.as_raw_fd(), &known.unwrap_or(USUAL_SIZE)) };
        }
        size.is_some()
    }

    /// Returns the descriptor and events to poll for typed input.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.master {
            Some(master) if !self.typed.is_empty() => Some((master.as_fd(), PollFlags::POLLOUT)),
            Some(_) if self.route == Route::Command => Some((inherited(stdio::IN), PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// Returns the time until the next check for the foreground, if one is needed.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        (self.route == Route::Background && self.leader != 0).then_some(FOREGROUND_LOOK)
    }

    /// Forwards typed input. `ready`: [`Pty::interest`] is ready.
    pub(crate) fn work(&mut self, ready: bool) {
        if self.route == Route::Background {
            self.enter();
        }
        if ready && self.typed.is_empty() && self.route == Route::Command {
            self.read();
        }
        if let Some(master) = &self.master
            && ready
        {
            match write(master, &self.typed) {
                Ok(count) => drop(self.typed.drain(..count)),
                Err(Errno::EAGAIN) => {}
                Err(_) => self.typed.clear(),
            }
        }
    }

    fn read(&mut self) {
        // A shell takes the terminal as soon as one process of the job has stopped, and may give it back.
        if !is_ours(stdio::IN) {
            return self.pause();
        }
        let mut bytes = [0; 1024];
        match self.ours.as_ref().map(|ours| read(ours, &mut bytes)) {
            // Another process has read the bytes, perhaps a shell that had changed the modes.
            Some(Err(Errno::EAGAIN)) => self.enter(),
            // Our terminal is gone; HUP follows.
            None | Some(Ok(0)) => self.ended(),
            Some(Ok(count)) => self.take(&bytes[..count]),
            // backoff has just moved to the background.
            Some(Err(_)) => self.pause(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let settings = self.slave.as_ref().and_then(|slave| tcgetattr(slave).ok());
        // If the command is a shell with a job in the foreground, keys go to that job only.
        let group = self.master.as_ref().and_then(|master| tcgetpgrp(master).ok());
        let is_in_front = group.is_some_and(|group| group.as_raw() == self.leader);
        let settings = settings.filter(|settings| is_in_front && settings.local_flags.contains(LocalFlags::ISIG));
        let mut ends = false;
        for byte in bytes {
            match settings.as_ref().and_then(|settings| signal_of(*byte, settings)) {
                // The previous key may have ended the command.
                Some(Signal::TSTP) if ends => {}
                // The rest of the job stops after the command: a shell may take the terminal as soon as one process has
                // stopped.
                Some(Signal::TSTP) => send(Target::OwnProcess, Signal::TSTP),
                Some(signal) => {
                    ends = true;
                    send(job(), signal);
                }
                None => self.typed.push(*byte),
            }
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.pause();
    }
}

/// Returns the signal that a terminal with these settings generates for a key.
fn signal_of(byte: u8, settings: &Termios) -> Option<Signal> {
    let keys = [
        (Key::VINTR, Signal::INT),
        (Key::VQUIT, Signal::QUIT),
        (Key::VSUSP, Signal::TSTP),
    ];
    let is_it = |key: Key| byte == settings.control_chars[key as usize] && byte != libc::_POSIX_VDISABLE;
    keys.into_iter().find_map(|(key, signal)| is_it(key).then_some(signal))
}
