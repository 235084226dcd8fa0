//! Replacements for Linux's own calls on other systems. `linux.rs` documents them.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc::{self, siginfo_t};
use nix::poll::{PollFd, PollTimeout};
use nix::sys::signal::Signal;
use nix::unistd::ttyname;

use super::fd::{inherited, open_for_output};
use super::tty::{controlling, has_foreground};

pub(crate) const PATH_ONLY: OFlag = OFlag::O_RDONLY;

/// Polls with a timeout rounded up to milliseconds. Returns how many descriptors have events, or 0 once the time is up.
/// May return early from a wait of weeks, which the caller then repeats.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> nix::Result<i32> {
    nix::poll::poll(fds, in_milliseconds(timeout))
}

/// Converts a timeout to milliseconds. Rounds up, as a wait that ended early would be repeated again and again without
/// sleep. None waits without limit. A timeout that is too long becomes the longest that `poll` takes, about 25 days.
fn in_milliseconds(timeout: Option<Duration>) -> PollTimeout {
    timeout.map_or(PollTimeout::NONE, |timeout| {
        let milliseconds = timeout.as_nanos().div_ceil(1_000_000);
        PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
    })
}

pub(crate) fn poll_now(fds: &mut [PollFd<'_>]) -> nix::Result<i32> {
    poll(fds, Some(Duration::ZERO))
}

/// There is no such signal. If SIGKILL kills backoff, the command runs on.
pub(crate) fn set_death_signal(_parent: u32, _signal: Signal) -> bool {
    true
}

/// There is no such setting. The limit on the size of a core must do.
pub(crate) fn forbid_core() {}

/// macOS does not tell. A signal that keys or a resize cause counts as the terminal's if backoff is in its foreground.
pub(crate) fn is_from_kernel(info: &siginfo_t) -> bool {
    let of_keys = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGWINCH];
    of_keys.contains(&info.si_signo) && controlling().is_ok_and(has_foreground)
}

/// There are no in-memory files.
pub(crate) fn memory_file() -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

/// Reopens a terminal for writing, as a non-blocking description of our own, because others share the caller's. Returns
/// None if that cannot be done, and writes must then take care not to block. That is always so for a pipe, which has no
/// name to open. Opening `/dev/fd/N` would return the same description.
pub(crate) fn reopen_for_output(fd: RawFd) -> Option<File> {
    let name = ttyname(inherited(fd)).ok()?;
    // `/dev/tty` depends on the process, and macOS cannot poll it. `/dev/ptmx` creates a new terminal.
    if ["tty", "ptmx"].iter().any(|alias| name.ends_with(alias)) {
        return None;
    }
    open_for_output(name).ok()
}

/// There is no such call, so pipes are not changed.
pub(crate) fn widen_pipe(_pipe: BorrowedFd<'_>, _size: i32) {}

/// There is no `tee(2)`. The caller reads input ahead of the command instead.
pub(crate) fn duplicate(
    _source: BorrowedFd<'_>,
    _target: BorrowedFd<'_>,
    _limit: usize,
) -> nix::Result<usize> {
    Err(Errno::ENOSYS)
}
