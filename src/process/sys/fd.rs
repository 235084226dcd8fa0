//! Descriptors. The command inherits the caller's. backoff's own are close-on-exec and above 2, so the command gets
//! none of them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::libc;
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{SockType, UnixAddr, getpeername, getsockopt, sockopt};
use nix::sys::stat::{Mode, SFlag, fstat};

use super::system::{PATH_ONLY, poll_now};
use crate::run::uninterrupted;
use crate::text::describe_error;

/// Fills standard descriptors that the caller closed, so that no file of backoff gets their numbers and receives
/// messages. Fillers can be neither read nor written. Exec closes them, so the command finds its descriptors closed, as
/// without backoff. Open descriptors are not changed. If `/` cannot be opened, closed ones remain closed.
pub(crate) fn fill_closed_standard() {
    // open(2) returns the lowest free number. If that is above 2, no standard descriptor is free.
    while let Ok(fd) = open("/", PATH_ONLY | OFlag::O_CLOEXEC, Mode::empty()) {
        if fd.as_raw_fd() > 2 {
            return;
        }
        // Keep the filler open.
        let _ = fd.into_raw_fd();
    }
}

/// Returns true if the caller left this descriptor open. backoff's own, which do not concern the user, are all
/// close-on-exec.
pub(crate) fn is_inherited(number: RawFd) -> bool {
    let flags = fcntl(inherited(number), FcntlArg::F_GETFD).map(FdFlag::from_bits_retain);
    flags.is_ok_and(|flags| !flags.contains(FdFlag::FD_CLOEXEC))
}

/// Borrows an inherited descriptor, either a standard one or `/dev/fd/N`.
pub(crate) fn inherited(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: backoff never closes inherited descriptors. If the caller has closed one, calls return EBADF, as
    // backoff's own descriptors never have standard numbers.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Creates a pipe. Returns its read end and its write end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    io::pipe().map(|(read, write)| (read.into(), write.into()))
}

/// Opens `/dev/null` for reading and writing. Errors name it, as callers' messages do not.
pub(crate) fn null() -> io::Result<OwnedFd> {
    let opened = File::options().read(true).write(true).open("/dev/null");
    opened.map(OwnedFd::from).map_err(|error| {
        let why = describe_error(&error);
        io::Error::new(error.kind(), format!("/dev/null: {why}"))
    })
}

/// Makes reads and writes return instead of waiting. Only for backoff's own descriptions, as all holders of a
/// description share the flag. Clears the other flags (O_APPEND).
pub(crate) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Returns the file type of a descriptor.
pub(crate) fn kind(fd: BorrowedFd<'_>) -> nix::Result<SFlag> {
    Ok(SFlag::from_bits_truncate(fstat(fd)?.st_mode) & SFlag::S_IFMT)
}

/// Returns true for a pipe or socket, to which a write may block. Also returns true if the kind is unknown.
pub(crate) fn is_piped(number: RawFd) -> bool {
    kind(inherited(number)).map_or(true, |kind| {
        [SFlag::S_IFIFO, SFlag::S_IFSOCK].contains(&kind)
    })
}

/// Returns true for a connected Unix socket that carries a stream of bytes.
pub(crate) fn is_unix_stream(socket: BorrowedFd<'_>) -> bool {
    getpeername::<UnixAddr>(socket.as_raw_fd()).is_ok()
        && getsockopt(&socket, sockopt::SockType) == Ok(SockType::Stream)
}

/// Returns whether a descriptor is open for reading (`O_RDONLY`), writing (`O_WRONLY`) or both (`O_RDWR`).
pub(crate) fn access_mode(fd: BorrowedFd<'_>) -> nix::Result<OFlag> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    Ok(flags & OFlag::O_ACCMODE)
}

/// Returns true if both descriptors refer to the same file, pipe, socket or device. They may share one open file
/// description (`2>&1`) or have two, which the system does not tell apart. Two that the caller has closed have the same
/// filler.
pub(crate) fn is_same_file(first: RawFd, second: RawFd) -> bool {
    match (fstat(inherited(first)), fstat(inherited(second))) {
        (Ok(first), Ok(second)) => first.st_dev == second.st_dev && first.st_ino == second.st_ino,
        _ => false,
    }
}

/// Opens a pipe or terminal for writing, as a new description. It is non-blocking, which the caller's must not become
/// because others share it. Opening therefore fails for a pipe without a reader. A terminal does not become the
/// controlling one.
pub(super) fn open_for_output(path: impl AsRef<Path>) -> io::Result<File> {
    File::options()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
}

/// Polls a descriptor without waiting. Returns the wanted events that are ready, plus errors and hang-ups, which `poll`
/// always reports. Empty if there are none.
pub(crate) fn ready(fd: BorrowedFd<'_>, wanted: PollFlags) -> nix::Result<PollFlags> {
    let mut fds = [PollFd::new(fd, wanted)];
    uninterrupted(|| poll_now(&mut fds))?;
    Ok(fds[0].revents().unwrap_or(PollFlags::empty()))
}

nix::ioctl_read_bad!(fionread, libc::FIONREAD, libc::c_int);

/// Returns how many unread bytes are in a pipe. Returns an error if the system cannot count them (not a pipe, a
/// sandbox).
pub(crate) fn unread(pipe: impl AsFd) -> nix::Result<usize> {
    let mut count = 0;
    // SAFETY: the call writes one integer.
    unsafe { fionread(pipe.as_fd().as_raw_fd(), &raw mut count) }?;
    // Never negative.
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns true if the reader of a pipe or socket is gone, as far as `poll` can tell without a write. Also returns true
/// for a terminal that has hung up.
pub(crate) fn has_lost_its_reader(fd: BorrowedFd<'_>) -> bool {
    // macOS reports nothing unless an event is wanted.
    ready(fd, PollFlags::POLLOUT)
        .is_ok_and(|events| events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_reader_is_seen_and_a_full_pipe_is_none() {
        let (reader, writer) = pipe().unwrap();
        assert!(!has_lost_its_reader(writer.as_fd()));
        set_nonblocking(&writer).unwrap();
        while nix::unistd::write(&writer, &[0; 512]).is_ok() {}
        assert!(!has_lost_its_reader(writer.as_fd()));
        drop(reader);
        // A child forked by another test also has the reader, until it runs its program.
        let mut fds = [PollFd::new(writer.as_fd(), PollFlags::POLLOUT)];
        nix::poll::poll(&mut fds, 60_000_u16).unwrap();
        assert!(has_lost_its_reader(writer.as_fd()));
    }
}
