//! The child, from the moment it was made until it is the command. It may share the parent's memory: nothing here
//! allocates, and all calls are async-signal-safe.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, setpgid, setsid};

use super::place::Place;
use crate::process::signals::disposition;
use crate::process::signals::mask::Mask;
use crate::process::sys::environment::Environment;

/// What runs a file that is executable and has no format the kernel knows.
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
    pub(super) ignore_children: bool,
    pub(super) place: Place,
    /// What becomes descriptors 0, 1 and 2; None leaves the caller's.
    pub(super) stdio: [Option<BorrowedFd<'a>>; 3],
    #[cfg(not(portable))]
    pub(super) parent: u32,
    /// What exec said, 0 if nothing.
    pub(super) errno: i32,
}

/// Arguments for `execve(2)`: strings that outlive them, and a null pointer.
pub(super) struct Argv(Vec<*const c_char>);

impl Argv {
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a CStr>) -> Argv {
        Argv(words.map(CStr::as_ptr).chain([std::ptr::null()]).collect())
    }
}

/// Sets up what the command is to have, and becomes it. Comes back with the errno. All signals are blocked until
/// `before_unblocking` has been called.
pub(super) fn become_command(setup: &mut ChildSetup<'_>, before_unblocking: impl FnOnce()) -> i32 {
    let _ = match setup.place {
        Place::Shared => Ok(()),
        Place::Group => setpgid(Pid::from_raw(0), Pid::from_raw(0)),
        Place::Terminal | Place::Session => setsid().map(drop),
    };
    #[cfg(not(portable))]
    follow_parent(setup.parent, setup.place);
    if let Err(errno) = set_stdio(setup.stdio) {
        return errno as i32;
    }
    if setup.place == Place::Terminal
        && let [_, Some(terminal), _] = setup.stdio
    {
        let _ = rustix::process::ioctl_tiocsctty(terminal);
    }
    if setup.ignore_children {
        disposition::ignore(libc::SIGCHLD);
    }
    setup.environment.name_this_process();
    before_unblocking();
    let _ = setup.mask.set();
    exec(setup)
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
        crate::process::sys::current::exit_now(128 + libc::SIGTERM);
    }
}

/// All of backoff's own descriptors are above 2, so none is overwritten before it was duplicated.
fn set_stdio([input, output, error]: [Option<BorrowedFd<'_>>; 3]) -> nix::Result<()> {
    input.map_or(Ok(()), dup2_stdin)?;
    output.map_or(Ok(()), dup2_stdout)?;
    error.map_or(Ok(()), dup2_stderr)
}

/// Tries each file as `execvp(3)` does, and `/bin/sh` for a text file without `#!`.
fn exec(setup: &mut ChildSetup<'_>) -> i32 {
    let mut denied = false;
    let mut last = libc::ENOENT;
    for file in setup.files {
        last = execve(file, &setup.argv, setup.environment);
        match last {
            libc::ENOEXEC => {
                setup.shell_argv.0[1] = file.as_ptr();
                execve(SHELL, &setup.shell_argv, setup.environment);
                return libc::ENOEXEC;
            }
            libc::EACCES => denied = true,
            libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => {}
            _ => return last,
        }
    }
    if denied { libc::EACCES } else { last }
}

fn execve(file: &CStr, argv: &Argv, environment: &Environment) -> i32 {
    // SAFETY: arrays of strings that end with a null pointer, prepared by the parent, which keeps them alive.
    unsafe { libc::execve(file.as_ptr(), argv.0.as_ptr(), environment.entries().as_ptr()) };
    Errno::last_raw()
}
