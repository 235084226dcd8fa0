//! Calls that only Linux has. `elsewhere.rs` has the same functions for other systems.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::parent_id;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::poll::{PollFd, ppoll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::stat::{SFlag, fstat, major};
use nix::sys::time::TimeSpec;
use rustix::pipe::SpliceFlags;

use super::fd::{inherited, kind, to_nix};

/// Opens a file or directory for nothing but its place in the tree: it can be neither read nor written.
pub(crate) const PATH_ONLY: OFlag = OFlag::O_PATH;

/// Opens a pipe or terminal that was given once more, for a non-blocking description of our own. Returns `None` if that is
/// not possible or not allowed.
pub(crate) fn open_anew(number: RawFd, options: &mut OpenOptions) -> Option<OwnedFd> {
    if !is_the_same_when_opened(number) {
        return None;
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let path = format!("/proc/self/fd/{number}");
    Some(options.custom_flags(flags.bits()).open(path).ok()?.into())
}

/// Returns true if opening it again gives the same pipe or device: `/dev/tty` belongs to the process that opens it,
/// `/dev/ptmx` is a new terminal each time, and other devices may do anything.
fn is_the_same_when_opened(number: RawFd) -> bool {
    // See devices.txt of Linux: memory (null, zero, full), and those with a meaning of their own (tty, console, ptmx).
    const MEMORY: u64 = 1;
    const ALIASES: u64 = 5;
    let device = || fstat(inherited(number)).map_or(ALIASES, |facts| major(facts.st_rdev));
    match kind(number) {
        SFlag::S_IFIFO => true,
        SFlag::S_IFCHR => match device() {
            MEMORY => true,
            ALIASES => false,
            _ => inherited(number).is_terminal(),
        },
        _ => false,
    }
}

/// Sets how many bytes a pipe holds. Returns the new size, or `None` if it was refused, as if the user has too many pipes.
pub(crate) fn set_pipe_size(pipe: impl AsFd, bytes: usize) -> Option<usize> {
    let size = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(i32::try_from(bytes).ok()?));
    usize::try_from(size.ok()?).ok()
}

/// Makes a pipe hold at least so many bytes, unless that is refused.
pub(crate) fn widen_pipe(pipe: impl AsFd, bytes: usize) {
    let size = fcntl(&pipe, FcntlArg::F_GETPIPE_SZ).map(usize::try_from);
    if matches!(size, Ok(Ok(size)) if size < bytes) {
        set_pipe_size(pipe, bytes);
    }
}

/// Duplicates at most so many bytes at the head of a pipe into another, without blocking.
pub(crate) fn tee(from: impl AsFd, to: impl AsFd, bytes: usize) -> Result<usize, Errno> {
    rustix::pipe::tee(from, to, bytes, SpliceFlags::NONBLOCK).map_err(to_nix)
}

/// Creates a file that takes no room on any disk.
pub(crate) fn memory_file() -> io::Result<File> {
    let fd = memfd_create(c"backoff", MFdFlags::MFD_CLOEXEC);
    fd.map(File::from).or_else(|_| tempfile::tempfile())
}

/// Calls `poll(2)`, with a time-out in nanoseconds.
pub(crate) fn poll(fds: &mut [PollFd<'_>], left: Option<Duration>) -> nix::Result<i32> {
    ppoll(fds, left.map(TimeSpec::from_duration), None)
}

/// Sets how late timers may fire, in nanoseconds. Returns the setting before, or 0 for the default of this process.
pub(crate) fn set_timer_slack(nanoseconds: libc::c_ulong) -> libc::c_ulong {
    let before = prctl::get_timerslack().unwrap_or(0);
    let _ = prctl::set_timerslack(nanoseconds);
    libc::c_ulong::try_from(before).unwrap_or(0)
}

/// Keeps a core_pattern that pipes to a program from getting a core of this process.
pub(crate) fn forbid_core() {
    let _ = prctl::set_dumpable(false);
}

/// Returns true if the kernel sent a signal by itself. The sender does not tell: 0 is also a process outside of this PID
/// namespace.
pub(crate) fn is_from_kernel(code: i32, _sender: libc::pid_t) -> bool {
    const SI_KERNEL: i32 = 0x80;
    code == SI_KERNEL
}

/// A child uses the memory of its parent until it executes a program.
pub(crate) const CHILD_SHARES_MEMORY: bool = true;

/// Makes a child that shares the parent's memory and has a stack of its own; the parent waits until exec or exit. No page
/// table is copied. `work` does not return.
pub(crate) fn make_child(mut work: &mut dyn FnMut()) -> nix::Result<libc::pid_t> {
    /// Enough for its few calls and a signal frame with the largest register state.
    const STACK: usize = 64 * 1024 / size_of::<u128>();
    extern "C" fn child(work: *mut libc::c_void) -> i32 {
        // SAFETY: `make_child` passed it, and nothing else uses it meanwhile.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        work();
        0
    }
    let mut stack: Vec<u128> = Vec::with_capacity(STACK);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child runs on its own stack, whose upper end is aligned as every ABI of Linux asks for. The stack and `work`
    // outlive it, as the parent waits until the child has executed the command or exited.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(STACK);
        libc::clone(child, top.cast(), flags, (&raw mut work).cast())
    };
    Errno::result(pid)
}

/// Has the kernel send this child a signal if backoff is killed. Returns false if backoff is gone already; but parent 0 only
/// says that it is outside of a process namespace that this child is the first of.
pub(crate) fn follow_parent(parent: u32, signal: Signal) -> bool {
    let _ = prctl::set_pdeathsig(signal);
    [0, parent].contains(&parent_id())
}
