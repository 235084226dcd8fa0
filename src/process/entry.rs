//! Start and end of the process, without Rust's runtime.
//!
//! The runtime ignores SIGPIPE, opens `/dev/null` in place of closed standard descriptors and installs handlers for
//! SEGV and BUS before `main`. The command would inherit the changes, so `main` is the C one. Skipping the runtime also
//! saves a tenth of a millisecond.

use std::ffi::{OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::SigSet;

use super::signals::{Target, send, set_default};
use super::sys::environment::strings;
use super::sys::exit_now::exit_now;
use super::sys::fd::fill_closed_standard;
use super::sys::stdio;
use super::sys::system::forbid_core;
use super::terminal::modes;
use crate::policy::exit::Exit;
use crate::policy::signal::Signal;

/// The second argument of the C `main`. Only the C runtime can make one.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Argv(*const *const c_char);

/// Calls `main` with the arguments, between what has to come before and after: descriptors that the caller closed are
/// filled, a panic ends with status 125, and the terminal's modes are restored. Returns the exit status for the C
/// `main`, or ends the process by the signal that `main` returned, so that the caller sees how the run was interrupted.
pub fn enter(Argv(argv): Argv, main: fn(Vec<OsString>) -> Exit) -> c_int {
    // First, before backoff opens anything.
    fill_closed_standard();
    // A panic is a defect of backoff: status 125 says so.
    std::panic::set_hook(Box::new(|info| {
        modes::restore();
        stdio::complain(&match info.to_string() {
            // The standard library could not seed a hash map.
            text if text.contains("random data") => {
                "the system gives no random numbers: getrandom(2) and /dev/urandom fail".into()
            }
            text => format!("internal error, please report it: {text}"),
        });
        exit_now(125);
    }));
    // SAFETY: the C runtime made the array, and backoff never changes it.
    let words = unsafe { strings(argv) };
    let exit = main(
        words
            .map(|word| OsString::from_vec(word.to_bytes().to_vec()))
            .collect(),
    );
    modes::restore();
    match exit {
        Exit::Code(code) => i32::from(code),
        Exit::Signal(signal) => {
            die_by(signal);
            i32::from(signal.shell_status())
        }
    }
}

/// Ends the process by the default action of `signal`, without a core dump. Returns if the action does not end a
/// process, or if this is process 1, which the kernel spares: the caller then exits with 128+N.
fn die_by(signal: Signal) {
    // The command has dumped its core; a core of backoff would mislead.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    forbid_core();
    let _ = set_default(signal);
    let _ = send(Target::OwnProcess, signal);
    // The signal takes effect once it is unblocked.
    let _ = SigSet::empty().thread_set_mask();
}
