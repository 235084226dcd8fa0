//! Startup and exit of the process, without Rust's runtime.
//!
//! The runtime ignores SIGPIPE, opens `/dev/null` in place of closed standard descriptors and installs handlers for
//! SIGSEGV and SIGBUS before `main`. The command would inherit the changes, so `main` is the C one. Skipping the
//! runtime also saves a tenth of a millisecond.

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

/// The second argument of the C `main`. Only the C runtime can create one.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Argv(*const *const c_char);

/// Calls `main` with the arguments, beginning with backoff's own name. First fills descriptors that the caller closed,
/// and makes a panic exit with status 125. Returns the exit status for the C `main`. If `main` returns a signal, kills
/// the process with it, so that the caller sees how the run was interrupted. Returns 128+N only if that signal does not
/// kill the process.
pub fn enter(Argv(argv): Argv, main: fn(Vec<OsString>) -> Exit) -> c_int {
    // This comes first, so that no file of backoff gets the number of a closed standard descriptor.
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

/// Reports a panic, whose message is `text`, and exits with status 125 without unwinding. A panic is a bug in backoff.
fn end_after_panic(text: &str) -> ! {
    // The standard library panics like this if it cannot seed a hash map.
    let is_lack_of_randomness = text.contains("random data");
    let message = if is_lack_of_randomness {
        "no random numbers available: getrandom(2) and /dev/urandom failed".to_owned()
    } else {
        format!("internal error, please report it: {text}")
    };
    stdio::complain(&message);
    exit_now(125)
}

/// Kills the process with the default action of `signal`, which ended the run or killed the command. Makes no core
/// dump. Returns if the action does not kill a process, or if this is process 1, which the kernel spares. The caller
/// then exits with 128+N.
fn die_by(signal: Signal) {
    // After SIGQUIT or SIGSEGV the command has dumped its core, if any. A core of backoff would mislead.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    forbid_core();
    let _ = set_default(signal);
    let _ = send(Target::OwnProcess, signal);
    // A run blocks all signals, so this one takes effect only here.
    let _ = SigSet::empty().thread_set_mask();
}
