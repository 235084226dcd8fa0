//! `--pty`: a pseudo-terminal for an attempt, between the command and our terminal. The command has the slave end, as
//! its terminal; backoff has the master end, where it reads output and writes what is typed.
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
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{Termios, tcgetattr};
use nix::unistd::{Pid, read, tcgetpgrp, write};

use super::{key_target, leads_session, may_use, modes, window_size};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::process::spawn::ChildStdio;
use crate::process::sys::fd::{inherited, ready, set_nonblocking};
use crate::process::sys::stdio;
use crate::process::sys::tty::{controlling, is_controlling};
use crate::run::uninterrupted;

/// Interval of checks for the foreground: a shell's `fg` does not notify a running job.
const FOREGROUND_POLL: Duration = Duration::from_millis(250);

/// Foreground group of a terminal that no session has.
const NO_GROUP: libc::pid_t = 0;

nix::ioctl_write_ptr_bad!(set_window_size, libc::TIOCSWINSZ, Winsize);

/// The pseudo-terminal of one attempt.
#[derive(Debug)]
pub(crate) struct Pty {
    /// None after a hangup.
    master: Option<OwnedFd>,
    /// Held while the command runs, so that the terminal stays if the command closes its own descriptors.
    slave: Option<OwnedFd>,
    /// Our terminal, opened again if possible, so that reads do not block; standard input is the same terminal if keys
    /// are forwarded. None if backoff has no terminal.
    ours: Option<OwnedFd>,
    /// Typed input goes to the command: standard input and output are our terminal.
    forwards_keys: bool,
    /// The command's process and process group, while typed input is forwarded to it; None before it has started, after
    /// it has ended, and if nothing is forwarded.
    leader: Option<libc::pid_t>,
    /// Our terminal is in raw mode, and typed input goes to the command. In the background it goes to the shell.
    is_raw: bool,
    /// Typed bytes that are not written yet.
    typed: Vec<u8>,
    /// Bytes that were typed while the attempt ended, for the next one; lost if none follows. Those that the command's
    /// terminal had got before, and the command did not read, are lost in any case.
    pub(crate) typed_late: Vec<u8>,
}

/// The effect of copying the size of our terminal to the command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopiedSize {
    /// The kernel sends WINCH to the command.
    Changed,
    /// The command's terminal had the size already, or is hung up.
    Same,
    /// The size of our terminal is unknown.
    Unknown,
}

/// A pseudo-terminal that was opened for an attempt.
pub(crate) struct OpenPty {
    pub(crate) pty: Pty,
    /// The source of its output: another descriptor of the master, so that only closing both hangs up.
    pub(crate) output: OwnedFd,
    /// The command's streams.
    pub(crate) child: ChildStdio,
}

impl Pty {
    /// Opens a pseudo-terminal as large as ours, and decides which of the command's streams are on it.
    /// `inherits_input`: backoff does not replace the caller's standard input. `typed_before` was typed as the previous
    /// attempt ended, and is the first input of this one.
    pub(crate) fn open(inherits_input: bool, typed_before: Vec<u8>) -> io::Result<OpenPty> {
        let inherits_terminal = inherits_input && stdio::is_terminal(stdio::IN);
        let is_in_background = !may_use(stdio::IN);
        // In a pipeline (`| less`) another program may read the keyboard. There the command reads our terminal
        // directly, except in the background: the command has its own session, so no TTIN would keep it from taking
        // input that is meant for the shell.
        let forwards_keys = inherits_terminal && stdio::is_terminal(stdio::OUT);
        let reads_pty = forwards_keys || inherits_terminal && is_in_background;
        // In the background, our modes are those of the shell's line editor: the new terminal gets the system's.
        let initial_modes = if forwards_keys && !is_in_background {
            modes::get()
        } else {
            None
        };
        let OpenptyResult { master, slave } = open_pair(initial_modes.as_ref())?;
        let output = master.try_clone()?;
        let input = if reads_pty {
            Some(slave.try_clone()?)
        } else {
            None
        };
        let child = ChildStdio {
            input,
            output: Some(slave.try_clone()?),
            error: Some(slave.try_clone()?),
        };
        let pty = Pty {
            master: Some(master),
            slave: Some(slave),
            ours: our_terminal(),
            forwards_keys,
            leader: None,
            is_raw: false,
            typed: typed_before,
            typed_late: Vec::new(),
        };
        pty.copy_size();
        Ok(OpenPty { pty, output, child })
    }

    /// Begins forwarding typed input to the command, which runs as process `leader`, if input is forwarded at all: our
    /// terminal becomes raw, so that the command's terminal does line editing and echo.
    pub(crate) fn begin_forwarding(&mut self, leader: libc::pid_t) {
        self.leader = self.forwards_keys.then_some(leader);
        self.try_raw();
    }

    /// Puts our terminal into raw mode, if typed input goes to the command and no other job has our terminal. Otherwise
    /// `is_raw` becomes false, and the foreground is checked again later ([`Pty::wake_after`]).
    fn try_raw(&mut self) {
        self.is_raw = self.leader.is_some() && modes::make_raw();
    }

    /// Leaves raw mode, for example before backoff stops, as the shell reads from our terminal then. Typed input is not
    /// forwarded until [`Pty::resume`], or until [`Pty::work`] finds backoff in the foreground.
    pub(crate) fn pause(&mut self) {
        self.is_raw = false;
        modes::restore();
    }

    /// Resumes raw mode and copies the size of our terminal, as backoff was continued.
    pub(crate) fn resume(&mut self) {
        self.try_raw();
        self.copy_size();
    }

    /// Stops forwarding typed input for the rest of the attempt, as the command has ended or is hung up, or our
    /// terminal is gone or at its end, and restores our terminal's modes. Bytes that were not read yet go to the next
    /// attempt (`typed_late`), or become signals if they are signal keys (Ctrl-C); they stay in our terminal if it is
    /// not raw, or had no signal keys before. Bytes read for this command, but not written to it, are dropped.
    pub(crate) fn stop_forwarding(&mut self) {
        // Bytes that came in raw mode can still be read after it. No terminal makes a signal of them any more.
        if self.is_raw
            && let Some(keys) = modes::signal_keys_before_raw()
        {
            self.read_late_keys(&keys);
            self.pause();
            // Others may have come before the modes changed.
            self.read_late_keys(&keys);
        }
        self.pause();
        self.leader = None;
        self.typed.clear();
    }

    /// Returns true while backoff itself has the command's terminal open: until [`Pty::release`].
    pub(crate) fn is_held(&self) -> bool {
        self.slave.is_some()
    }

    /// Closes backoff's own end of the command's terminal. Output ends once no process has that terminal open. On macOS
    /// the last close waits for the reader, which is backoff, and then discards what was not read: call it once all was
    /// read.
    pub(crate) fn release(&mut self) {
        self.slave = None;
    }

    /// Reads keys that the ended command will not get: sends the signals of `signal_keys` to our job, because the raw
    /// terminal sent none, and keeps other bytes for the next attempt. Does not wait; reads nothing if another job has
    /// our terminal.
    fn read_late_keys(&mut self, signal_keys: &[(u8, Signal)]) {
        let Some(ours) = &self.ours else { return };
        let is_readable = ready(ours.as_fd(), PollFlags::POLLIN)
            .is_ok_and(|events| events.contains(PollFlags::POLLIN));
        if !is_readable || !may_use(stdio::IN) {
            return;
        }
        let mut bytes = [0; 1024];
        let count = uninterrupted(|| read(ours, &mut bytes)).unwrap_or(0);
        for byte in &bytes[..count] {
            match signal_keys.iter().find(|(key, _)| key == byte) {
                Some((_, signal)) => {
                    let _ = send(key_target(), *signal);
                }
                None => self.typed_late.push(*byte),
            }
        }
    }

    /// Reacts to a terminal that is gone: stops forwarding, so that this happens once, and sends this process
    /// HUP, so that backoff and the command end. The kernel tells only the leader of the session at once, others in the
    /// foreground job when the leader has ended, and a background job never.
    fn lose_terminal(&mut self) {
        self.stop_forwarding();
        if !leads_session() {
            let _ = send(Target::OwnProcess, Signal::HUP);
        }
    }

    /// Hangs up, as the output has no reader or could not be moved: closes backoff's ends of the terminal, so that the
    /// command gets HUP, and errors when it writes. The caller has closed [`OpenPty::output`] before, which would keep
    /// the terminal. May be called again.
    pub(crate) fn hang_up(&mut self) {
        self.stop_forwarding();
        // First, as the last close of the other end would wait for a reader.
        self.master = None;
        self.release();
    }

    /// Copies the size of our terminal to the command's; the kernel then sends WINCH to the command if it changes. If
    /// our size is unknown, the command's terminal gets 24 lines of 80 columns, as usual.
    pub(crate) fn copy_size(&self) -> CopiedSize {
        let mut size = self.ours.as_ref().map(window_size).unwrap_or_default();
        let is_known = size.ws_col > 0;
        if !is_known {
            size.ws_row = 24;
            size.ws_col = 80;
        }
        let Some(master) = &self.master else {
            return CopiedSize::Same;
        };
        let is_same = window_size(master) == size;
        // SAFETY: the call reads a record of this type.
        let _ = unsafe { set_window_size(master.as_raw_fd(), &size) };
        if !is_known {
            CopiedSize::Unknown
        } else if is_same {
            CopiedSize::Same
        } else {
            CopiedSize::Changed
        }
    }

    /// Returns the descriptor and events to poll: the command's terminal while typed bytes wait for room there, or else
    /// our terminal for new ones. None if nothing is forwarded now.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.master {
            Some(master) if !self.typed.is_empty() => Some((master.as_fd(), PollFlags::POLLOUT)),
            Some(_) if self.is_raw => Some((inherited(stdio::IN), PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// Returns the time until the next check whether backoff is in the foreground again, so that typed input is to be
    /// forwarded. None if no check is needed.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        (self.leader.is_some() && !self.is_raw).then_some(FOREGROUND_POLL)
    }

    /// Forwards typed input, without blocking, if [`Pty::interest`] is ready (`is_ready`). While our terminal is not in
    /// raw mode, though typed input is to be forwarded, first looks whether it is gone or backoff is in its foreground
    /// again.
    pub(crate) fn work(&mut self, is_ready: bool) {
        if self.leader.is_some() && !self.is_raw {
            if modes::terminal_is_gone() {
                return self.lose_terminal();
            }
            self.try_raw();
        }
        if !is_ready {
            return;
        }
        if self.typed.is_empty() && self.is_raw {
            self.read_keys();
        }
        if let Some(master) = &self.master {
            match write(master, &self.typed) {
                Ok(count) => drop(self.typed.drain(..count)),
                Err(Errno::EAGAIN) => {}
                // The command's terminal is gone, and the bytes with it.
                Err(_) => self.typed.clear(),
            }
        }
    }

    /// Reads what is typed on our terminal, and handles it. If another job has our terminal now, leaves raw mode
    /// instead.
    fn read_keys(&mut self) {
        // A shell takes the terminal as soon as one process of the job has stopped, and may give it back.
        if !may_use(stdio::IN) {
            return self.pause();
        }
        let mut bytes = [0; 1024];
        match self.ours.as_ref().map(|ours| read(ours, &mut bytes)) {
            Some(Ok(0)) if modes::terminal_is_gone() => self.lose_terminal(),
            // Our terminal could not be opened, or another program has changed its modes, so that Ctrl-D ends input.
            None | Some(Ok(0)) => self.stop_forwarding(),
            Some(Ok(count)) => self.handle_keys(&bytes[..count]),
            // Another process has read the bytes (EAGAIN), perhaps a shell that had changed the modes, or backoff has
            // just moved to the background (EIO).
            Some(Err(_)) => self.try_raw(),
        }
    }

    /// Queues typed bytes for the command in `typed`, except signal keys: our raw terminal makes no signals of them, so
    /// backoff sends them to its own job, and its event loop forwards them to the command as in any other run.
    fn handle_keys(&mut self, bytes: &[u8]) {
        let signal_keys = self.signal_keys().unwrap_or_default();
        let mut may_have_ended = false;
        for byte in bytes {
            let pressed = signal_keys.iter().find(|(key, _)| key == byte);
            match pressed.map(|(_, signal)| *signal) {
                // An earlier key may have ended the command: this one would stop backoff alone.
                Some(Signal::TSTP) if may_have_ended => {}
                // The rest of the job stops after the command: a shell takes the terminal once one process has stopped.
                Some(Signal::TSTP) => {
                    let _ = send(Target::OwnProcess, Signal::TSTP);
                }
                Some(signal) => {
                    may_have_ended = true;
                    let _ = send(key_target(), signal);
                }
                None => self.typed.push(*byte),
            }
        }
    }

    /// Returns the keys that backoff has to turn into signals now, by the modes of the command's terminal. None if they
    /// go to the command as bytes: it has turned signal keys off, or is a shell with a job in the foreground, to which
    /// the command's terminal sends the signals itself.
    fn signal_keys(&self) -> Option<Vec<(u8, Signal)>> {
        let group = tcgetpgrp(self.master.as_ref()?).map_or(NO_GROUP, Pid::as_raw);
        if group == NO_GROUP {
            // The command has not taken its terminal yet, or has just ended: the terminal would signal no process.
            return modes::signal_keys_before_raw();
        }
        if Some(group) != self.leader {
            return None;
        }
        modes::signal_keys(&tcgetattr(self.slave.as_ref()?).ok()?)
    }
}

/// Opens a new pseudo-terminal with these modes, or with the system's. The command must not inherit its ends, and reads
/// and writes of the master must not block.
fn open_pair(modes: Option<&Termios>) -> io::Result<OpenptyResult> {
    let pair = uninterrupted(|| openpty(None, modes))?;
    for fd in [&pair.master, &pair.slave] {
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    set_nonblocking(&pair.master)?;
    Ok(pair)
}

/// Opens our terminal: that of standard input, from which the keys come, or else one on another standard descriptor, or
/// else the controlling one; None if there is none. As a description of our own where possible, which is non-blocking:
/// a read could block if another process took the bytes that `poll` has reported.
fn our_terminal() -> Option<OwnedFd> {
    let standard = (0..=2).find(|fd| stdio::is_terminal(*fd));
    let is_controlling = standard.is_none_or(is_controlling);
    // Only the controlling terminal can be opened again by a name (`/dev/tty`).
    if is_controlling && let Ok(terminal) = controlling() {
        return Some(terminal);
    }
    // Shares its flags with the caller, who must not see O_NONBLOCK.
    inherited(standard?).try_clone_to_owned().ok()
}

impl Drop for Pty {
    /// Restores our terminal's modes on every way out.
    fn drop(&mut self) {
        self.pause();
    }
}

#[cfg(test)]
mod tests;
