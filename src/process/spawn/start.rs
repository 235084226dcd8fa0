//! Creates the child and runs its setup until exec.
//!
//! The child may share the parent's memory, so it does not allocate and makes async-signal-safe calls only. A pipe that
//! exec closes reports a failed exec to the parent, once the child has ended.

use std::ffi::{CStr, CString, c_char};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, setpgid, setsid, write};

use super::environment::Environment;
use crate::process::signals::{Signals, Target, prepare_child, received_by_child, send};
use crate::process::sys::fd::{pipe, set_nonblocking};

/// Runs an executable file in a format unknown to the kernel.
pub(super) const SHELL: &CStr = c"/bin/sh";

nix::ioctl_write_int_bad!(take_terminal, libc::TIOCSCTTY);

/// The process group, session and terminal of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// backoff's own process group.
    Shared,
    /// The child's own process group.
    Group,
    /// The child's own session, on the terminal that is its standard output.
    Terminal,
    /// The child's own session, without a terminal.
    Session,
}

/// Replacements of a child's descriptors 0, 1 and 2; None inherits the caller's. Drop once the child has started:
/// otherwise backoff cannot see that the child has closed one.
#[derive(Debug, Default)]
pub(crate) struct ChildStdio {
    pub(crate) input: Option<OwnedFd>,
    pub(crate) outputs: [Option<OwnedFd>; 2],
}

/// Data for the child, prepared by the parent.
pub(super) struct ChildSetup<'a> {
    /// The files to try, in order.
    pub(super) files: &'a [CString],
    /// `/bin/sh`, the words of the command, and a null pointer. The strings have to outlive the array.
    pub(super) argv: Vec<*const c_char>,
    pub(super) environment: Environment,
    pub(super) signals: &'a Signals,
    pub(super) isolation: Isolation,
    pub(super) stdio: &'a ChildStdio,
}

/// Creates the child. Returns its process number, and a pipe that holds exec's errno if exec fails.
pub(super) fn start(mut setup: ChildSetup<'_>) -> io::Result<(libc::pid_t, OwnedFd)> {
    // The pipe is above the standard descriptors, which the child replaces.
    let (failure, write_end) = pipe()?;
    set_nonblocking(&failure)?;
    let parent = std::process::id();
    let made = make_child(&mut || {
        let errno = become_command(&mut setup, parent);
        let _ = write(write_end.as_fd(), &(errno as i32).to_ne_bytes());
        exit_now(127)
    });
    let received = received_by_child();
    let pid = made?.as_raw();
    for signal in received {
        send(Target::Process(pid), signal);
    }
    Ok((pid, failure))
}

/// Creates a child that shares the parent's memory and has its own stack; the parent waits until exec or exit. No page
/// table is copied. `work` does not return.
#[cfg(not(portable))]
fn make_child(work: &mut dyn FnMut()) -> nix::Result<Pid> {
    use std::sync::{Mutex, PoisonError};

    use nix::sched::{CloneFlags, clone};
    /// Enough for the child's calls and a signal frame with the largest register state.
    static STACK: Mutex<[u8; 64 << 10]> = Mutex::new([0; 64 << 10]);
    let mut stack = STACK.lock().unwrap_or_else(PoisonError::into_inner);
    let work = Box::new(|| {
        work();
        0
    });
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: the child makes async-signal-safe calls only. Stack and `work` outlive the child's use, as the parent waits
    // until exec or exit.
    unsafe { clone(work, &mut *stack, flags, Some(libc::SIGCHLD)) }
}

/// Creates a child by `fork(2)`. `work` does not return.
#[cfg(portable)]
fn make_child(work: &mut dyn FnMut()) -> nix::Result<Pid> {
    // SAFETY: the child makes async-signal-safe calls only.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => return Ok(child),
        nix::unistd::ForkResult::Child => work(),
    }
    Ok(Pid::this())
}

/// Makes the kernel send this child a signal if backoff is killed. Returns false if backoff is gone already. Parent 0
/// only means that the parent is outside of the child's PID namespace.
#[cfg(not(portable))]
fn follow_parent(parent: u32, signal: Signal) -> bool {
    let _ = nix::sys::prctl::set_pdeathsig(signal);
    [0, parent].contains(&std::os::unix::process::parent_id())
}

#[cfg(portable)]
fn follow_parent(_parent: u32, _signal: Signal) -> bool {
    true
}

/// Ends the process at once, without exit handlers and destructors. Async-signal-safe.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: _exit never returns and touches no memory.
    unsafe { libc::_exit(status) }
}

/// Sets up the child and executes the command. Returns exec's error.
fn become_command(setup: &mut ChildSetup<'_>, parent: u32) -> Errno {
    let own = Pid::from_raw(0);
    let _ = match setup.isolation {
        Isolation::Shared => Ok(()),
        Isolation::Group => setpgid(own, own),
        Isolation::Terminal | Isolation::Session => setsid().map(drop),
    };
    // In its own session without a terminal, a stopped child would never be continued.
    let is_alone = setup.isolation == Isolation::Session;
    if !follow_parent(parent, if is_alone { Signal::SIGKILL } else { Signal::SIGTERM }) {
        exit_now(128 + libc::SIGTERM);
    }
    if let Err(errno) = set_stdio(setup.stdio) {
        return errno;
    }
    if setup.isolation == Isolation::Terminal
        && let [Some(terminal), _] = &setup.stdio.outputs
    {
        // SAFETY: the call takes an integer.
        let _ = unsafe { take_terminal(terminal.as_raw_fd(), 0) };
    }
    setup.environment.name_this_process();
    prepare_child(setup.signals.children_ignored);
    let _ = setup.signals.caller_mask.thread_set_mask();
    exec(setup)
}

/// Replaces the standard descriptors. backoff's own descriptors are above 2, so none is overwritten before it is
/// duplicated.
fn set_stdio(stdio: &ChildStdio) -> nix::Result<()> {
    let [output, error] = &stdio.outputs;
    stdio.input.as_ref().map_or(Ok(()), dup2_stdin)?;
    output.as_ref().map_or(Ok(()), dup2_stdout)?;
    error.as_ref().map_or(Ok(()), dup2_stderr)
}

/// Tries each file as `execvp(3)` does. Runs a text file without `#!` by `/bin/sh`.
fn exec(setup: &mut ChildSetup<'_>) -> Errno {
    let mut denied = false;
    let mut last = Errno::ENOENT;
    for file in setup.files {
        last = execve(file, &setup.argv[1..], &setup.environment);
        match last {
            Errno::ENOEXEC => {
                setup.argv[1] = file.as_ptr();
                execve(SHELL, &setup.argv, &setup.environment);
                return last;
            }
            Errno::EACCES => denied = true,
            Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE | Errno::ENODEV | Errno::ETIMEDOUT => {}
            _ => return last,
        }
    }
    if denied { Errno::EACCES } else { last }
}

fn execve(file: &CStr, argv: &[*const c_char], environment: &Environment) -> Errno {
    // SAFETY: the arrays hold strings and end with a null pointer; the parent prepared them and keeps them alive.
    unsafe { libc::execve(file.as_ptr(), argv.as_ptr(), environment.entries.as_ptr()) };
    Errno::last()
}
