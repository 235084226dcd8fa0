//! Starting the command: what `execvp(3)` does, with everything as backoff was given it.
//!
//! Linux: `clone(2)` with the parent's memory and the parent waiting until exec, as posix_spawn
//! does it: no page is copied, and exec's own errno is simply there afterwards. All signals are
//! blocked until the last moment. Between unblocking and exec the child must not stop, as the
//! parent is waiting for it: what would stop it (or dump the shared memory) is recorded by a handler,
//! which exec removes, and is sent again afterwards. Elsewhere: `fork(2)` and a pipe for the errno.

use std::ffi::{CStr, CString, OsString, c_char};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr;

use nix::errno::Errno;
use nix::libc;

use crate::policy::outcome::StartFailure;
use crate::process::signals::Signals;
use crate::process::sys::environment::{self, Environment, NUMBER_ROOM};
use crate::run::text::describe;
use child::Child;

pub mod child;

#[cfg(any(not(target_os = "linux"), backoff_portable))]
#[path = "fork.rs"]
mod imp;
#[cfg(all(target_os = "linux", not(backoff_portable)))]
#[path = "vfork.rs"]
mod imp;

/// What runs a file that is executable and has no format the kernel knows.
const SHELL: &CStr = c"/bin/sh";

/// Where commands are looked for if PATH is unset, as the C library has it.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// The command, ready to be started any number of times.
#[derive(Debug)]
pub struct Program {
    /// The files to try, in order.
    files: Vec<CString>,
    argv: Vec<CString>,
}

/// Why there is no child.
#[derive(Debug)]
pub enum SpawnError {
    /// No process could be made.
    Fork(Errno),
    /// The process was made and exec refused the command.
    Exec(StartFailure),
}

/// Where a child is, seen from the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In backoff's own process group.
    Shared,
    /// In a process group of its own.
    Group,
    /// In a session of its own, on the terminal that is its standard output.
    Terminal,
    /// In a session of its own, without a terminal.
    Session,
}

/// All that the child needs, prepared beforehand: it may not allocate.
struct Start<'a> {
    files: &'a [CString],
    argv: *const *const c_char,
    /// `/bin/sh`, a place for the file, the arguments.
    shell_argv: *mut *const c_char,
    envp: *const *const c_char,
    process_numbers: &'a [*mut u8],
    mask: *const libc::sigset_t,
    ignore_children: bool,
    place: Place,
    /// What becomes descriptors 0, 1 and 2; -1 leaves the caller's.
    stdio: [i32; 3],
    parent: libc::pid_t,
    /// What exec said, 0 if nothing.
    errno: i32,
}

impl Program {
    /// Prepares a command; it is not looked for yet.
    pub fn new(command: &[OsString]) -> Program {
        let c = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
        let argv: Vec<CString> = command.iter().map(|word| c(word.as_bytes())).collect();
        let name = argv.first().map_or(&b""[..], |name| name.to_bytes());
        let files = if name.is_empty() || name.contains(&b'/') {
            vec![c(name)]
        } else {
            let path = environment::variable("PATH").unwrap_or(DEFAULT_PATH);
            path.split(|byte| *byte == b':')
                // An empty entry is the working directory.
                .map(|dir| {
                    if dir.is_empty() {
                        c(name)
                    } else {
                        c(&[dir, b"/", name].concat())
                    }
                })
                .collect()
        };
        Program { files, argv }
    }

    /// Starts the command once.
    pub fn start(
        &self,
        environment: &mut Environment,
        signals: &Signals,
        place: Place,
        stdio: [i32; 3],
    ) -> Result<Child, SpawnError> {
        let mut argv: Vec<*const c_char> = self.argv.iter().map(|word| word.as_ptr()).collect();
        argv.push(ptr::null());
        let mut shell_argv = vec![SHELL.as_ptr(), ptr::null()];
        shell_argv.extend_from_slice(&argv[1..]);
        let process_numbers = environment.process_numbers();
        let mut start = Start {
            files: &self.files,
            argv: argv.as_ptr(),
            shell_argv: shell_argv.as_mut_ptr(),
            envp: environment.as_ptr(),
            process_numbers: &process_numbers,
            mask: signals.caller_mask(),
            ignore_children: signals.children_ignored(),
            place,
            stdio,
            // SAFETY: only asks.
            parent: unsafe { libc::getpid() },
            errno: 0,
        };
        let pid = imp::spawn(&mut start).map_err(SpawnError::Fork)?;
        let child = Child::new(pid, place != Place::Shared);
        if start.errno == 0 {
            return Ok(child);
        }
        child.reap();
        Err(SpawnError::Exec(self.explain(Errno::from_raw(start.errno))))
    }

    /// exec's errno as a person understands it.
    fn explain(&self, errno: Errno) -> StartFailure {
        let path = |file: &CString| PathBuf::from(OsString::from_vec(file.to_bytes().to_vec()));
        let exists = |file: &CString| path(file).exists();
        let is_dangling = |file: &CString| path(file).is_symlink();
        let is_directory = |file: &CString| path(file).is_dir();
        let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
        let message = match errno {
            Errno::ENOENT if self.files.iter().any(exists) => "its interpreter is missing".into(),
            Errno::ENOENT if self.files.iter().any(is_dangling) => "it is a symbolic link to nothing".into(),
            Errno::ENOENT | Errno::ENOTDIR => "command not found".into(),
            Errno::EACCES if self.files.iter().any(is_directory) => "it is a directory".into(),
            errno => describe(errno),
        };
        StartFailure { not_found, message }
    }
}

/// In the child: sets up what the command is to have, and becomes it. Comes back with the errno.
///
/// # Safety
/// Only in a child that this module made; the pointers in `start` must be valid, and all signals
/// blocked.
unsafe fn become_command(start: &mut Start<'_>, before_unblocking: impl FnOnce()) -> i32 {
    // SAFETY: async-signal-safe calls on this process, with pointers that the parent prepared.
    unsafe {
        match start.place {
            Place::Shared => {}
            Place::Group => {
                libc::setpgid(0, 0);
            }
            Place::Terminal | Place::Session => {
                libc::setsid();
            }
        }
        #[cfg(target_os = "linux")]
        {
            // If backoff is killed, TERM. It may be gone already; but 0 only says that it is outside of a
            // process namespace that this child is the first of.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if ![0, start.parent].contains(&libc::getppid()) {
                libc::_exit(128 + libc::SIGTERM);
            }
        }
        for (standard, fd) in start.stdio.into_iter().enumerate() {
            // All of backoff's own are above 2, so none is overwritten before it was duplicated.
            if fd >= 0 && libc::dup2(fd, standard as i32) < 0 {
                return Errno::last_raw();
            }
        }
        if start.place == Place::Terminal {
            libc::ioctl(libc::STDOUT_FILENO, libc::TIOCSCTTY as _, 0);
        }
        if start.ignore_children {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        }
        if !start.process_numbers.is_empty() {
            let number = decimal(libc::getpid());
            for place in start.process_numbers {
                ptr::copy_nonoverlapping(number.as_ptr(), *place, NUMBER_ROOM);
            }
        }
        before_unblocking();
        crate::process::signals::set_mask(&*start.mask);
    }
    // SAFETY: the caller's promise.
    unsafe { execvp(start) }
}

/// Tries each file as `execvp(3)` does, and `/bin/sh` for a text file without `#!`.
///
/// # Safety
/// As for [`become_command`].
unsafe fn execvp(start: &mut Start<'_>) -> i32 {
    let mut denied = false;
    let mut last = libc::ENOENT;
    for file in start.files {
        // SAFETY: null-terminated arrays of strings, prepared by the parent.
        unsafe { libc::execve(file.as_ptr(), start.argv, start.envp) };
        last = Errno::last_raw();
        if last == libc::ENOEXEC {
            // SAFETY: the second place is ours to fill; the array is null-terminated.
            unsafe {
                *start.shell_argv.add(1) = file.as_ptr();
                libc::execve(SHELL.as_ptr(), start.shell_argv, start.envp);
            }
            return libc::ENOEXEC;
        }
        match last {
            libc::EACCES => denied = true,
            libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => {}
            _ => return last,
        }
    }
    if denied { libc::EACCES } else { last }
}

/// A number in decimal, followed by NULs.
fn decimal(number: libc::pid_t) -> [u8; NUMBER_ROOM] {
    let mut digits = [0; NUMBER_ROOM];
    let (mut rest, mut length) = (number.unsigned_abs(), 0);
    while rest > 0 || length == 0 {
        digits[length] = b'0' + (rest % 10) as u8;
        rest /= 10;
        length += 1;
    }
    digits[..length].reverse();
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_numbers_in_decimal() {
        for number in [0, 7, 10, 4_194_304, libc::pid_t::MAX] {
            let digits = decimal(number);
            let text = CStr::from_bytes_until_nul(&digits).unwrap().to_str().unwrap();
            assert_eq!(text, number.to_string());
        }
    }
}
