//! Answers to the calls that only Linux has, for other systems.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::OFlag;

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

/// Creates a file in a temporary directory; in memory it would need none, so another one will do.
pub(crate) fn memory_file() -> io::Result<File> {
    tempfile::tempfile().or_else(|error| tempfile::tempfile_in("/tmp").map_err(|_| error))
}
