//! What is typed while the command runs on a terminal of its own: it goes to the command as it is, except keys that make
//! signals there, which are sent to backoff's own process group.

use std::fs::OpenOptions;
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
use crate::process::sys::native::open_anew;
use crate::process::sys::stdio;

/// Bytes read at once.
const CHUNK: usize = 1024;

/// The terminal on our standard input, as the command's keyboard.
#[derive(Debug)]
pub(super) struct Keyboard {
    pub(super) route: Route,
    /// A description of our own that is non-blocking: another process may read first what `poll` has promised.
    source: Option<OwnedFd>,
    /// What was typed and is not written yet.
    typed: Vec<u8>,
    /// A key asks the job to stop. The rest of the job gets its signal once the command has stopped: a shell may take the terminal
    /// as soon as one process has.
    pub(super) asks_to_stop: bool,
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
        let is_typed_at = may_type && stdio::is_terminal(stdio::IN);
        let (route, source) = match (is_typed_at, stdio::is_terminal(stdio::OUT), is_ours(stdio::IN)) {
            (true, true, _) if is_controlling(stdio::IN) => (Route::Background, controlling().ok()),
            (true, true, _) => (Route::Background, open_anew(stdio::IN, OpenOptions::new().read(true))),
            // There it would take from the shell what is meant for the shell.
            (true, false, false) => (Route::Nowhere, None),
            // In a pipeline (`| less`) the keyboard may be another's. What the command reads from the terminal it reads
            // itself.
            _ => (Route::Untouched, None),
        };
        Keyboard {
            route,
            source,
            typed: Vec::new(),
            asks_to_stop: false,
        }
    }

    /// Puts our terminal into raw mode, if what is typed is for the command.
    pub(super) fn enter(&mut self) {
        if matches!(self.route, Route::Background | Route::Command) {
            let is_raw = modes::make_raw();
            self.route = if is_raw { Route::Command } else { Route::Background };
        }
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
        self.typed.clear();
    }

    /// Returns true if something was typed that waits for room.
    pub(super) fn has_typed(&self) -> bool {
        !self.typed.is_empty()
    }

    /// Moves what was typed to the command's terminal.
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
        // A shell takes the terminal as soon as it sees one process of the job stopped. It may give it back.
        if !is_ours(stdio::IN) {
            return self.leave();
        }
        let mut bytes = [0; CHUNK];
        let source = self.source.as_ref().map_or(inherited(stdio::IN), OwnedFd::as_fd);
        match read(source, &mut bytes) {
            // Another process has read it, perhaps a shell that had set the terminal as it needs it.
            Err(Errno::EAGAIN) => self.enter(),
            // In the background since just now.
            Err(_) => self.leave(),
            // Our terminal is gone; HUP follows.
            Ok(0) => self.unplug(),
            Ok(count) => self.take(&bytes[..count], to),
        }
    }

    fn take(&mut self, bytes: &[u8], to: CommandTerminal<'_>) {
        let settings = to.slave.and_then(|slave| tcgetattr(slave).ok());
        // If the command is a shell that has put a job into the foreground, keys are the job's alone.
        let is_in_front = tcgetpgrp(to.master).is_ok_and(|group| group.as_raw() == to.leader);
        let settings = settings.filter(|settings| is_in_front && settings.local_flags.contains(LocalFlags::ISIG));
        let mut ends = false;
        for byte in bytes {
            match settings.as_ref().and_then(|settings| signal_of(*byte, settings)) {
                // The key before may have ended the command.
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

/// Returns the signal that a terminal with these settings makes of a key.
fn signal_of(byte: u8, settings: &Termios) -> Option<Signal> {
    let keys = [
        (Key::VINTR, Signal::INT),
        (Key::VQUIT, Signal::QUIT),
        (Key::VSUSP, Signal::TSTP),
    ];
    let is_it = |key: Key| byte == settings.control_chars[key as usize] && byte != libc::_POSIX_VDISABLE;
    keys.into_iter().find_map(|(key, signal)| is_it(key).then_some(signal))
}
