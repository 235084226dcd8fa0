//! Creates the child and runs its setup until exec.
//!
//! The child is a copy made by `fork(2)`, so the parent goes on at once. Its event loop remains in charge while the
//! system starts the program, as a file system may hang in exec. A pipe that exec closes tells the parent that the
//! program has started, or why it could not.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal;
use nix::unistd::{
    ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, execve, fork, setpgid, setsid, write,
};

use super::child::{Child, encode_failure};
use super::environment::address_to_this_process;
use super::explain::explain;
use crate::policy::signal::Signal;
use crate::process::signals::Signals;
use crate::process::sys::exit_now::exit_now;
use crate::process::sys::fd::{pipe, set_nonblocking};
use crate::process::sys::system::set_death_signal;
use crate::run::uninterrupted;

/// Runs an executable text file that does not begin with `#!`.
const SHELL: &CStr = c"/bin/sh";

/// The process group, session and terminal of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// backoff's process group.
    Shared,
    /// The child's own process group.
    Group,
    /// The child's own session, without a terminal.
    Session,
}

/// Replacements for a child's descriptors 0, 1 and 2. None inherits the caller's. Drop them once the child has started,
/// or backoff cannot see that the child has closed one.
#[derive(Debug, Default)]
pub(crate) struct ChildStdio {
    pub(crate) input: Option<OwnedFd>,
    pub(crate) output: Option<OwnedFd>,
    pub(crate) error: Option<OwnedFd>,
}

/// Data for the child, prepared by the parent.
pub(super) struct ChildSetup<'a> {
    /// The files to try, in order.
    pub(super) files: &'a [CString],
    pub(super) words: &'a [CString],
    pub(super) environment: Vec<CString>,
    pub(super) signals: &'a Signals,
    /// A signal that the command does not ignore, even if the caller does.
    pub(super) never_ignored: Option<Signal>,
    pub(super) isolation: Isolation,
    pub(super) stdio: &'a ChildStdio,
}

/// Creates the child, which becomes the command. Returns before the program has started, as exec may hang. Exec closes
/// the pipe that the returned child holds. If exec fails, the reason is written to that pipe. Returns an error if no
/// process could be created.
pub(super) fn start_child(mut setup: ChildSetup<'_>) -> io::Result<Child> {
    // The pipe is above the standard descriptors, which the child replaces. This process closes the write end on
    // return, or exec would not end the pipe.
    let (report, write_end) = pipe()?;
    set_nonblocking(&report)?;
    let parent = std::process::id();
    // SAFETY: the only other threads ask a store (`host::store`). The child uses no lock that they could hold, except
    // the heap's, which `fork` frees in the child (glibc, musl since 1.2.2, macOS).
    let pid = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            // Returns only if the command could not be executed.
            let errno = become_command(&mut setup, parent);
            // Done here, because looking at the files may hang.
            let failure = encode_failure(&explain(errno, setup.words, setup.files));
            let _ = uninterrupted(|| write(write_end.as_fd(), &failure));
            // The report counts, not this status.
            exit_now(127)
        }
    };
    if setup.isolation == Isolation::Group {
        // The child does the same, so a signal to the group finds it whichever is first. The call fails after exec.
        let _ = setpgid(pid, pid);
    }
    let leads_group = setup.isolation != Isolation::Shared;
    Ok(Child::new(pid.as_raw(), leads_group, report))
}

/// Turns the child into the command. Sets its group or session, the signal for backoff's death, its descriptors and
/// variables and the caller's signal actions, then executes the command. Returns only after a failure, with the error
/// of the failed step. If backoff (process `parent`) has already died, exits instead, without a report.
fn become_command(setup: &mut ChildSetup<'_>, parent: u32) -> Errno {
    let own = Pid::from_raw(0);
    // A new child leads no group, so neither call can fail.
    let _ = match setup.isolation {
        Isolation::Shared => Ok(()),
        Isolation::Group => setpgid(own, own),
        Isolation::Session => setsid().map(drop),
    };
    let death_signal = match setup.isolation {
        // A stopped child does not act on SIGTERM, and without a terminal would never be continued.
        Isolation::Session => signal::Signal::SIGKILL,
        // The command can clean up, and terminate its own children.
        _ => signal::Signal::SIGTERM,
    };
    // backoff died before the kernel knew what to send.
    if !set_death_signal(parent, death_signal) {
        exit_now(128 + libc::SIGTERM);
    }
    if let Err(errno) = set_stdio(setup.stdio) {
        return errno;
    }
    address_to_this_process(&mut setup.environment, parent);
    // This comes last because it unblocks signals.
    setup.signals.restore_in_child(setup.never_ignored);
    exec(setup)
}

/// Replaces the child's standard descriptors. Those without a replacement remain those of backoff. Replacements are
/// above 2 (`fill_closed_standard`), so none is overwritten before it is duplicated. An error is reported like one of
/// exec.
fn set_stdio(stdio: &ChildStdio) -> nix::Result<()> {
    if let Some(input) = &stdio.input {
        dup2_stdin(input)?;
    }
    if let Some(output) = &stdio.output {
        dup2_stdout(output)?;
    }
    if let Some(error) = &stdio.error {
        dup2_stderr(error)?;
    }
    Ok(())
}

/// Tries each file, as `execvp(3)` does for PATH. Returns only if none could be executed. "Permission denied" then
/// takes precedence, as it says more than "not found".
fn exec(setup: &ChildSetup<'_>) -> Errno {
    let mut denied = false;
    let mut last = Errno::ENOENT;
    for file in setup.files {
        let Err(errno) = execve(file, setup.words, &setup.environment);
        last = errno;
        match errno {
            Errno::ENOEXEC => {
                run_by_shell(file, setup);
                return last;
            }
            // Reported if no other file can be executed.
            Errno::EACCES => denied = true,
            // There is no such file in this directory, or the directory's file system is gone (a dead server, a removed
            // disk). That says nothing about the other directories, so try the next one.
            Errno::ENOENT | Errno::ENOTDIR | Errno::ESTALE | Errno::ENODEV | Errno::ETIMEDOUT => {}
            _ => return last,
        }
    }
    if denied { Errno::EACCES } else { last }
}

/// Runs a script without `#!` as shells do, with `/bin/sh FILE ARGUMENTS`. FILE replaces the name. Returns only if
/// there is no shell.
fn run_by_shell(file: &CStr, setup: &ChildSetup<'_>) {
    let mut words = vec![SHELL, file];
    words.extend(setup.words.iter().skip(1).map(CString::as_c_str));
    let _ = execve(SHELL, &words, &setup.environment);
}
