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

/// A function that runs in a child. Nothing here waits for the child: `reap_orphans` reaps it with the orphans that
/// backoff inherits.
#[derive(Debug)]
pub(crate) struct Forked {
    /// May be of another process once the child has ended, as it may be reaped then.
    pid: Pid,
    /// The pipe of the answer. Its end shows that the child has ended, which holds the only writing end.
    pipe: OwnedFd,
    /// The part of the answer that was read.
    received: Vec<u8>,
}

/// The state of a [`Forked`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ForkedState {
    Runs,
    /// With the answer: all of it or, if the child died or the pipe failed, the part that was read, perhaps nothing.
    Ended(Vec<u8>),
}

impl Forked {
    /// Forks a child that runs `work`, sends the bytes that it returns, and ends. Returns at once; an error means that
    /// no pipe or process could be made.
    ///
    /// The child closes all descriptors, as others may wait for the end of a pipe or for a lock; so `work` can use none
    /// that was open before. Files that it makes are private to this user. All signals but the timer's stay blocked, as
    /// in backoff: a signal to its group does not interrupt the work. The timer ends the child after `life`, rounded up
    /// to seconds; dropping the result or the end of backoff does not.
    pub(crate) fn start(life: Duration, work: impl FnOnce() -> Vec<u8>) -> io::Result<Forked> {
        // This process closes the writing end on return, so that the pipe ends with the child.
        let (pipe, writing_end) = pipe()?;
        // `state` does not wait.
        set_nonblocking(&pipe)?;
        // SAFETY: backoff has a single thread, so the child may do whatever backoff may.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(Forked {
                pid: child,
                pipe,
                received: Vec::new(),
            }),
            ForkResult::Child => {
                set_up_child(life, writing_end.as_fd());
                write_answer(writing_end.as_fd(), &work());
                exit_now(0)
            }
        }
    }

    /// Returns the descriptor that is readable once the state may have changed.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Returns true if the child could go on, but has no CPU: then the machine is busy, and nothing hangs. False if the
    /// system does not tell.
    pub(crate) fn awaits_cpu(&self) -> bool {
        is_runnable(self.pid.as_raw())
    }

    /// Reads what the child has written, and returns its state, without waiting. Do not call it again once it has
    /// returned the end, which hands over the answer.
    pub(crate) fn state(&mut self) -> ForkedState {
        let mut chunk = [0; 4096];
        loop {
            match read(&self.pipe, &mut chunk) {
                Ok(0) => return ForkedState::Ended(std::mem::take(&mut self.received)),
                Ok(count) => self.received.extend_from_slice(&chunk[..count]),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return ForkedState::Runs,
                // The rest of the answer cannot be read, now or later.
                Err(_) => return ForkedState::Ended(std::mem::take(&mut self.received)),
            }
        }
    }
}

/// Cuts the new child off from backoff's descriptors, umask and core dumps, and sets a timer that ends it after `life`:
/// a child that hangs must not stay for ever. Only `kept`, the descriptor for the answer, stays open. The child stays
/// in backoff's group and session.
fn set_up_child(life: Duration, kept: BorrowedFd<'_>) {
    close_all_except(kept.as_raw_fd());
    // A message of a panic must not end up in a file of `work`.
    fill_closed_standard();
    // This user gets the rights that `work` asks for, which a umask of 777 would take away; no other user gets any.
    umask(Mode::S_IRWXG | Mode::S_IRWXO);
    // A core would be taken for backoff's or the command's.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    // ALRM of the timer is blocked, and backoff handles or ignores it: here it has to end the process.
    let _ = set_default(Signal::ALRM);
    let mut unblocked = SigSet::empty();
    unblocked.add(nix::sys::signal::Signal::SIGALRM);
    let _ = unblocked.thread_unblock();
    let seconds = life.as_nanos().div_ceil(1_000_000_000);
    // 0 would set no timer.
    alarm::set(u32::try_from(seconds).unwrap_or(u32::MAX).max(1));
}

/// Called in the child: writes all of the answer to the parent. If that fails, as backoff has given up and closed the
/// pipe, or has ended, the answer is dropped. PIPE, which then comes, is blocked.
fn write_answer(pipe: BorrowedFd<'_>, mut answer: &[u8]) {
    while !answer.is_empty() {
        match uninterrupted(|| write(pipe, answer)) {
            Ok(count) => answer = &answer[count..],
            Err(_) => return,
        }
    }
}
