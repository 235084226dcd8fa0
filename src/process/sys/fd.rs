//! Descriptors: the caller's, and backoff's own, which are close-on-exec and above 2.

use std::fs::{DirEntry, File};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{Mode, SFlag, fstat};

use super::system::{PATH_ONLY, close_range};
use crate::run::uninterrupted;
use crate::text::describe_error;

/// Fills standard descriptors that the caller closed, so that no descriptor of backoff gets their numbers. Fillers can
/// be neither read nor written, and are closed in the command.
pub(crate) fn fill_closed_standard() {
    // open(2) returns the lowest free number.
    while let Ok(fd) = open("/", PATH_ONLY | OFlag::O_CLOEXEC, Mode::empty()) {
        if fd.as_raw_fd() > 2 {
            return;
        }
        // Keeps the filler open.
        let _ = fd.into_raw_fd();
    }
}

/// Closes all descriptors of this process but one, in a forked child that uses no other of backoff's.
pub(crate) fn close_all_except(kept: RawFd) {
    let below = kept.checked_sub(1);
    let has_closed =
        below.is_none_or(|below| close_range(0, below)) && close_range(kept + 1, RawFd::MAX);
    if !has_closed {
        for number in open_numbers() {
            if number != kept {
                // SAFETY: as of `close_range`. Most of the numbers may not be open.
                unsafe { libc::close(number) };
            }
        }
    }
}

/// Returns the numbers of all open descriptors, and maybe others.
fn open_numbers() -> Vec<RawFd> {
    const USUAL_LIMIT: RawFd = 1024;
    match std::fs::read_dir("/dev/fd") {
        Ok(entries) => entries
            .flatten()
            .filter_map(|entry| number_of(&entry))
            .collect(),
        Err(_) => (0..USUAL_LIMIT).collect(),
    }
}

/// Returns the descriptor of an entry of `/dev/fd`.
fn number_of(entry: &DirEntry) -> Option<RawFd> {
    entry.file_name().to_str()?.parse().ok()
}

/// Returns true if the caller left this descriptor open: all of backoff's own are close-on-exec.
pub(crate) fn is_inherited(number: RawFd) -> bool {
    let flags = fcntl(inherited(number), FcntlArg::F_GETFD).map(FdFlag::from_bits_retain);
    flags.is_ok_and(|flags| !flags.contains(FdFlag::FD_CLOEXEC))
}

/// Borrows an inherited descriptor: a standard one, or `/dev/fd/N`.
pub(crate) fn inherited(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: backoff never closes inherited descriptors. If the caller has closed one, calls return EBADF: backoff's
    // own descriptors never have standard numbers.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Creates a pipe. Returns its reading and its writing end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    io::pipe().map(|(read, write)| (read.into(), write.into()))
}

/// Opens `/dev/null` for reading and writing. An error names it.
pub(crate) fn null() -> io::Result<OwnedFd> {
    let opened = File::options().read(true).write(true).open("/dev/null");
    opened.map(OwnedFd::from).map_err(|error| {
        let why = describe_error(&error);
        io::Error::new(error.kind(), format!("/dev/null: {why}"))
    })
}

/// Makes reads and writes return instead of waiting. Only for descriptions of backoff's own, as all holders of a
/// description share the flag.
pub(crate) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Returns the file type of a descriptor.
pub(crate) fn kind(fd: BorrowedFd<'_>) -> nix::Result<SFlag> {
    Ok(SFlag::from_bits_truncate(fstat(fd)?.st_mode) & SFlag::S_IFMT)
}

/// Returns true for a pipe or a socket, to which a write may block, and if the kind is unknown.
pub(crate) fn is_piped(number: RawFd) -> bool {
    kind(inherited(number)).map_or(true, |kind| {
        [SFlag::S_IFIFO, SFlag::S_IFSOCK].contains(&kind)
    })
}

/// Returns true if both descriptors are open and refer to the same file, pipe, socket or device.
pub(crate) fn is_same_file(one: RawFd, other: RawFd) -> bool {
    match (fstat(inherited(one)), fstat(inherited(other))) {
        (Ok(one), Ok(other)) => one.st_dev == other.st_dev && one.st_ino == other.st_ino,
        _ => false,
    }
}

/// Returns the ready events without waiting.
pub(crate) fn ready(fd: BorrowedFd<'_>, wanted: PollFlags) -> nix::Result<PollFlags> {
    let mut fds = [PollFd::new(fd, wanted)];
    uninterrupted(|| poll(&mut fds, PollTimeout::ZERO))?;
    Ok(fds[0].revents().unwrap_or(PollFlags::empty()))
}

/// Returns true if the reader is gone, as far as `poll` can tell without a write.
pub(crate) fn has_lost_its_reader(fd: BorrowedFd<'_>) -> bool {
    ready(fd, PollFlags::empty())
        .is_ok_and(|events| events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP))
}
