//! Plain writes to the standard descriptors: no buffer, no lock, no panic.

use std::os::fd::{BorrowedFd, RawFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::write;

use super::environment::variable;
use super::fd::ready;

/// Standard output.
pub const OUT: RawFd = 1;
/// Standard error.
pub const ERR: RawFd = 2;

/// One `write(2)` to a standard descriptor, which may be closed.
pub fn write_some(fd: RawFd, bytes: &[u8]) -> nix::Result<usize> {
    // SAFETY: the descriptor is used for this call only; if it is closed, the call says EBADF. All
    // of backoff's own descriptors are above 2, so it cannot be one of those.
    write(unsafe { BorrowedFd::borrow_raw(fd) }, bytes)
}

fn write_all(fd: RawFd, mut bytes: &[u8]) -> nix::Result<()> {
    while !bytes.is_empty() {
        match write_some(fd, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a standard descriptor is a terminal.
pub fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: isatty takes any number and fails where it is no terminal.
    unsafe { nix::libc::isatty(fd) == 1 }
}

/// Whether lines on standard error are to be coloured (no-color.org, bixense.com/clicolors).
pub fn takes_colour() -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|value| value != b"0") {
        return true;
    }
    set("TERM").is_some_and(|term| term != b"dumb") && is_terminal(ERR)
}

/// Whether a descriptor is open.
pub fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes any number and only asks.
    unsafe { nix::libc::fcntl(fd, nix::libc::F_GETFD) >= 0 }
}

/// Whether a write would not wait, as far as `poll(2)` knows.
pub fn has_room(fd: RawFd) -> bool {
    // SAFETY: as in `write_some`; poll says POLLNVAL of a closed descriptor.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    ready(fd, PollFlags::POLLOUT).is_ok_and(|events| !events.is_empty())
}

/// Prints what was asked for (`--help`, `--plan`) on standard output.
pub fn print(text: &[u8]) -> Result<(), String> {
    write_all(OUT, text).map_err(crate::run::text::describe)
}

/// One line on standard error: backoff's own errors. That it cannot be written is no further error.
pub fn complain(line: &str) {
    let _ = write_all(ERR, format!("backoff: {line}\n").as_bytes());
}
