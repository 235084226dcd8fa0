//! A child that shares the parent's memory until exec, the parent waiting (Linux).

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{ptr, slice};

use nix::errno::Errno;
use nix::libc;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use super::in_child::{ChildSetup, become_command};
use crate::policy::signal::Signal;
use crate::process::signals::disposition::{Disposition, disposition, handle};
use crate::process::sys::current::{Target, exit_now, send};
use crate::process::sys::fd::to_nix;

/// The child's stack, mapped in by the first attempt: to do so for each would take longer than all else that is done here,
/// and as a part of the program it would lie between variables that otherwise share a page.
static STACK: Mutex<&mut [u128]> = Mutex::new(&mut []);

/// Bytes: enough for its few calls and a signal frame with the largest register state.
const STACK_SIZE: usize = 64 * 1024;

/// Signals that reached the child between unblocking and exec, by bit.
static RECORDED: AtomicU64 = AtomicU64::new(0);

/// Set by a child. An emulator (qemu-user, valgrind) makes a copy of the parent instead, whose errno nobody sees.
static SHARES_MEMORY: AtomicBool = AtomicBool::new(false);

/// What would stop the child while the parent waits for it, or dump their common memory.
const RECORD: [Signal; 4] = [Signal::TSTP, Signal::TTIN, Signal::TTOU, Signal::QUIT];

/// Makes the child and waits until it has become the command or given up.
pub(super) fn spawn(setup: &mut ChildSetup<'_>) -> Result<libc::pid_t, Errno> {
    let mut stack = STACK.lock().unwrap_or_else(PoisonError::into_inner);
    if stack.is_empty() {
        *stack = new_stack()?;
    }
    RECORDED.store(0, Ordering::Relaxed);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child runs on its own stack, whose upper end is aligned as every ABI of Linux asks for; `setup`
    // outlives it, as the parent is suspended until the child has executed the command or exited.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.len());
        libc::clone(child, top.cast(), flags, ptr::from_mut(setup).cast())
    };
    if pid < 0 {
        return Err(Errno::last());
    }
    if setup.errno == 0 {
        let recorded = RECORDED.load(Ordering::Relaxed);
        for signal in RECORD {
            if recorded & bit(signal.number()) != 0 {
                send(Target::Process(pid), signal);
            }
        }
    }
    Ok(pid)
}

fn new_stack() -> Result<&'static mut [u128], Errno> {
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: new memory at an address of the kernel's choice, which nobody else has, and which is never given back. It is
    // all zeroes, which are numbers.
    unsafe {
        let start = mmap_anonymous(ptr::null_mut(), STACK_SIZE, access, flags).map_err(to_nix)?;
        Ok(slice::from_raw_parts_mut(start.cast(), STACK_SIZE / size_of::<u128>()))
    }
}

/// Whether the errno of exec is known for certain.
pub(super) fn tells_errno() -> bool {
    SHARES_MEMORY.load(Ordering::Relaxed)
}

extern "C" fn child(setup: *mut c_void) -> i32 {
    SHARES_MEMORY.store(true, Ordering::Relaxed);
    // SAFETY: `spawn` passed a valid ChildSetup that nobody else uses meanwhile.
    let setup = unsafe { &mut *setup.cast::<ChildSetup<'_>>() };
    setup.errno = become_command(setup, record_what_would_stop);
    // Without running the parent's exit handlers.
    exit_now(127)
}

extern "C" fn record(signal: i32) {
    RECORDED.fetch_or(bit(signal), Ordering::Relaxed);
}

fn bit(signal: i32) -> u64 {
    1 << signal
}

/// Installs the recorder where the caller had the default. Dispositions are not shared with the
/// parent, and exec makes a handler the default again.
fn record_what_would_stop() {
    for signal in RECORD {
        if disposition(signal.number()) == Disposition::Default {
            handle(signal.number(), record);
        }
    }
}
