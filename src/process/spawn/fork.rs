//! A child made by `fork(2)`, exec's errno coming back through a pipe that exec closes.

use std::io::{Read, Write};
use std::mem::MaybeUninit;

use nix::errno::Errno;
use nix::libc;

use super::crate::process::signals::set_mask;
use super::{Start, become_command};

/// Blocks every signal; gives the mask that was there.
fn block_all() -> libc::sigset_t {
    // SAFETY: the sets are initialised by the calls that fill them.
    unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        let mut before = MaybeUninit::uninit();
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

/// Gives every caught signal its default back, so that one that was blocked until now ends the command.
fn forget_handlers() {
    for signal in 1..32 {
        // SAFETY: sigaction is plain data; both calls are async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}

/// Makes the child and waits until it has become the command or given up.
pub(super) fn spawn(start: &mut Start<'_>) -> Result<libc::pid_t, Errno> {
    let (mut read, mut write) = std::io::pipe().map_err(|_| Errno::last())?;
    // Between fork and exec a signal must wait: backoff's handlers would take it for backoff.
    let mask = block_all();
    // SAFETY: one thread; the child does async-signal-safe calls only.
    let pid = unsafe { libc::fork() };
    if pid != 0 {
        set_mask(&mask);
    }
    if pid < 0 {
        return Err(Errno::last());
    }
    if pid == 0 {
        // SAFETY: this is the child, and all signals are blocked.
        let errno = unsafe { become_command(start, forget_handlers) };
        let _ = write.write_all(&errno.to_ne_bytes());
        crate::process::leave::at_once(127);
    }
    drop(write);
    let mut errno = [0; 4];
    if read.read_exact(&mut errno).is_ok() {
        start.errno = i32::from_ne_bytes(errno);
    }
    Ok(pid)
}
