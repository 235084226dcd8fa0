//! Descriptors: the caller's, and backoff's own, which are close-on-exec and above 2.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{Mode, SFlag, fstat};

use super::native;

/// Fills the standard descriptors that the caller closed. No descriptor of backoff's gets their numbers then; they can be
/// neither read nor written, and the command finds them closed.
pub(crate) fn fill_closed_standard() {
    let flags = native::PATH_ONLY | OFlag::O_CLOEXEC;
    while let Ok(fd) = open("/", flags, Mode::empty()) {
        if fd.as_raw_fd() > 2 {
            return;
        }
        let _ = fd.into_raw_fd();
    }
}

/// Returns true if the caller has left a descriptor open.
pub(crate) fn is_open(number: RawFd) -> bool {
    let flags = fcntl(inherited(number), FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
    let is_filled = |flags: OFlag| number <= 2 && flags.intersects(native::PATH_ONLY);
    flags.is_ok_and(|flags| !is_filled(flags))
}

/// Returns a descriptor that backoff was given: a standard one, or one that `/dev/fd/N` names.
pub(crate) fn inherited(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: backoff never closes what it was given. If the caller has closed it, calls say EBADF: none of backoff's
    // own descriptors has a standard one's number.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Copies a standard descriptor.
pub(crate) fn duplicate(standard: RawFd) -> io::Result<OwnedFd> {
    inherited(standard).try_clone_to_owned()
}

/// Creates a pipe: its reading and its writing end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}

/// Opens `/dev/null` for reading and writing.
pub(crate) fn null() -> io::Result<OwnedFd> {
    Ok(File::options().read(true).write(true).open("/dev/null")?.into())
}

/// Makes reads and writes through this end return instead of waiting. Only for descriptions that are
/// backoff's own: the flag is shared by all who hold the description.
pub(crate) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Has each write go to the end of the file, whoever else writes.
pub(crate) fn set_append(file: &File) -> io::Result<()> {
    fcntl(file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    Ok(())
}

/// Returns the type of what a descriptor leads to; empty if it is closed.
pub(super) fn kind(number: RawFd) -> SFlag {
    let facts = fstat(inherited(number));
    facts.map_or(SFlag::empty(), |facts| {
        SFlag::from_bits_truncate(facts.st_mode) & SFlag::S_IFMT
    })
}

/// Returns true for a file or block device: a write takes no longer than the disk.
pub(crate) fn is_file(number: RawFd) -> bool {
    [SFlag::S_IFREG, SFlag::S_IFBLK].contains(&kind(number))
}

/// Returns true for a pipe or a socket.
pub(crate) fn is_piped(number: RawFd) -> bool {
    [SFlag::S_IFIFO, SFlag::S_IFSOCK].contains(&kind(number))
}

/// Returns true if two descriptors are open and lead to the same file, pipe, socket or device.
pub(crate) fn is_same_file(one: RawFd, other: RawFd) -> bool {
    let place = |number| fstat(inherited(number)).ok().map(|facts| (facts.st_dev, facts.st_ino));
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// Translates an error of the other library.
pub(crate) fn to_nix(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}

/// Returns what is ready now, without waiting.
pub(crate) fn ready(fd: BorrowedFd<'_>, wanted: PollFlags) -> nix::Result<PollFlags> {
    let mut fds = [PollFd::new(fd, wanted)];
    match poll(&mut fds, PollTimeout::ZERO) {
        Ok(_) => Ok(fds[0].revents().unwrap_or(PollFlags::empty())),
        Err(Errno::EINTR) => Ok(PollFlags::empty()),
        Err(errno) => Err(errno),
    }
}

/// Returns true if the reader is gone, as far as that can be known without writing.
pub(crate) fn has_lost_its_reader(fd: BorrowedFd<'_>) -> bool {
    ready(fd, PollFlags::empty()).is_ok_and(|events| events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP))
}

/// Calls again what was interrupted. Opening can be, on a file system in user space or on a network.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}
