//! Plain writes to the standard descriptors: no buffer, no lock, no panic.

use std::os::fd::{BorrowedFd, RawFd};

use nix::errno::Errno;
use nix::unistd::write;

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

/// Prints what was asked for (`--help`, `--plan`) on standard output.
pub fn print(text: &[u8]) -> Result<(), String> {
    write_all(OUT, text).map_err(super::describe)
}

/// One line on standard error: backoff's own errors. That it cannot be written is no further error.
pub fn complain(line: &str) {
    let _ = write_all(ERR, format!("backoff: {line}\n").as_bytes());
}
