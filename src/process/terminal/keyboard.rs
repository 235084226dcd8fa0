//! What is typed while the command runs on a terminal of its own: it goes to the command as it is, and the signals
//! that keys make there are told to whoever runs the attempt.

use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::libc;
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices as Key, Termios, tcgetattr};
use nix::unistd::{read, tcgetpgrp, write};

use super::foreground::{is_controlling, is_ours};
use super::modes::{self, Raw};
use crate::policy::signal::Signal;
use crate::process::sys::fd::inherited;
use crate::process::sys::native::open_anew;
use crate::process::sys::stdio;

/// Bytes read at once.
const CHUNK: usize = 1024;

/// The terminal on our standard input, as the command's keyboard.
#[derive(Debug)]
pub(super) struct Keyboard {
    route: Route,
    /// A description of our own.
    source: Option<OwnedFd>,
    /// What was typed and is not passed on yet.
    pending: Vec<u8>,
    /// What keys have made.
    signals: Vec<Signal>,
}

/// Where what is typed goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// Where it would without a terminal of the command's own: the command's standard input is the caller's.
    Untouched,
    /// Nowhere: the command's standard input is its terminal, into which nobody types.
    Nowhere,
    /// For now to the shell, which has us in the background; to the command as soon as that changes.
    Background,
    /// To the command. Our terminal is in raw mode.
    Command,
}

/// The terminal that the keys are typed into.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandTerminal<'a> {
    pub(super) master: &'a OwnedFd,
    pub(super) slave: Option<&'a OwnedFd>,
    /// The command's process and process group.
    pub(super) leader: libc::pid_t,
}

impl Keyboard {
    /// `may_type`: the command would inherit our standard input.
    pub(super) fn new(may_type: bool) -> Keyboard {
        let is_terminal = may_type && inherited(stdio::IN).is_terminal();
        let route = match (is_terminal, inherited(stdio::OUT).is_terminal(), is_ours(stdio::IN)) {
            (false, ..) => Route::Untouched,
            (true, true, _) => Route::Background,
            // In a pipeline (`| less`) the keyboard may be another's. What the command reads from the
            // terminal it reads itself.
            (true, false, true) => Route::Untouched,
            // There it would take from the shell what is meant for the shell.
            (true, false, false) => Route::Nowhere,
        };
        Keyboard {
            route,
            source: (route == Route::Background).then(source).flatten(),
            pending: Vec::new(),
            signals: Vec::new(),
        }
    }

    pub(super) fn route(&self) -> Route {
        self.route
    }

    /// Puts our terminal into raw mode, if what is typed is for the command.
    pub(super) fn enter(&mut self) {
        if !matches!(self.route, Route::Background | Route::Command) {
            return;
        }
        self.route = match modes::make_raw() {
            Raw::Done => Route::Command,
            Raw::NotNow => Route::Background,
            Raw::Never => Route::Nowhere,
        };
    }

    /// Gives our terminal its settings back.
    pub(super) fn leave(&mut self) {
        if self.route == Route::Command {
            self.route = Route::Background;
        }
        modes::restore();
    }

    /// The command's terminal is gone.
    pub(super) fn unplug(&mut self) {
        self.leave();
        self.route = Route::Nowhere;
        self.pending.clear();
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The signals that keys have made since this was last asked.
    pub(super) fn take_signals(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.signals)
    }

    /// Reads what was typed, if it is for the command.
    pub(super) fn read(&mut self, to: CommandTerminal<'_>) {
        if self.has_pending() || self.route != Route::Command {
            return;
        }
        // A shell takes the terminal as soon as it sees one process of the job stopped, whatever the others
        // do. It may give it back.
        if !is_ours(stdio::IN) {
            self.leave();
            return;
        }
        let mut bytes = [0; CHUNK];
        let source = self.source.as_ref().map_or(inherited(stdio::IN), OwnedFd::as_fd);
        match read(source, &mut bytes) {
            Err(Errno::EINTR) => {}
            // Somebody else has read it, perhaps a shell that had set the terminal as it needs it.
            Err(Errno::EAGAIN) => self.enter(),
            // Our terminal is gone; HUP tells the rest.
            Ok(0) => {
                self.leave();
                self.route = Route::Nowhere;
            }
            // In the background since just now.
            Err(_) => self.leave(),
            Ok(count) => self.take(&bytes[..count], to),
        }
    }

    fn take(&mut self, bytes: &[u8], to: CommandTerminal<'_>) {
        let settings = to.slave.and_then(|slave| tcgetattr(slave).ok());
        // Where the command is a shell that has put a job into the foreground, keys are the job's alone.
        let is_in_front = tcgetpgrp(to.master).is_ok_and(|group| group.as_raw() == to.leader);
        let settings = settings.filter(|settings| is_in_front && settings.local_flags.contains(LocalFlags::ISIG));
        for byte in bytes {
            let signal = settings.as_ref().and_then(|settings| signal_of(*byte, settings));
            if signal == Some(Signal::TSTP) {
                // The command's terminal cannot stop it: its group is orphaned. An earlier key may end it first.
                if self.signals.is_empty() {
                    self.signals.extend(signal);
                }
                continue;
            }
            self.signals.extend(signal);
            self.pending.push(*byte);
        }
    }

    /// Passes on what was typed, as far as there is room.
    pub(super) fn pass_on(&mut self, master: BorrowedFd<'_>) {
        if self.pending.is_empty() {
            return;
        }
        match write(master, &self.pending) {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(_) => self.pending.clear(),
        }
    }
}

/// The terminal on standard input in a description of our own, so that O_NONBLOCK can be set: what `poll` has
/// promised somebody else may read first, and who waits in `read(2)` is deaf to signals.
fn source() -> Option<OwnedFd> {
    if !is_controlling() {
        return open_anew(stdio::IN, OpenOptions::new().read(true));
    }
    let terminal = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open("/dev/tty")
        .ok()?;
    Some(terminal.into())
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
