//! A child made by `fork(2)`, exec's errno coming back through a pipe that exec closes.

use std::io::{Read, Write};

use nix::errno::Errno;
use nix::libc;

use super::{Start, become_command};

/// Makes the child and waits until it has become the command or given up.
pub(super) fn spawn(start: &mut Start<'_>) -> Result<libc::pid_t, Errno> {
    let (mut read, mut write) = std::io::pipe().map_err(|_| Errno::last())?;
    // SAFETY: one thread; the child does async-signal-safe calls only.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(Errno::last());
    }
    if pid == 0 {
        // SAFETY: this is the child.
        let errno = unsafe { become_command(start, || ()) };
        let _ = write.write_all(&errno.to_ne_bytes());
        super::super::leave::at_once(127);
    }
    drop(write);
    let mut errno = [0; 4];
    if read.read_exact(&mut errno).is_ok() {
        start.errno = i32::from_ne_bytes(errno);
    }
    Ok(pid)
}
