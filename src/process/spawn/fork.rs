//! A child made by `fork(2)`, exec's errno coming back through a pipe that exec closes.

use std::fs::File;
use std::io::{Read, Write};

use nix::errno::Errno;
use nix::libc;

use super::in_child::{ChildSetup, become_command};
use crate::policy::signal::Signal;
use crate::process::signals::disposition::{Disposition, disposition, set_default};
use crate::process::sys::current::exit_now;
use crate::process::sys::fd::pipe;

/// Gives every caught signal its default back, so that one that was blocked until now ends the command.
fn forget_handlers() {
    for signal in Signal::all() {
        if disposition(signal.number()) == Disposition::Handled {
            set_default(signal.number());
        }
    }
}

/// Whether the errno of exec is known for certain.
pub(super) fn tells_errno() -> bool {
    true
}

/// Makes the child and waits until it has become the command or given up.
pub(super) fn spawn(setup: &mut ChildSetup<'_>) -> Result<libc::pid_t, Errno> {
    // Above the standard descriptors, which the child sets up: one that the caller closed must stay closed.
    let (read, write) = pipe().map_err(|_| Errno::last())?;
    // SAFETY: the child does async-signal-safe calls only.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(Errno::last());
    }
    if pid == 0 {
        let errno = become_command(setup, forget_handlers);
        let _ = File::from(write).write_all(&errno.to_ne_bytes());
        exit_now(127);
    }
    drop(write);
    let mut errno = [0; 4];
    if File::from(read).read_exact(&mut errno).is_ok() {
        setup.errno = i32::from_ne_bytes(errno);
    }
    Ok(pid)
}
