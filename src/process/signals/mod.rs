//! Signals: receiving and sending. The module says which signals came, and from whom; `event_loop/on_signal.rs` decides
//! what to do about them.
//!
//! All signals are blocked except while backoff polls or receives them. A handler writes each signal as one record to a
//! pipe, which the event loop polls. So no signal interrupts another system call, signals are handled in order of
//! arrival, and CONT revokes a pending stop.

mod handlers;
mod received;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use nix::errno::Errno;
use nix::libc::{self, c_int};
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::unistd::read;
use smallvec::SmallVec;

use crate::policy::signal::Signal;
use crate::process::sys::fd::{pipe, set_nonblocking};
use crate::process::sys::origin::Origin;
use handlers::{
    HAS_LOST_RECORD, HAS_RECORD, RECORDS, Record, change_action, decode, has_lost_record,
    new_action, set_handlers,
};
pub(crate) use handlers::{is_ignored, set_default};
pub(crate) use received::{Received, SignalClass};

/// The receiver of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(libc::pid_t),
    Group(libc::pid_t),
    OwnProcess,
    OwnGroup,
}

/// Called in a new child whose exec was interrupted: gives real-time signals their default action, unless the caller
/// ignores them. The one that has interrupted it is recorded, and ends the child once backoff forwards it.
/// Async-signal-safe.
pub(crate) fn reset_real_time_in_child() {
    for signal in Signal::all().filter(|signal| signal.number() >= FIRST_REAL_TIME) {
        if !is_ignored(signal) {
            let _ = set_default(signal);
        }
    }
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

/// Returns true if the process group has a member, which may be a zombie.
pub(crate) fn has_members(group: libc::pid_t) -> bool {
    kill(Target::Group(group), 0) != Err(Errno::ESRCH)
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
    // SAFETY: kill takes two numbers. `nix` cannot name all real-time signals.
    Errno::result(unsafe { libc::kill(number, signal) }).map(drop)
}

/// Lowest number of a real-time signal, on all systems.
const FIRST_REAL_TIME: c_int = 32;

/// Records that are read by one call.
const RECORDS_AT_ONCE: usize = 16;

/// The signals of this process, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The pipe, readable once a signal has come.
    pub(crate) records: OwnedFd,
    /// The caller's signal mask, which the command gets.
    caller_mask: SigSet,
    /// Signals that backoff handles and that had their default action when it started, without real-time signals. CHLD
    /// is among them even if the caller ignores it.
    reset_in_child: Vec<Signal>,
    /// The caller ignores CHLD, so the command has to ignore it, too.
    ignores_chld: bool,
    /// Received signals in order of arrival. Few of them take no memory from the heap: see `variable_list.rs`.
    pub(crate) queue: SmallVec<[Received; 8]>,
}

impl Signals {
    /// Blocks all signals, then sets handlers that write to a new pipe, and remembers what the command has to get back:
    /// the caller's mask and dispositions. Called once, before any child is made. From then on handlers run only in
    /// [`Signals::unblocked`]. An error ends backoff, so that nothing is undone then.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let (records, write) = pipe()?;
        set_nonblocking(&records)?;
        set_nonblocking(&write)?;
        RECORDS.get_or_init(|| write);
        // Asked before CHLD gets a handler.
        let ignores_chld = is_ignored(Signal::CHLD);
        let mut reset_in_child = set_handlers()?;
        // exec resets real-time signals: see `restore_in_child`.
        reset_in_child.retain(|signal| signal.number() < FIRST_REAL_TIME);
        Ok(Signals {
            records,
            caller_mask,
            reset_in_child,
            ignores_chld,
            queue: SmallVec::new(),
        })
    }

    /// Unblocks all signals, so that their handlers run and end the sleep in `poll`, and blocks them again. During a
    /// run handlers run only here; they only fill the pipe, which `poll` watches, so that it does not sleep if one has
    /// run just before. Returns false if `poll` does, or if a record was lost: the pipe does not show every signal
    /// then, so the caller must not rely on it. `poll` is not called, and cannot sleep, if a record is already lost.
    pub(crate) fn unblocked(&self, poll: impl FnOnce() -> bool) -> bool {
        // Handlers of pending signals run here.
        let _ = SigSet::empty().thread_set_mask();
        let has_polled = !has_lost_record() && poll();
        let _ = SigSet::all().thread_set_mask();
        has_polled && !has_lost_record()
    }

    /// Runs the handlers of pending signals, or lets those with their default action act.
    fn handle_pending(&self) {
        self.unblocked(|| true);
    }

    /// Takes the first signal out of the queue; None if it is empty.
    pub(crate) fn next(&mut self) -> Option<Received> {
        if self.queue.is_empty() {
            return None;
        }
        Some(self.queue.remove(0))
    }

    /// Moves all pending signals to the queue, without blocking. A CHLD may stay in the pipe until the next `poll`, and
    /// so may signals that a new child has recorded before exec.
    pub(crate) fn receive(&mut self) {
        self.handle_pending();
        if HAS_RECORD.load(Ordering::Relaxed) || has_lost_record() {
            self.read_records();
        }
    }

    /// Moves the signals to the queue whose handlers have run, without blocking. If a record was lost or cannot be
    /// read, a CHLD is queued in its place: without a look at the children, backoff could wait for ever for one that
    /// has ended. Any other signal that was lost stays lost.
    pub(crate) fn read_records(&mut self) {
        // Not written in vain: see `HAS_RECORD`.
        if HAS_RECORD.load(Ordering::Relaxed) {
            HAS_RECORD.store(false, Ordering::Relaxed);
        }
        let mut records = [Record::default(); RECORDS_AT_ONCE];
        let is_emptied = loop {
            match read(&self.records, records.as_flattened_mut().as_flattened_mut()) {
                Ok(size) => {
                    let count = size / size_of::<Record>();
                    self.queue
                        .extend(records[..count].iter().copied().filter_map(decode));
                    // Less than asked for: the pipe is empty.
                    if count < RECORDS_AT_ONCE {
                        break true;
                    }
                }
                // EAGAIN reports an empty pipe.
                Err(errno) => break errno == Errno::EAGAIN,
            }
        };
        if has_lost_record() || !is_emptied {
            HAS_LOST_RECORD.store(false, Ordering::Relaxed);
            self.queue.push(Received::new(Signal::CHLD, Origin::Kernel));
        }
    }

    /// Makes queued signals of the terminal count as sent to backoff alone, so that the event loop forwards them: a
    /// child was just made, and one that came before has not reached it. One that came after has reached the child, too,
    /// but merges with the forwarded one, as a new child blocks all. A program that has started (not `is_starting`) has
    /// most likely got the signal, and would get it twice. So only a stop is forwarded then, if it has not stopped.
    pub(crate) fn mark_queued_for_forwarding(&mut self, is_starting: bool) {
        for received in &mut self.queue {
            if is_starting || received.class == SignalClass::StopJob {
                received.by_terminal = false;
            }
        }
    }

    /// Lets a stopping signal that was sent to backoff, and is pending as it is blocked, stop backoff by its default
    /// action: the handler would only record it. Returns once backoff is continued, and sets the handler again; returns
    /// at once if backoff did not stop, as its group is orphaned. Does nothing if the caller ignores the signal, or for
    /// STOP, which has stopped backoff already when it was sent. Other pending signals are recorded meanwhile.
    pub(crate) fn stop_here_by(&self, signal: Signal) {
        if is_ignored(signal) {
            return;
        }
        let handler = set_default(signal);
        // backoff stops here, until CONT.
        self.handle_pending();
        let _ = handler.and_then(|handler| change_action(signal, Some(&handler)));
    }

    /// Receives pending signals into the queue. Returns true if this signal is in it, that is, came and is not handled
    /// yet.
    pub(crate) fn is_queued(&mut self, signal: Signal) -> bool {
        self.receive();
        self.queue.iter().any(|received| received.signal == signal)
    }

    /// Called in a new child: gives it the caller's dispositions and mask, so that until exec it acts on signals as the
    /// bare command would: a pending one may end it here. exec resets handlers anyway: those of real-time signals, half
    /// of all, stay until then to save the calls, and record such a signal in backoff's pipe, so that backoff forwards
    /// it; [`reset_real_time_in_child`] is for an exec that hangs. `also_default` (the signal that `--signal` names, if
    /// any) gets its default action even if the caller ignores it, so that a limit can end the command.
    /// Async-signal-safe.
    pub(crate) fn restore_in_child(&self, also_default: Option<Signal>) {
        for signal in self.reset_in_child.iter().copied().chain(also_default) {
            let _ = set_default(signal);
        }
        if self.ignores_chld {
            let _ = change_action(Signal::CHLD, Some(&new_action(libc::SIG_IGN)));
        }
        // Of the functions that set a mask, the one that nothing else calls: it is inlined, so that no page with its code
        // has to be mapped in each child.
        let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&self.caller_mask), None);
    }
}
