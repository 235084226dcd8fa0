//! Replacements of Linux-only calls for other systems.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::{PollFd, PollTimeout};
use nix::sys::signal::Signal;

pub(crate) const PATH_ONLY: OFlag = OFlag::O_RDONLY;

pub(crate) fn open_anew(_number: RawFd, _options: &mut OpenOptions) -> Option<OwnedFd> {
    None
}

pub(crate) fn set_pipe_size(_pipe: impl AsFd, _bytes: usize) -> Option<usize> {
    None
}

pub(crate) fn widen_pipe(_pipe: impl AsFd, _bytes: usize) {}

pub(crate) fn tee(_from: impl AsFd, _to: impl AsFd, _bytes: usize) -> Result<usize, Errno> {
    Err(Errno::ENOSYS)
}

/// Creates a file in the temporary directory, or in `/tmp`, in place of a file in memory.
pub(crate) fn memory_file() -> io::Result<File> {
    tempfile::tempfile().or_else(|error| tempfile::tempfile_in("/tmp").map_err(|_| error))
}

pub(crate) fn poll(fds: &mut [PollFd<'_>], left: Option<Duration>) -> nix::Result<i32> {
    let timeout = left.map_or(PollTimeout::NONE, |left| {
        PollTimeout::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
    });
    nix::poll::poll(fds, timeout)
}

pub(crate) fn set_timer_slack(_nanoseconds: libc::c_ulong) -> libc::c_ulong {
    0
}

pub(crate) fn forbid_core() {}

pub(crate) fn is_from_kernel(_code: i32, sender: libc::pid_t) -> bool {
    sender == 0
}

pub(crate) const CHILD_SHARES_MEMORY: bool = false;

/// Creates a child by `fork(2)`. `work` does not return.
pub(crate) fn make_child(work: &mut dyn FnMut()) -> nix::Result<libc::pid_t> {
    // SAFETY: the child makes async-signal-safe calls only.
    let pid = Errno::result(unsafe { libc::fork() })?;
    if pid == 0 {
        work();
    }
    Ok(pid)
}

pub(crate) fn follow_parent(_parent: u32, _signal: Signal) -> bool {
    true
}
