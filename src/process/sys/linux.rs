//! Calls that only Linux has. `elsewhere.rs` has the same functions for other systems.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use rustix::pipe::SpliceFlags;

use super::fd::to_nix;

/// Opens a file or directory for nothing but its place in the tree: it can be neither read nor written.
pub(crate) const PATH_ONLY: OFlag = OFlag::O_PATH;

/// Opening `/proc/self/fd/N` gives a description of our own.
pub(crate) const REOPENS_DESCRIPTORS: bool = true;

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
