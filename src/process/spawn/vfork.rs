//! A child that shares the parent's memory until exec, the parent waiting (Linux).

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::libc;

use super::{Start, become_command};

/// The child's stack: enough for its few calls and a signal frame with the largest register state. To map
/// one in for each attempt would take longer than all else that is done here.
static STACK: Mutex<[u128; 4096]> = Mutex::new([0; 4096]);

/// Signals that reached the child between unblocking and exec, by bit.
static RECORDED: AtomicU64 = AtomicU64::new(0);

/// What would stop the child while the parent waits for it, or dump their common memory.
const RECORD: [i32; 4] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU, libc::SIGQUIT];

/// Makes the child and waits until it has become the command or given up.
pub(super) fn spawn(start: &mut Start<'_>) -> Result<libc::pid_t, Errno> {
    let mut stack = STACK.lock().unwrap_or_else(PoisonError::into_inner);
    RECORDED.store(0, Ordering::Relaxed);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child runs on its own stack, whose upper end is aligned as every ABI of Linux asks for; `start`
    // outlives it, as the parent is suspended until the child has executed the command or exited.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.len());
        libc::clone(child, top.cast(), flags, std::ptr::from_mut(start).cast())
    };
    if pid < 0 {
        return Err(Errno::last());
    }
    if start.errno == 0 {
        let recorded = RECORDED.load(Ordering::Relaxed);
        for signal in RECORD.into_iter().filter(|signal| recorded & 1 << signal != 0) {
            // SAFETY: the child is not reaped, so the number is its own.
            unsafe {
                libc::kill(pid, signal);
            }
        }
    }
    Ok(pid)
}

extern "C" fn child(start: *mut c_void) -> i32 {
    // SAFETY: `spawn` passed a valid Start that nobody else uses meanwhile.
    let start = unsafe { &mut *start.cast::<Start<'_>>() };
    // SAFETY: this is that child, and backoff blocks all signals.
    start.errno = unsafe { become_command(start, record_what_would_stop) };
    // SAFETY: ends the child without running the parent's exit handlers.
    unsafe { libc::_exit(127) }
}

extern "C" fn record(signal: i32) {
    RECORDED.fetch_or(1 << signal, Ordering::Relaxed);
}

/// Installs the recorder where the caller had the default. Dispositions are not shared with the
/// parent, and exec makes a handler the default again.
fn record_what_would_stop() {
    for signal in RECORD {
        // SAFETY: sigaction is plain data; `record` does one atomic operation.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if action.sa_sigaction == libc::SIG_DFL {
                action.sa_sigaction = record as *const () as libc::sighandler_t;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    }
}
