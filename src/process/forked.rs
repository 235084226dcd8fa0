//! Runs a function in a forked child, so that a call that hangs in a file system can be given up. Such a call cannot be
//! ended, and a process with a thread that hangs in one cannot end either; so backoff must not make the call itself.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::SigSet;
use nix::sys::stat::{Mode, umask};
use nix::unistd::{ForkResult, Pid, alarm, fork, read, write};

use super::signals::set_default;
use super::sys::exit_now::exit_now;
use super::sys::fd::{close_all_except, fill_closed_standard, pipe, set_nonblocking};
use super::sys::processes::is_runnable;
use crate::policy::signal::Signal;
use crate::run::uninterrupted;

/// A function that runs in a child, which is reaped as orphans are.
#[derive(Debug)]
pub(crate) struct Forked {
    /// May be of another process once the child has ended.
    pid: Pid,
    /// The pipe of the answer. Its end shows that the child has ended, which holds the only writing end.
    pipe: OwnedFd,
    received: Vec<u8>,
}

/// The state of a [`Forked`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ForkedState {
    Runs,
    /// With all that the child has written: nothing if it died.
    Ended(Vec<u8>),
}

impl Forked {
    /// Forks a child that runs `work` and sends the bytes that it returns. Returns at once; an error means that no
    /// process could be made.
    ///
    /// The child closes all descriptors, as others may wait for the end of a pipe or for a lock; `work` may hold
    /// none. It blocks all signals, as backoff does: a signal to the group of backoff does not interrupt the work. A
    /// timer ends it after `life`, rounded up to seconds, even if backoff has ended before.
    pub(crate) fn start(life: Duration, work: impl FnOnce() -> Vec<u8>) -> io::Result<Forked> {
        let (pipe, answer) = pipe()?;
        set_nonblocking(&pipe)?;
        // SAFETY: backoff has a single thread, so the child may do whatever backoff may.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(Forked {
                pid: child,
                pipe,
                received: Vec::new(),
            }),
            ForkResult::Child => {
                set_up_child(life, answer.as_fd());
                send(answer.as_fd(), &work());
                exit_now(0)
            }
        }
    }

    /// Returns the descriptor that is readable once the state may have changed.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Returns true if the child could go on, but has no CPU.
    pub(crate) fn awaits_cpu(&self) -> bool {
        is_runnable(self.pid.as_raw())
    }

    /// Returns the state, without waiting. An end is returned, with the answer, by one call only: do not call again.
    pub(crate) fn state(&mut self) -> ForkedState {
        let mut chunk = [0; 4096];
        loop {
            match read(&self.pipe, &mut chunk) {
                Ok(0) => return ForkedState::Ended(std::mem::take(&mut self.received)),
                Ok(count) => self.received.extend_from_slice(&chunk[..count]),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return ForkedState::Runs,
                // The answer cannot be read, now or later.
                Err(_) => return ForkedState::Ended(std::mem::take(&mut self.received)),
            }
        }
    }
}

/// Cuts the child off from everything that it shares with backoff (descriptors, umask, core dumps), and sets a timer
/// that ends it after `life`: a child that hangs must not stay for ever. Only the descriptor of the `answer` stays
/// open.
fn set_up_child(life: Duration, answer: BorrowedFd<'_>) {
    close_all_except(answer.as_raw_fd());
    // A message of a panic must not end up in a file of `work`.
    fill_closed_standard();
    // Files get the modes that `work` gives them, also below a umask of 777.
    umask(Mode::S_IRWXG | Mode::S_IRWXO);
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let _ = set_default(Signal::ALRM);
    let mut unblocked = SigSet::empty();
    unblocked.add(nix::sys::signal::Signal::SIGALRM);
    let _ = unblocked.thread_unblock();
    let seconds = life.as_nanos().div_ceil(1_000_000_000);
    // 0 would set no timer.
    alarm::set(u32::try_from(seconds).unwrap_or(u32::MAX).max(1));
}

/// Writes an answer to the parent, which may have given up and closed the pipe: then the answer is lost.
fn send(pipe: BorrowedFd<'_>, mut answer: &[u8]) {
    while !answer.is_empty() {
        match uninterrupted(|| write(pipe, answer)) {
            Ok(count) => answer = &answer[count..],
            Err(_) => return,
        }
    }
}
