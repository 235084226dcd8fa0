//! What other systems have in place of Linux's own calls, which `linux.rs` explains.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc::{self, siginfo_t};
use nix::poll::{PollFd, PollTimeout};
use nix::sys::signal::Signal;

pub(crate) use process_list::{is_runnable, numbers, program_name, read_process};

#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(not(target_os = "macos"), path = "proc_files.rs")]
mod process_list;

pub(crate) const PATH_ONLY: OFlag = OFlag::O_RDONLY;

pub(crate) fn close_range(_first: RawFd, _last: RawFd) -> bool {
    false
}

/// Polls with a timeout that is rounded up to milliseconds. May return early from a wait of weeks.
pub(crate) fn poll(fds: &mut [PollFd<'_>], left: Option<Duration>) -> nix::Result<i32> {
    let timeout = left.map_or(PollTimeout::NONE, |left| {
        let milliseconds = left.as_nanos().div_ceil(1_000_000);
        PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
    });
    nix::poll::poll(fds, timeout)
}

pub(crate) fn precisely<T>(wait: impl FnOnce() -> T) -> T {
    wait()
}

#[derive(Debug)]
pub(crate) struct Adoption;

impl Adoption {
    pub(crate) fn begin() -> Adoption {
        Adoption
    }
}

pub(crate) fn set_death_signal(_parent: u32, _signal: Signal) -> bool {
    true
}

pub(crate) fn forbid_core() {}

/// The terminal and timers have no sender.
pub(crate) fn is_from_kernel(info: &siginfo_t, sender: libc::pid_t) -> bool {
    const SI_KERNEL: i32 = 0x80;
    info.si_code == SI_KERNEL || sender == 0
}

pub(crate) fn unnamed_file(_directory: &Path, _mode: u32) -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

pub(crate) fn memory_file() -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

pub(crate) fn reopen(_fd: RawFd) -> Option<File> {
    None
}

pub(crate) fn widen_pipe(_pipe: BorrowedFd<'_>, _size: i32) {}

pub(crate) fn duplicate(
    _from: BorrowedFd<'_>,
    _to: BorrowedFd<'_>,
    _unread: usize,
    _most: usize,
) -> nix::Result<usize> {
    Err(Errno::ENOSYS)
}
