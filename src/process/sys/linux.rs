//! Calls that only Linux has, or has in its own way. `other.rs` has the same functions for other systems, some without
//! effect. Their contracts are here.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::parent_id;
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, tee};
use nix::libc::{self, siginfo_t};
use nix::poll::{PollFd, PollTimeout};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::socket::{MsgFlags, recv};
use nix::sys::stat::{SFlag, fstat, major};
use nix::sys::time::TimeSpec;
use nix::unistd::write;

use super::fd::{inherited, kind, open_for_output};
use crate::run::uninterrupted;

/// Opens a location only, which can be neither read nor written.
pub(crate) const PATH_ONLY: OFlag = OFlag::O_PATH;

/// Polls with a timeout in nanoseconds.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> nix::Result<i32> {
    nix::poll::ppoll(fds, timeout.map(TimeSpec::from_duration), None)
}

pub(crate) fn poll_now(fds: &mut [PollFd<'_>]) -> nix::Result<i32> {
    nix::poll::poll(fds, PollTimeout::ZERO)
}

/// Makes the kernel send the calling child `signal` when backoff dies, even of SIGKILL, so that the command does not
/// run on alone. Returns false if backoff (`parent`) has already died, so that no signal will come. Other systems send
/// nothing, and neither does Linux once the command has executed a set-user-ID program.
pub(crate) fn set_death_signal(parent: u32, signal: Signal) -> bool {
    let _ = prctl::set_pdeathsig(signal);
    // The parent's PID is 0 if backoff is outside the child's PID namespace.
    [0, parent].contains(&parent_id())
}

/// Prevents a core dump to a program named in core_pattern, which would get one in spite of the limit.
pub(crate) fn forbid_core() {
    let _ = prctl::set_dumpable(false);
}

/// Returns true if the kernel itself sent a signal (the terminal, a timer), and not a process.
pub(crate) fn is_from_kernel(info: &siginfo_t) -> bool {
    info.si_code == libc::SI_KERNEL
}

pub(crate) fn memory_file() -> io::Result<File> {
    let fd = memfd_create(c"backoff", MFdFlags::MFD_CLOEXEC)?;
    Ok(File::from(fd))
}

/// Reopens the caller's pipe or terminal for writing, as a non-blocking description of our own. `fd` must not be a
/// file, which would get an offset of its own. The caller's must not become non-blocking, as other processes share it.
/// Returns None if the system does not allow it (a socket, a lost reader), or if the name would not lead to the same
/// terminal. Writes must then take care not to block.
pub(crate) fn reopen_for_output(fd: RawFd) -> Option<File> {
    // See Linux's devices.txt. `/dev/tty` depends on the process, and `/dev/ptmx` creates a new terminal.
    const MAJOR_OF_ALIASES: u64 = 5;
    if major(fstat(inherited(fd)).ok()?.st_rdev) == MAJOR_OF_ALIASES {
        return None;
    }
    open_for_output(format!("/proc/self/fd/{fd}")).ok()
}

/// Widens a pipe to `size` bytes, unless it is already as wide. Has no effect if the user's limit is reached.
pub(crate) fn widen_pipe(pipe: BorrowedFd<'_>, size: i32) {
    if fcntl(pipe, FcntlArg::F_GETPIPE_SZ).is_ok_and(|before| before < size) {
        let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(size));
    }
}

/// Duplicates at most `limit` bytes at the head of `source`, a pipe or Unix socket, into the empty pipe `target`. Does
/// not block or consume them. Returns how many. 0 means that the source has ended, EAGAIN that it has none now, and
/// EPIPE that the target has no reader. Any other error counts as a system that cannot duplicate (ENOSYS).
pub(crate) fn duplicate(
    source: BorrowedFd<'_>,
    target: BorrowedFd<'_>,
    limit: usize,
) -> nix::Result<usize> {
    if kind(source)? == SFlag::S_IFSOCK {
        return peek(source, target, limit);
    }
    uninterrupted(|| tee(source, target, limit, SpliceFFlags::SPLICE_F_NONBLOCK))
}

/// Does the same for a socket.
fn peek(source: BorrowedFd<'_>, target: BorrowedFd<'_>, limit: usize) -> nix::Result<usize> {
    let mut chunk = vec![0; limit];
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    let count = uninterrupted(|| recv(source.as_raw_fd(), &mut chunk, flags))?;
    if count == 0 {
        return Ok(0);
    }
    uninterrupted(|| write(target, &chunk[..count]))
}
