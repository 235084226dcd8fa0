//! The process's entry, without Rust's runtime around it.
//!
//! The runtime ignores SIGPIPE, opens `/dev/null` in place of closed standard descriptors and installs handlers for
//! SEGV and BUS before `main`. The command must not notice any of that, so `main` is the C one and nothing has been
//! changed when it starts. It also saves a tenth of a millisecond.

use std::ffi::{OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::panic::PanicHookInfo;

use super::leave;
use super::sys::fd::fill_closed_standard;
use super::sys::stdio;
use super::sys::strings::strings;
use super::terminal::modes;
use crate::policy::exit::Exit;

/// The second argument of the C `main`. Only the C runtime can make one.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Argv(*const *const c_char);

/// Calls `main` with the arguments and ends the process as it says: for the C `main` to return.
pub fn enter(argv: Argv, main: fn(Vec<OsString>) -> Exit) -> c_int {
    fill_closed_standard();
    // A panic is a defect; the caller still gets a status that says whose.
    std::panic::set_hook(Box::new(|info| {
        modes::restore();
        if is_want_of_randomness(info) {
            stdio::complain("the system gives no random numbers: getrandom(2) and /dev/urandom fail");
        } else {
            stdio::complain(&format!("internal error, please report it: {info}"));
        }
        leave::at_once(125);
    }));
    leave::with(main(arguments(argv)))
}

/// The standard library has no other way to say that it cannot seed a hash map.
fn is_want_of_randomness(info: &PanicHookInfo<'_>) -> bool {
    info.location()
        .is_some_and(|place| place.file().contains("/std/src/sys/random/"))
}

fn arguments(Argv(argv): Argv) -> Vec<OsString> {
    // SAFETY: the C runtime made it, and backoff leaves it alone.
    let words = unsafe { strings(argv) };
    words.map(|word| OsString::from_vec(word.to_bytes().to_vec())).collect()
}
