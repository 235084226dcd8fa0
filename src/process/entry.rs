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
use crate::policy::exit::Exit;
use crate::policy::signal::Signal;

/// The second argument of the C `main`. Only the C runtime can make one.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Argv(*const *const c_char);

/// Calls `main` with the arguments (first backoff's own name), between what has to come before and after: descriptors
/// that the caller closed are filled, a panic ends with status 125, and the terminal's modes are restored. Returns the
/// exit status for the C `main`. If `main` returns a signal, ends the process by it, so that the caller sees how the
/// run was interrupted; returns 128+N only if that signal does not end the process.
pub fn enter(Argv(argv): Argv, main: fn(Vec<OsString>) -> Exit) -> c_int {
    // First: a file that backoff opens must not get the number of a closed standard descriptor.
    fill_closed_standard();
    std::panic::set_hook(Box::new(|info| end_after_panic(&info.to_string())));
    // SAFETY: the C runtime made the array, and backoff never changes it.
    let words = unsafe { strings(argv) };
    let exit = main(
        words
            .map(|word| OsString::from_vec(word.to_bytes().to_vec()))
            .collect(),
    );
    match exit {
        Exit::Code(code) => i32::from(code),
        Exit::Signal(signal) => {
            die_by(signal);
            i32::from(signal.shell_status())
        }
    }
}

/// Reports a panic, and ends the process at once, without unwinding: a panic is a defect of backoff, which status 125
/// says. `text` is the message of the panic.
fn end_after_panic(text: &str) -> ! {
    // The standard library panics so if it cannot seed a hash map.
    let is_lack_of_randomness = text.contains("random data");
    let message = if is_lack_of_randomness {
        "the system gives no random numbers: getrandom(2) and /dev/urandom fail".to_owned()
    } else {
        format!("internal error, please report it: {text}")
    };
    stdio::complain(&message);
    exit_now(125)
}

/// Ends the process by the default action of `signal`, without a core dump. Returns if the action does not end a
/// process, or if this is process 1, which the kernel spares: the caller then exits with 128+N.
fn die_by(signal: Signal) {
    // After QUIT the command has dumped its core, if any; a core of backoff would mislead.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    forbid_core();
    let _ = set_default(signal);
    let _ = send(Target::OwnProcess, signal);
    // A run blocks all signals, so this one takes effect only here.
    let _ = SigSet::empty().thread_set_mask();
}
