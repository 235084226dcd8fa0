//! Descriptors of backoff's own: close-on-exec, and above 2, since a standard descriptor that the
//! caller closed must stay closed.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Moves a descriptor above 2, if it is not there.
pub(crate) fn above_standard(fd: OwnedFd) -> io::Result<OwnedFd> {
    // A clone is close-on-exec and above 2 by itself.
    if fd.as_raw_fd() > 2 { Ok(fd) } else { fd.try_clone() }
}

/// A pipe: its reading and its writing end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((above_standard(read.into())?, above_standard(write.into())?))
}

/// Makes reads and writes through this end return instead of waiting. Only for descriptions that are
/// backoff's own: the flag is shared by all who hold the description.
pub(crate) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    nix::fcntl::fcntl(fd, nix::fcntl::FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// A description of our own, non-blocking, of a pipe or terminal that was given; None where the system has no such thing, or
/// it is not allowed.
pub(crate) fn open_anew(number: RawFd, options: &mut OpenOptions) -> Option<OwnedFd> {
    if cfg!(portable) || !is_the_same_when_opened(number) {
        return None;
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = options
        .custom_flags(flags.bits())
        .open(format!("/proc/self/fd/{number}"));
    above_standard(file.ok()?.into()).ok()
}

/// Whether opening it again gives the same pipe or device: `/dev/tty` is whose it is that opens it, `/dev/ptmx` a new
/// terminal each time, and what else a device does then nobody knows.
fn is_the_same_when_opened(number: RawFd) -> bool {
    use rustix::fs::{FileType, fstat, major};
    // See devices.txt of Linux: memory (null, zero, full), and those with a meaning of their own (tty, console, ptmx).
    const MEMORY: u32 = 1;
    const ALIASES: u32 = 5;
    let fd = inherited(number);
    let Ok(facts) = fstat(fd) else { return false };
    match (FileType::from_raw_mode(facts.st_mode), major(facts.st_rdev)) {
        (FileType::Fifo, _) | (FileType::CharacterDevice, MEMORY) => true,
        (FileType::CharacterDevice, ALIASES) => false,
        (FileType::CharacterDevice, _) => rustix::termios::isatty(fd),
        _ => false,
    }
}

/// `/dev/null`, for reading and writing.
pub(crate) fn null() -> io::Result<OwnedFd> {
    let file = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    above_standard(file.into())
}

/// A descriptor that backoff was given: a standard one, or one that `/dev/fd/N` names.
pub(crate) fn inherited(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: backoff never closes what it was given. If the caller has closed it, calls say EBADF: none of backoff's
    // own descriptors has a standard one's number.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// A copy of a standard descriptor, above 2 and close-on-exec.
pub(crate) fn duplicate(standard: RawFd) -> io::Result<OwnedFd> {
    inherited(standard).try_clone_to_owned()
}

/// Whether a descriptor is open.
pub(crate) fn is_open(number: RawFd) -> bool {
    rustix::io::fcntl_getfd(inherited(number)).is_ok()
}

/// Whether two descriptors are open and lead to the same file, pipe, socket or device.
pub(crate) fn is_same_file(one: RawFd, other: RawFd) -> bool {
    let place = |number| {
        rustix::fs::fstat(inherited(number))
            .ok()
            .map(|facts| (facts.st_dev, facts.st_ino))
    };
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// The same error in the words of the other library.
pub(crate) fn to_nix(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}

/// What is ready now, without waiting.
pub(crate) fn ready(fd: BorrowedFd<'_>, wanted: PollFlags) -> nix::Result<PollFlags> {
    let mut fds = [PollFd::new(fd, wanted)];
    match poll(&mut fds, PollTimeout::ZERO) {
        Ok(_) => Ok(fds[0].revents().unwrap_or(PollFlags::empty())),
        Err(Errno::EINTR) => Ok(PollFlags::empty()),
        Err(errno) => Err(errno),
    }
}

/// Whether whoever would read this is gone, as far as that can be known without writing.
pub(crate) fn has_lost_its_reader(fd: BorrowedFd<'_>) -> bool {
    ready(fd, PollFlags::empty()).is_ok_and(|events| events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP))
}

/// Sets how much a pipe holds, in bytes, and gives what it holds now; None if that is refused, as where the user has
/// too many pipes, or is not to be had.
pub(crate) fn set_pipe_size(pipe: impl AsFd, bytes: usize) -> Option<usize> {
    #[cfg(not(portable))]
    {
        let size = nix::fcntl::FcntlArg::F_SETPIPE_SZ(i32::try_from(bytes).ok()?);
        usize::try_from(nix::fcntl::fcntl(pipe, size).ok()?).ok()
    }
    #[cfg(portable)]
    {
        let _ = (pipe, bytes);
        None
    }
}

/// Makes a pipe hold at least so many bytes; whether it does. Where that is refused, or is not to be had, it stays as it
/// is.
pub(crate) fn widen_pipe(pipe: impl AsFd, bytes: usize) -> bool {
    #[cfg(not(portable))]
    {
        let size = nix::fcntl::fcntl(pipe.as_fd(), nix::fcntl::FcntlArg::F_GETPIPE_SZ);
        let size = size.ok().and_then(|size| usize::try_from(size).ok());
        size.is_some_and(|size| size >= bytes || set_pipe_size(pipe, bytes).is_some())
    }
    #[cfg(portable)]
    {
        let _ = (pipe, bytes);
        false
    }
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
