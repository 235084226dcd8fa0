//! Job control: is there a controlling terminal, whose signals are these, and stopping as a job does.

use nix::sys::signal::killpg;
use nix::unistd::{getpgid, getpgrp, getpid, getppid, getsid, tcgetpgrp, tcsetpgrp};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::foreground::{is_controlling, terminal};
use crate::policy::signal::Signal;
use crate::process::signals::receive::Signals;
use crate::process::signals::{Target, send};
use crate::process::sys::fd::inherited;

/// What backoff knows of its job.
#[derive(Debug, Default)]
pub(crate) struct Job {
    /// Whether there is a controlling terminal, once it was asked.
    has_terminal: Option<bool>,
    /// Signals that keys have made on the command's own terminal, and backoff has sent to its own group.
    keys: Vec<Signal>,
    /// A key has asked the job to stop.
    stop_key: bool,
}

impl Job {
    /// Whether this process has a controlling terminal. It is looked for once.
    pub(crate) fn has_terminal(&mut self) -> bool {
        *self.has_terminal.get_or_insert_with(has_controlling_terminal)
    }

    /// Takes in a signal that a key has made on the command's own terminal. One that asks to end is sent to the job, as our
    /// own terminal would have sent it; one that stops is sent once the command has stopped.
    pub(crate) fn on_key(&mut self, signal: Signal) {
        if signal.stops_a_job() {
            self.stop_key = true;
        } else {
            self.keys.push(signal);
            signal_as_a_key_does(signal);
        }
    }

    /// Returns true if a key on the command's own terminal made this signal, which has come. Keys that were pressed before
    /// it came are one signal.
    pub(crate) fn take_key(&mut self, signal: Signal) -> bool {
        self.keys.extract_if(.., |key| *key == signal).count() > 0
    }

    /// Returns true once if a key has asked the job to stop.
    pub(crate) fn take_stop_key(&mut self) -> bool {
        std::mem::take(&mut self.stop_key)
    }

    /// Stops backoff by `signal` until somebody continues it.
    pub(crate) fn stop(&mut self, signals: &mut Signals, signal: Signal) {
        stop_self(signals, signal, !self.has_terminal());
    }
}

fn has_controlling_terminal() -> bool {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match open("/dev/tty", flags, Mode::empty()) {
        Ok(_closed_on_drop) => true,
        // The terminal is there and was hung up, or there is none.
        Err(Errno::NXIO | Errno::IO) => false,
        // No such device node (a bare container): ask the standard descriptors.
        Err(_) => (0..=2).any(|fd| tcgetpgrp(inherited(fd)).is_ok()),
    }
}

/// Takes the terminal back from a group that a command with job control of its own gave it to and that has ended:
/// otherwise nothing would hear Ctrl-C any more.
pub(crate) fn take_back() {
    let own = getpgrp();
    if let Some(tty) = terminal()
        && tcgetpgrp(&tty).is_ok_and(|group| killpg(group, None) == Err(nix::errno::Errno::ESRCH))
    {
        // A process outside of the foreground may do this where TTOU is blocked, as all signals are.
        let _ = tcsetpgrp(&tty, own);
    }
}

/// Whether this process leads its session: then the kernel tells it alone that the terminal is gone.
pub(crate) fn leads_session() -> bool {
    getsid(None) == Ok(getpid())
}

/// Whether the parent put backoff into a process group of its own, as a shell with job control does in its session.
/// Such a parent notices that backoff has stopped.
pub(crate) fn parent_controls_jobs() -> bool {
    let parent = Some(getppid());
    getpgid(parent) != Ok(getpgrp()) && getsid(parent) == getsid(None)
}

/// Sends a signal to whom the terminal on standard input would send it, had it made it of a key: this
/// process's group. If that terminal does not control this process, to this process.
fn signal_as_a_key_does(signal: Signal) {
    let target = if is_controlling() {
        Target::OwnGroup
    } else {
        Target::OwnProcess
    };
    send(target, signal);
}

/// Stops the job, this process included, as a key on the terminal does; until somebody continues it.
///
/// A shell may take the terminal, and continue the job, as soon as one other process of it has stopped. So this
/// comes last, when all that the stop needs is done; and this process gets the one signal that all get: a CONT
/// that comes before it has acted on that revokes it, but would be forgotten over a second signal.
pub(crate) fn stop_job(signals: &mut Signals) {
    signal_as_a_key_does(Signal::TSTP);
    signals.deliver(Signal::TSTP);
}

/// Stops this process by `signal` until somebody continues it.
///
/// In an orphaned process group the kernel ignores TSTP, TTIN and TTOU, as nobody there would
/// continue the job; then `insist` stops it with STOP.
fn stop_self(signals: &mut Signals, signal: Signal, insist: bool) {
    // Somebody has continued the job already, and the kernel would forget that CONT.
    if signals.has(Signal::CONT) {
        return;
    }
    raise(signals, signal);
    // What continued it was a CONT, which is now waiting.
    if insist && signal != Signal::STOP && !signals.has(Signal::CONT) {
        raise(signals, Signal::STOP);
    }
}

fn raise(signals: &Signals, signal: Signal) {
    send(Target::OwnProcess, signal);
    signals.deliver(signal);
}
