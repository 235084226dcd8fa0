//! Ending the process: with a status, or by a signal as the command did.

use nix::sys::resource::{Resource, setrlimit};

use super::signals::disposition::set_default;
use super::signals::mask::Mask;
use super::sys::current::{Target, exit_now, send};
use super::terminal::modes;
use crate::policy::exit::Exit;
use crate::policy::signal::Signal;

/// Ends as `exit` says: returns the status for `main` to return, or dies.
pub(crate) fn with(exit: Exit) -> i32 {
    modes::restore();
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
    // The command has dumped its core; a second one, of backoff, would only mislead. A core_pattern that
    // pipes to a program ignores the limit.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    #[cfg(not(portable))]
    let _ = nix::sys::prctl::set_dumpable(false);
    set_default(signal);
    send(Target::Own, signal);
    let _ = Mask::only(signal).unblock();
}

/// Ends the process now, without anything that runs at exit.
pub(crate) fn at_once(status: i32) -> ! {
    modes::restore();
    exit_now(status)
}
