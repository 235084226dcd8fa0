//! Making the child, and what it does until it is the command.
//!
//! The child may share the parent's memory: it does not allocate, and makes async-signal-safe calls only. A pipe that exec
//! closes tells the parent of an exec that failed, once the child has ended.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, setpgid, setsid, write};

use super::place::Place;
use crate::policy::signal::Signal;
use crate::process::signals::disposition;
use crate::process::signals::mask::Mask;
use crate::process::sys::current::{Target, exit_now, send};
use crate::process::sys::environment::Environment;
use crate::process::sys::fd::{pipe, set_nonblocking};

/// Runs a file that is executable and has no format the kernel knows.
pub(super) const SHELL: &CStr = c"/bin/sh";

/// All that the child needs, prepared beforehand.
pub(super) struct ChildSetup<'a> {
    /// The files to try, in order.
    pub(super) files: &'a [CString],
    pub(super) argv: Argv,
    /// `/bin/sh`, a place for the file, the arguments.
    pub(super) shell_argv: Argv,
    pub(super) environment: &'a Environment,
    pub(super) mask: &'a Mask,
    /// Signals with a handler of backoff's.
    pub(super) handled: &'a [Signal],
    pub(super) ignore_children: bool,
    pub(super) place: Place,
    /// Becomes descriptors 0, 1 and 2; None leaves the caller's.
    pub(super) stdio: [Option<BorrowedFd<'a>>; 3],
}

/// Arguments for `execve(2)`: strings that outlive them, and a null pointer.
pub(super) struct Argv(Vec<*const c_char>);

impl Argv {
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a CStr>) -> Argv {
        Argv(words.map(CStr::as_ptr).chain([std::ptr::null()]).collect())
    }
}

/// Signals that would stop a child while the parent waits for it, or dump the memory of both.
const HELD: [Signal; 4] = [Signal::TSTP, Signal::TTIN, Signal::TTOU, Signal::QUIT];

/// Held signals that came between unblocking and exec, by bit.
static CAME: AtomicU32 = AtomicU32::new(0);

extern "C" fn hold(signal: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    CAME.fetch_or(1 << signal, Ordering::Relaxed);
}

/// Makes the child. Returns its number, and a pipe that will hold exec's errno if exec fails.
pub(super) fn start(mut setup: ChildSetup<'_>) -> Result<(libc::pid_t, OwnedFd), Errno> {
    let to_errno = |error: std::io::Error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw);
    // Above the standard descriptors, which the child sets up.
    let (failure, write_end) = pipe().map_err(to_errno)?;
    set_nonblocking(&failure).map_err(to_errno)?;
    let parent = std::process::id();
    CAME.store(0, Ordering::Relaxed);
    let pid = make_child(&mut || {
        let errno = become_command(&mut setup, parent);
        let _ = write(write_end.as_fd(), &(errno as i32).to_ne_bytes());
        // Without the parent's exit handlers.
        exit_now(127)
    })?;
    let came = CAME.load(Ordering::Relaxed);
    for signal in HELD.into_iter().filter(|signal| came & (1 << signal.number()) != 0) {
        send(Target::Process(pid), signal);
    }
    Ok((pid, failure))
}

/// Makes a child that shares the parent's memory and has a stack of its own; the parent waits until exec or exit. No page
/// table is copied.
#[cfg(not(portable))]
fn make_child(mut work: &mut dyn FnMut()) -> Result<libc::pid_t, Errno> {
    /// Enough for its few calls and a signal frame with the largest register state.
    const STACK: usize = 64 * 1024 / size_of::<u128>();
    extern "C" fn child(work: *mut libc::c_void) -> i32 {
        // SAFETY: `make_child` passed it, and nobody else uses it meanwhile.
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

/// Makes a child by `fork(2)`.
#[cfg(portable)]
fn make_child(work: &mut dyn FnMut()) -> Result<libc::pid_t, Errno> {
    // SAFETY: the child makes async-signal-safe calls only.
    let pid = Errno::result(unsafe { libc::fork() })?;
    if pid == 0 {
        work();
    }
    Ok(pid)
}

/// Sets up what the command is to have, and becomes it. Returns the error of exec.
fn become_command(setup: &mut ChildSetup<'_>, parent: u32) -> Errno {
    let own = Pid::from_raw(0);
    let _ = match setup.place {
        Place::Shared => Ok(()),
        Place::Group => setpgid(own, own),
        Place::Terminal | Place::Session => setsid().map(drop),
    };
    follow_parent(parent, setup.place);
    if let Err(errno) = set_stdio(setup.stdio) {
        return errno;
    }
    if setup.place == Place::Terminal
        && let [_, Some(terminal), _] = setup.stdio
    {
        let _ = rustix::process::ioctl_tiocsctty(terminal);
    }
    setup.environment.name_this_process();
    reset_handlers(setup);
    let _ = setup.mask.set();
    exec(setup)
}

/// Sets what the caller had: a handler of backoff's would write to its pipe. All signals are blocked still.
fn reset_handlers(setup: &ChildSetup<'_>) {
    for signal in setup.handled {
        if !cfg!(portable) && HELD.contains(signal) {
            // exec sets the default.
            let _ = disposition::handle(*signal, hold);
        } else {
            disposition::set_default(*signal);
        }
    }
    if setup.ignore_children {
        disposition::ignore(Signal::CHLD);
    }
}

/// Has the kernel end this child if backoff is killed: by TERM, or by KILL in a session of its own, where nobody would
/// continue a stopped child. backoff may be gone already; but parent 0 only says that it is outside of a process namespace
/// that this child is the first of.
#[cfg(not(portable))]
fn follow_parent(parent: u32, place: Place) {
    use nix::sys::signal::Signal::{SIGKILL, SIGTERM};
    let _ = nix::sys::prctl::set_pdeathsig(if place == Place::Session { SIGKILL } else { SIGTERM });
    let now = std::os::unix::process::parent_id();
    if now != 0 && now != parent {
        exit_now(128 + libc::SIGTERM);
    }
}

#[cfg(portable)]
fn follow_parent(_parent: u32, _place: Place) {}

/// All of backoff's own descriptors are above 2, so none is overwritten before it was duplicated.
fn set_stdio([input, output, error]: [Option<BorrowedFd<'_>>; 3]) -> nix::Result<()> {
    input.map_or(Ok(()), dup2_stdin)?;
    output.map_or(Ok(()), dup2_stdout)?;
    error.map_or(Ok(()), dup2_stderr)
}

/// Tries each file as `execvp(3)` does, and `/bin/sh` for a text file without `#!`.
fn exec(setup: &mut ChildSetup<'_>) -> Errno {
    let mut denied = false;
    let mut last = Errno::ENOENT;
    for file in setup.files {
        last = execve(file, &setup.argv, setup.environment);
        match last {
            Errno::ENOEXEC => {
                setup.shell_argv.0[1] = file.as_ptr();
                execve(SHELL, &setup.shell_argv, setup.environment);
                return last;
            }
            Errno::EACCES => denied = true,
            Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE | Errno::ENODEV | Errno::ETIMEDOUT => {}
            _ => return last,
        }
    }
    if denied { Errno::EACCES } else { last }
}

fn execve(file: &CStr, argv: &Argv, environment: &Environment) -> Errno {
    // SAFETY: arrays of strings that end with a null pointer, prepared by the parent, which keeps them alive.
    unsafe { libc::execve(file.as_ptr(), argv.0.as_ptr(), environment.entries().as_ptr()) };
    Errno::last()
}
