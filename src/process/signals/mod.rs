//! Signals: receiving and sending. The module says which signals came, and from whom; `event_loop/on_signal.rs` decides
//! what to do about them.
//!
//! signal-hook catches those that mean something to a run. All signals are blocked except while backoff polls or receives
//! them, so that none interrupts another system call, and the kernel lets CONT revoke a pending stop. Others keep their
//! action, real-time signals among them.

mod actions;
mod received;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::libc::{self, c_int};
use nix::sys::signal::{SigSet, SigmaskHow, Signal as Named};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;

use crate::policy::signal::Signal;
use actions::{change_action, ignore};
pub(crate) use actions::{is_ignored, set_default};
pub(crate) use received::{Received, SignalClass};

/// The signals that are forwarded or acted on. The list is short, as each registration costs the more the more there are.
const CAUGHT: [Named; 20] = [
    Named::SIGHUP,
    Named::SIGINT,
    Named::SIGQUIT,
    Named::SIGTERM,
    Named::SIGALRM,
    Named::SIGUSR1,
    Named::SIGUSR2,
    Named::SIGPIPE,
    Named::SIGCHLD,
    Named::SIGCONT,
    Named::SIGTSTP,
    Named::SIGTTIN,
    Named::SIGTTOU,
    Named::SIGWINCH,
    Named::SIGURG,
    Named::SIGIO,
    Named::SIGVTALRM,
    Named::SIGPROF,
    Named::SIGXCPU,
    Named::SIGXFSZ,
];

/// The receiver of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(libc::pid_t),
    Group(libc::pid_t),
    OwnProcess,
    OwnGroup,
}

/// Sends a signal. Returns ESRCH if the receiver is gone, and EPERM if this user may not signal it.
pub(crate) fn send(target: Target, signal: Signal) -> nix::Result<()> {
    kill(target, signal.number())
}

/// Returns true if this user may not signal the process (a set-user-ID program, a command of `sudo`), or no member of
/// the group. Sends nothing.
pub(crate) fn is_protected(target: Target) -> bool {
    kill(target, 0) == Err(Errno::EPERM)
}

/// Calls `kill(2)`, which takes a negative number for a group and 0 for the caller's own group. Signal 0 only checks
/// whether the receiver exists (else ESRCH) and may be signalled (else EPERM); for a group, one member is enough.
fn kill(target: Target, signal: c_int) -> nix::Result<()> {
    let number = match target {
        Target::Process(pid) => pid,
        Target::Group(group) => -group,
        Target::OwnProcess => std::process::id().cast_signed(),
        Target::OwnGroup => 0,
    };
    // SAFETY: kill takes two numbers. `nix` cannot name a real-time signal, which `--signal` may.
    Errno::result(unsafe { libc::kill(number, signal) }).map(drop)
}

/// The signals of this process, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    delivery: SignalDelivery<UnixStream, WithRawSiginfo>,
    /// The caller's signal mask, which the command gets.
    caller_mask: SigSet,
    /// The mask while backoff polls: the caller's without the signals that are caught.
    polling_mask: SigSet,
    /// Signals with a handler, which get their default action back in a child.
    caught: Vec<Signal>,
    /// The caller ignores CHLD, so the command has to ignore it, too.
    ignores_chld: bool,
    /// Received signals that are not handled yet.
    pub(crate) queue: VecDeque<Received>,
}

impl Signals {
    /// Blocks all signals, then catches those of [`CAUGHT`], and remembers what the command has to get back: the caller's
    /// mask and dispositions. A signal that the caller ignores stays ignored, as under `nohup`, except CHLD: the kernel
    /// would discard the attempt's exit status. Called once, before any child is made.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let ignores_chld = is_ignored(Signal::CHLD);
        let mut polling_mask = caller_mask;
        let mut caught = Vec::new();
        for named in CAUGHT {
            if let Some(signal) = Signal::from_number(named as c_int)
                && (signal == Signal::CHLD || !is_ignored(signal))
            {
                polling_mask.remove(named);
                caught.push(signal);
            }
        }
        let numbers: Vec<c_int> = caught.iter().map(|signal| signal.number()).collect();
        let (read, write) = UnixStream::pair()?;
        Ok(Signals {
            delivery: SignalDelivery::with_pipe(read, write, WithRawSiginfo, numbers)?,
            caller_mask,
            polling_mask,
            caught,
            ignores_chld,
            queue: VecDeque::new(),
        })
    }

    /// Returns a descriptor that is readable once a signal has come.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// Unblocks signals while `poll` runs, so that their handlers run and end its sleep: one that has run just before
    /// has made [`Signals::fd`] readable.
    pub(crate) fn unblocked<T>(&self, poll: impl FnOnce() -> T) -> T {
        let _ = self.polling_mask.thread_set_mask();
        let polled = poll();
        let _ = SigSet::all().thread_set_mask();
        polled
    }

    /// Takes the first signal out of the queue; None if it is empty.
    pub(crate) fn next(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Moves all pending signals to the queue, without blocking.
    pub(crate) fn receive(&mut self) {
        self.unblocked(|| ());
        self.read();
    }

    /// Moves the signals to the queue whose handlers have run, without blocking. The order of a stop and a CONT that come
    /// together is not known: CONT counts.
    pub(crate) fn read(&mut self) {
        let infos = self.delivery.pending();
        self.queue
            .extend(infos.filter_map(|info| Received::new(&info)));
        if self.has_continue() {
            self.queue
                .retain(|received| received.class != SignalClass::StopJob);
        }
    }

    fn has_continue(&self) -> bool {
        let mut queue = self.queue.iter();
        queue.any(|received| received.class == SignalClass::Continue)
    }

    /// Stops this process by the default action of `signal`, which it sends to `target`. Returns once it is continued, or
    /// at once if a CONT has come that is not handled yet, if the group is orphaned, or if the caller ignores the signal.
    /// CONT is unblocked first: pending, it would be revoked by the stop, but as it is, it revokes the stop.
    pub(crate) fn stop_here_by(&mut self, signal: Signal, target: Target) {
        self.receive();
        if self.has_continue() || is_ignored(signal) {
            return;
        }
        let handler = set_default(signal);
        let _ = SigSet::from(Named::SIGCONT).thread_unblock();
        let _ = send(target, signal);
        self.read();
        if self.has_continue() {
            let _ = send(Target::OwnProcess, Signal::CONT);
        }
        if let Ok(named) = Named::try_from(signal.number()) {
            // backoff stops here, until CONT.
            let _ = SigSet::from(named).thread_unblock();
        }
        let _ = SigSet::all().thread_set_mask();
        let _ = handler.and_then(|handler| change_action(signal, Some(&handler)));
    }

    /// Called in a new child: gives it the caller's dispositions and mask. The dispositions first: a signal that has come
    /// would end in a handler of backoff. `also_default` (the signal that `--signal` names, if any) gets its default
    /// action even if the caller ignores it, so that a limit can end the command. Async-signal-safe.
    pub(crate) fn restore_in_child(&self, also_default: Option<Signal>) {
        for signal in self.caught.iter().copied().chain(also_default) {
            let _ = set_default(signal);
        }
        if self.ignores_chld {
            ignore(Signal::CHLD);
        }
        let _ = self.caller_mask.thread_set_mask();
    }
}
