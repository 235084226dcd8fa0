//! Ending the process: with a status, or by a signal as the command did.

use nix::libc;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::SigSet;

use super::terminal::pty;
use crate::policy::exit::Exit;
use crate::policy::signal::Signal;

/// Ends as `exit` says: returns the status for `main` to return, or dies.
pub fn with(exit: Exit) -> i32 {
    pty::restore();
    match exit {
        Exit::Code(code) => i32::from(code),
        Exit::Signal(signal) => {
            die_by(signal);
            i32::from(signal.shell_status())
        }
    }
}

/// Dies of `signal` with its default action. Comes back where that cannot be: as PID 1, or if the
/// signal's default is not to end a process.
fn die_by(signal: Signal) {
    // The command has dumped its core; a second one, of backoff, would only mislead.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    #[cfg(target_os = "linux")]
    // SAFETY: PR_SET_DUMPABLE takes a number and changes this process only. A core_pattern that
    // pipes to a program ignores the limit above.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    // SAFETY: plain calls on this process; the set holds one valid signal.
    unsafe {
        libc::signal(signal.number(), libc::SIG_DFL);
        let mut set = *SigSet::empty().as_ref();
        libc::sigaddset(&raw mut set, signal.number());
        libc::kill(libc::getpid(), signal.number());
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// Ends the process now, without anything that runs at exit.
pub fn at_once(status: i32) -> ! {
    pty::restore();
    // SAFETY: _exit never returns and touches no memory.
    unsafe { libc::_exit(status) }
}
