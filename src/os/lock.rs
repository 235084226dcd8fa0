//! Locks on open files, as `flock(2)` has them.

use std::fs::File;
use std::ops::Deref;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::libc;

/// A file that nobody else has locked, for as long as this lives. nix has the same, but panics where a file system
/// refuses to unlock.
#[derive(Debug)]
pub struct Locked(File);

impl Locked {
    /// Waits until nobody else has it locked.
    pub fn new(file: File) -> nix::Result<Locked> {
        loop {
            match flock(&file, libc::LOCK_EX) {
                Ok(()) => return Ok(Locked(file)),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // At the latest it ends with the last copy of the descriptor, which a child has until exec.
        let _ = flock(&self.0, libc::LOCK_UN);
    }
}

fn flock(file: &File, operation: libc::c_int) -> nix::Result<()> {
    // SAFETY: an open descriptor and a number.
    Errno::result(unsafe { libc::flock(file.as_raw_fd(), operation) }).map(drop)
}
