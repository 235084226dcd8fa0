//! Calls that only Linux has. `elsewhere.rs` has the same functions for other systems.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::{SFlag, fstat, major};
use rustix::pipe::SpliceFlags;

use super::fd::{inherited, kind, to_nix};

/// Opens a file or directory for nothing but its place in the tree: it can be neither read nor written.
pub(crate) const PATH_ONLY: OFlag = OFlag::O_PATH;

/// Opens a pipe or terminal that was given once more, for a non-blocking description of our own. Returns `None` if that is
/// not possible or not allowed.
pub(crate) fn open_anew(number: RawFd, options: &mut OpenOptions) -> Option<OwnedFd> {
    if !is_the_same_when_opened(number) {
        return None;
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let path = format!("/proc/self/fd/{number}");
    Some(options.custom_flags(flags.bits()).open(path).ok()?.into())
}

/// Returns true if opening it again gives the same pipe or device: `/dev/tty` belongs to the process that opens it,
/// `/dev/ptmx` is a new terminal each time, and other devices may do anything.
fn is_the_same_when_opened(number: RawFd) -> bool {
    // See devices.txt of Linux: memory (null, zero, full), and those with a meaning of their own (tty, console, ptmx).
    const MEMORY: u64 = 1;
    const ALIASES: u64 = 5;
    let device = || fstat(inherited(number)).map_or(ALIASES, |facts| major(facts.st_rdev));
    match kind(number) {
        SFlag::S_IFIFO => true,
        SFlag::S_IFCHR => match device() {
            MEMORY => true,
            ALIASES => false,
            _ => inherited(number).is_terminal(),
        },
        _ => false,
    }
}

/// Sets how many bytes a pipe holds. Returns the new size, or `None` if it was refused, as if the user has too many pipes.
pub(crate) fn set_pipe_size(pipe: impl AsFd, bytes: usize) -> Option<usize> {
    let size = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(i32::try_from(bytes).ok()?));
    usize::try_from(size.ok()?).ok()
}

/// Makes a pipe hold at least so many bytes, unless that is refused.
pub(crate) fn widen_pipe(pipe: impl AsFd, bytes: usize) {
    let size = fcntl(&pipe, FcntlArg::F_GETPIPE_SZ).map(usize::try_from);
    if matches!(size, Ok(Ok(size)) if size < bytes) {
        set_pipe_size(pipe, bytes);
    }
}

/// Duplicates at most so many bytes at the head of a pipe into another, without blocking.
pub(crate) fn tee(from: impl AsFd, to: impl AsFd, bytes: usize) -> Result<usize, Errno> {
    rustix::pipe::tee(from, to, bytes, SpliceFlags::NONBLOCK).map_err(to_nix)
}

/// Creates a file that takes no room on any disk.
pub(crate) fn memory_file() -> io::Result<File> {
    let fd = memfd_create(c"backoff", MFdFlags::MFD_CLOEXEC);
    fd.map(File::from).or_else(|_| tempfile::tempfile())
}
