//! The two ends of the process, without Rust's runtime around it.
//!
//! The runtime ignores SIGPIPE, opens `/dev/null` in place of closed standard descriptors and installs handlers for
//! SEGV and BUS before `main`. The command must not notice any of that, so `main` is the C one and nothing has been
//! changed when it starts. It also saves a tenth of a millisecond.

use std::ffi::{OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::panic::PanicHookInfo;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::SigSet;

use super::signals::receive::set_default;
use super::signals::{Target, send};
use super::spawn::start::exit_now;
use super::sys::environment::strings;
use super::sys::fd::fill_closed_standard;
use super::sys::{native, stdio};
use super::terminal::modes;
use crate::policy::exit::Exit;
use crate::policy::signal::Signal;

/// The second argument of the C `main`. Only the C runtime can make one.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Argv(*const *const c_char);

/// Calls `main` with the arguments and ends the process as it says: for the C `main` to return.
pub fn enter(Argv(argv): Argv, main: fn(Vec<OsString>) -> Exit) -> c_int {
    fill_closed_standard();
    // A panic is a defect; the caller still gets a status that says whose.
    std::panic::set_hook(Box::new(|info| {
        modes::restore();
        if is_about_randomness(info) {
            stdio::complain("the system gives no random numbers: getrandom(2) and /dev/urandom fail");
        } else {
            stdio::complain(&format!("internal error, please report it: {info}"));
        }
        exit_now(125);
    }));
    // SAFETY: the C runtime made it, and backoff leaves it alone.
    let words = unsafe { strings(argv) };
    let exit = main(words.map(|word| OsString::from_vec(word.to_bytes().to_vec())).collect());
    modes::restore();
    match exit {
        Exit::Code(code) => i32::from(code),
        Exit::Signal(signal) => {
            die_by(signal);
            i32::from(signal.shell_status())
        }
    }
}

/// The standard library has no other way to say that it cannot seed a hash map.
fn is_about_randomness(info: &PanicHookInfo<'_>) -> bool {
    info.location()
        .is_some_and(|place| place.file().contains("/std/src/sys/random/"))
}

/// Dies of `signal` with its default action. Returns where that cannot be: as process 1, or if the signal's default is not to
/// end a process.
fn die_by(signal: Signal) {
    // The command has dumped its core; a second one, of backoff, would only mislead.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    native::forbid_core();
    let _ = set_default(signal);
    send(Target::OwnProcess, signal);
    let _ = SigSet::empty().thread_set_mask();
}
