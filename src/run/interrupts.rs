//! Calls that a signal may interrupt. In this module, as both `budget` and `process` need it.

use nix::errno::Errno;

/// Repeats a call while it is interrupted. Opening a file on FUSE or on a network can be interrupted.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}
