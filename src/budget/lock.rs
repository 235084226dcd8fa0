//! Locks on open files, as `flock(2)` has them.

use std::fs::File;
use std::io;
use std::ops::Deref;

use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;

/// A file that nobody else has locked, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Locked {
    /// Waits until nobody else has it locked.
    pub(crate) fn new(file: File) -> io::Result<Locked> {
        retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
        Ok(Locked(file))
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
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}
