//! A child made by `fork(2)`, exec's errno coming back through a pipe that exec closes.

use std::io::{Read, Write};

use nix::errno::Errno;
use nix::libc;

use super::in_child::{ChildSetup, become_command};
use crate::process::signals::disposition::{Disposition, disposition, set_default};
use crate::process::signals::mask::Mask;
use crate::process::sys::current::exit_now;

/// Gives every caught signal its default back, so that one that was blocked until now ends the command.
fn forget_handlers() {
    for signal in 1..32 {
        if disposition(signal) == Disposition::Handled {
            set_default(signal);
        }
    }
}

/// Whether the errno of exec is known for certain.
pub(super) fn tells_errno() -> bool {
    true
}

/// Makes the child and waits until it has become the command or given up.
pub(super) fn spawn(setup: &mut ChildSetup<'_>) -> Result<libc::pid_t, Errno> {
    let (mut read, mut write) = std::io::pipe().map_err(|_| Errno::last())?;
    // Between fork and exec a signal must wait: backoff's handlers would take it for backoff.
    let mask = Mask::all().set().map_err(|_| Errno::last())?;
    // SAFETY: one thread; the child does async-signal-safe calls only.
    let pid = unsafe { libc::fork() };
    if pid != 0 {
        let _ = mask.set();
    }
    if pid < 0 {
        return Err(Errno::last());
    }
    if pid == 0 {
        let errno = become_command(setup, forget_handlers);
        let _ = write.write_all(&errno.to_ne_bytes());
        exit_now(127);
    }
    drop(write);
    let mut errno = [0; 4];
    if read.read_exact(&mut errno).is_ok() {
        setup.errno = i32::from_ne_bytes(errno);
    }
    Ok(pid)
}
