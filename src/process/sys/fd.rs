//! Descriptors: the caller's, and backoff's own, which are close-on-exec and above 2.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;

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

/// A pipe: its reading and its writing end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}

/// Makes reads and writes through this end return instead of waiting. Only for descriptions that are
/// backoff's own: the flag is shared by all who hold the description.
pub(crate) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// A description of our own, non-blocking, of a pipe or terminal that was given; None where the system has no such thing, or
/// it is not allowed.
pub(crate) fn open_anew(number: RawFd, options: &mut OpenOptions) -> Option<OwnedFd> {
    if !native::REOPENS_DESCRIPTORS || !is_the_same_when_opened(number) {
        return None;
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = options
        .custom_flags(flags.bits())
        .open(format!("/proc/self/fd/{number}"));
    Some(file.ok()?.into())
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
    Ok(file.into())
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

/// Returns true if the caller has left a descriptor open.
pub(crate) fn is_open(number: RawFd) -> bool {
    let flags = fcntl(inherited(number), FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
    let is_filled = |flags: OFlag| number <= 2 && flags.intersects(native::PATH_ONLY);
    flags.is_ok_and(|flags| !is_filled(flags))
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

/// Calls again what was interrupted. Opening can be, on a file system in user space or on a network.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}
