//! Typed input while the command runs on its own terminal. Bytes are forwarded to the command unchanged, except keys
//! that generate signals there: the signals are sent to backoff's own process group.

use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices as Key, Termios, tcgetattr};
use nix::unistd::{read, tcgetpgrp, write};

use super::control::{controlling, is_controlling, is_ours, key_target};
use super::modes;
use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// Bytes read by one call.
const CHUNK: usize = 1024;

/// The terminal on our standard input, as the command's keyboard.
#[derive(Debug)]
pub(super) struct Keyboard {
    pub(super) route: Route,
    /// Our own non-blocking description: another process may read first what `poll` has promised.
    source: Option<OwnedFd>,
    /// Typed bytes that are not written yet.
    typed: Vec<u8>,
    /// A key asks the job to stop. The rest of the job is signalled after the command has stopped: a shell may take the
    /// terminal as soon as one process has stopped.
    pub(super) asks_to_stop: bool,
}

/// The destination of typed input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// Unchanged: the command inherits the caller's standard input.
    Untouched,
    /// None: the command's standard input is its terminal, and no input reaches it.
    Nowhere,
    /// The shell, while backoff is in the background; the command after that.
    Background,
    /// The command. Our terminal is in raw mode.
    Command,
}

/// The terminal that receives typed input.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandTerminal<'a> {
    pub(super) master: &'a OwnedFd,
    pub(super) slave: Option<&'a OwnedFd>,
    /// The command's process and process group.
    pub(super) leader: libc::pid_t,
}

impl Keyboard {
    /// Chooses the route. `may_type`: the command would inherit our standard input.
    pub(super) fn new(may_type: bool) -> Keyboard {
        let is_typed_at = may_type && stdio::is_terminal(stdio::IN);
        let (route, source) = match (is_typed_at, stdio::is_terminal(stdio::OUT), is_ours(stdio::IN)) {
            (true, true, _) if is_controlling(stdio::IN) => (Route::Background, controlling().ok()),
            (true, true, _) => (Route::Background, None),
            // Reading there would take input that is meant for the shell.
            (true, false, false) => (Route::Nowhere, None),
            // In a pipeline (`| less`) another program may read the keyboard. The command reads from the terminal
            // directly.
            _ => (Route::Untouched, None),
        };
        Keyboard {
            route,
            source,
            typed: Vec::new(),
            asks_to_stop: false,
        }
    }

    /// Puts our terminal into raw mode, if typed input goes to the command.
    pub(super) fn enter(&mut self) {
        if matches!(self.route, Route::Background | Route::Command) {
            let is_raw = modes::make_raw();
            self.route = if is_raw { Route::Command } else { Route::Background };
        }
    }

    /// Restores our terminal's modes.
    pub(super) fn leave(&mut self) {
        if self.route == Route::Command {
            self.route = Route::Background;
        }
        modes::restore();
    }

    /// Stops forwarding: the command's terminal is gone.
    pub(super) fn unplug(&mut self) {
        self.leave();
        self.route = Route::Nowhere;
        self.typed.clear();
    }

    /// Returns true if typed bytes wait for room.
    pub(super) fn has_typed(&self) -> bool {
        !self.typed.is_empty()
    }

    /// Forwards typed bytes to the command's terminal.
    pub(super) fn work(&mut self, to: CommandTerminal<'_>) {
        if self.typed.is_empty() && self.route == Route::Command {
            self.read(to);
        }
        if self.typed.is_empty() {
            return;
        }
        match write(to.master, &self.typed) {
            Ok(count) => drop(self.typed.drain(..count)),
            Err(Errno::EAGAIN) => {}
            Err(_) => self.typed.clear(),
        }
    }

    fn read(&mut self, to: CommandTerminal<'_>) {
        // A shell takes the terminal as soon as one process of the job has stopped, and may give it back.
        if !is_ours(stdio::IN) {
            return self.leave();
        }
        let mut bytes = [0; CHUNK];
        let source = self.source.as_ref().map_or(inherited(stdio::IN), OwnedFd::as_fd);
        match read(source, &mut bytes) {
            // Another process has read the bytes, perhaps a shell that had changed the modes.
            Err(Errno::EAGAIN) => self.enter(),
            // backoff has just moved to the background.
            Err(_) => self.leave(),
            // Our terminal is gone; HUP follows.
            Ok(0) => self.unplug(),
            Ok(count) => self.take(&bytes[..count], to),
        }
    }

    fn take(&mut self, bytes: &[u8], to: CommandTerminal<'_>) {
        let settings = to.slave.and_then(|slave| tcgetattr(slave).ok());
        // If the command is a shell with a job in the foreground, keys go to that job only.
        let is_in_front = tcgetpgrp(to.master).is_ok_and(|group| group.as_raw() == to.leader);
        let settings = settings.filter(|settings| is_in_front && settings.local_flags.contains(LocalFlags::ISIG));
        let mut ends = false;
        for byte in bytes {
            match settings.as_ref().and_then(|settings| signal_of(*byte, settings)) {
                // The previous key may have ended the command.
                Some(Signal::TSTP) if ends => {}
                Some(Signal::TSTP) => {
                    self.asks_to_stop = true;
                    send(Target::OwnProcess, Signal::TSTP);
                }
                Some(signal) => {
                    ends = true;
                    send(key_target(), signal);
                }
                None => self.typed.push(*byte),
            }
        }
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
