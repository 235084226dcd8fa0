//! Linux-only calls. `elsewhere.rs` has the same functions for other systems.

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

/// Opens a file or directory as a location only: neither readable nor writable.
pub(crate) const PATH_ONLY: OFlag = OFlag::O_PATH;

/// Reopens an inherited pipe or terminal as a non-blocking description of our own. Returns `None` if that is impossible
/// or not allowed.
pub(crate) fn open_anew(number: RawFd, options: &mut OpenOptions) -> Option<OwnedFd> {
    if !is_the_same_when_opened(number) {
        return None;
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let path = format!("/proc/self/fd/{number}");
    Some(options.custom_flags(flags.bits()).open(path).ok()?.into())
}

/// Returns true if reopening gives the same pipe or device: `/dev/tty` depends on the process, `/dev/ptmx` creates a
/// new terminal, and other devices may do anything.
fn is_the_same_when_opened(number: RawFd) -> bool {
    // Major numbers in Linux's devices.txt: memory (null, zero, full), and aliases (tty, console, ptmx).
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

/// Sets the capacity of a pipe. Returns the new capacity, or `None` if refused (for example, the user has too many
/// pipes).
pub(crate) fn set_pipe_size(pipe: impl AsFd, bytes: usize) -> Option<usize> {
    let size = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(i32::try_from(bytes).ok()?));
    usize::try_from(size.ok()?).ok()
}

/// Raises the capacity of a pipe to `bytes`, unless refused.
pub(crate) fn widen_pipe(pipe: impl AsFd, bytes: usize) {
    let size = fcntl(&pipe, FcntlArg::F_GETPIPE_SZ).map(usize::try_from);
    if matches!(size, Ok(Ok(size)) if size < bytes) {
        set_pipe_size(pipe, bytes);
    }
}

/// Duplicates up to `bytes` at the head of a pipe into another pipe, without blocking.
pub(crate) fn tee(from: impl AsFd, to: impl AsFd, bytes: usize) -> Result<usize, Errno> {
    rustix::pipe::tee(from, to, bytes, SpliceFlags::NONBLOCK).map_err(to_nix)
}

/// Creates a file in memory, or in the temporary directory if that fails.
pub(crate) fn memory_file() -> io::Result<File> {
    let fd = memfd_create(c"backoff", MFdFlags::MFD_CLOEXEC);
    fd.map(File::from).or_else(|_| tempfile::tempfile())
}

/// Calls `poll(2)` with a timeout in nanoseconds.
pub(crate) fn poll(fds: &mut [PollFd<'_>], left: Option<Duration>) -> nix::Result<i32> {
    ppoll(fds, left.map(TimeSpec::from_duration), None)
}

/// Sets the timer slack. Returns the previous slack, or 0 for the default of this process.
pub(crate) fn set_timer_slack(nanoseconds: libc::c_ulong) -> libc::c_ulong {
    let before = prctl::get_timerslack().unwrap_or(0);
    let _ = prctl::set_timerslack(nanoseconds);
    libc::c_ulong::try_from(before).unwrap_or(0)
}

/// Disables core dumps, also to a program named in core_pattern.
pub(crate) fn forbid_core() {
    let _ = prctl::set_dumpable(false);
}

/// Returns true if the kernel sent a signal by itself. The sender cannot tell: 0 may be a process outside this PID
/// namespace.
pub(crate) fn is_from_kernel(code: i32, _sender: libc::pid_t) -> bool {
    const SI_KERNEL: i32 = 0x80;
    code == SI_KERNEL
}

/// True: a child shares its parent's memory until exec.
pub(crate) const CHILD_SHARES_MEMORY: bool = true;

/// Creates a child that shares the parent's memory and has its own stack; the parent waits until exec or exit. No page
/// table is copied. `work` does not return.
pub(crate) fn make_child(mut work: &mut dyn FnMut()) -> nix::Result<libc::pid_t> {
    /// Enough for the child's calls and a signal frame with the largest register state.
    const STACK: usize = 64 * 1024 / size_of::<u128>();
    extern "C" fn child(work: *mut libc::c_void) -> i32 {
        // SAFETY: `make_child` passed the pointer, and nothing else uses it meanwhile.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        work();
        0
    }
    let mut stack: Vec<u128> = Vec::with_capacity(STACK);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child runs on its own stack, whose upper end has the alignment of every Linux ABI. The stack and
    // `work` outlive the child's use, as the parent waits until exec or exit.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(STACK);
        libc::clone(child, top.cast(), flags, (&raw mut work).cast())
    };
    Errno::result(pid)
}

/// Makes the kernel send this child a signal if backoff is killed. Returns false if backoff is gone already. Parent 0
/// only means that the parent is outside of the child's PID namespace.
pub(crate) fn follow_parent(parent: u32, signal: Signal) -> bool {
    let _ = prctl::set_pdeathsig(signal);
    [0, parent].contains(&parent_id())
}
