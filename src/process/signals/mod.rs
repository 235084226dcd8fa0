//! Receives and sends signals. This module says which signals arrived and from whom. `event_loop/on_signal.rs` decides
//! how to respond.
//!
//! signal-hook catches the signals that matter to a run. All signals are blocked except while backoff polls or receives
//! them, so that none interrupts another system call, and the kernel lets SIGCONT revoke a pending stop. Other signals,
//! including real-time signals, keep their action.

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

/// The signals that are forwarded or acted on. The list is short, as registering a signal takes longer the more there
/// are.
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

/// Returns true if this user may not signal the process (a set-user-ID program, a command of `sudo`). Sends nothing.
pub(crate) fn is_protected(pid: libc::pid_t) -> bool {
    kill(Target::Process(pid), 0) == Err(Errno::EPERM)
}

/// Calls `kill(2)`, which takes a negative number for a group and 0 for the caller's own group. Signal 0 only checks
/// the receiver. It returns ESRCH if there is none, and EPERM if it cannot be signaled. For a group, one member is
/// enough.
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
    /// The caller's signal mask, which is passed on to the command.
    caller_mask: SigSet,
    /// The mask while backoff polls. It is the caller's, without the caught signals.
    polling_mask: SigSet,
    /// Signals with a handler. A child gets their default action back.
    caught: Vec<Signal>,
    /// The caller ignores SIGCHLD, so the command must also ignore it.
    ignores_chld: bool,
    /// Received signals that are not handled yet.
    pub(crate) queue: VecDeque<Received>,
}

impl Signals {
    /// Blocks all signals, then catches those in [`CAUGHT`], and remembers the caller's mask and dispositions for the
    /// command. A signal that the caller ignores remains ignored, as under `nohup`. SIGCHLD is the exception, as the
    /// kernel would discard the attempt's exit status. Called once, before any child is created.
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

    /// Returns a descriptor that is readable once a signal has arrived.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// Unblocks signals while `poll` runs, so that their handlers run and end its sleep. A handler that ran just before
    /// has made [`Signals::fd`] readable.
    pub(crate) fn unblocked<T>(&self, poll: impl FnOnce() -> T) -> T {
        let _ = self.polling_mask.thread_set_mask();
        let polled = poll();
        let _ = SigSet::all().thread_set_mask();
        polled
    }

    /// Takes the first signal off the queue.
    pub(crate) fn next(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Moves all pending signals to the queue, without blocking.
    pub(crate) fn receive(&mut self) {
        self.unblocked(|| ());
        self.read();
    }

    /// Moves signals whose handlers have run to the queue, without blocking. If a stop and a SIGCONT arrive together,
    /// their order is unknown, and SIGCONT counts.
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

    /// Stops this process by the default action of `signal`, which it sends to `target`. Returns once it is continued.
    /// Returns at once if a SIGCONT is not handled yet, if the group is orphaned, or if the caller ignores the signal.
    /// SIGCONT is unblocked first. While pending, it would be revoked by the stop. Unblocked, it revokes the stop.
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
            // backoff stops here, until SIGCONT.
            let _ = SigSet::from(named).thread_unblock();
        }
        let _ = SigSet::all().thread_set_mask();
        let _ = handler.and_then(|handler| change_action(signal, Some(&handler)));
    }

    /// Gives a new child the caller's dispositions and mask. Sets the dispositions first, or a pending signal would end
    /// in a handler of backoff. `also_default` (the signal given with `--signal`, if any) gets its default action even
    /// if the caller ignores it, so that a limit can end the command. Called in the child. Async-signal-safe.
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
