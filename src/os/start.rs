//! The process's entry, without Rust's runtime around it.
//!
//! The runtime ignores SIGPIPE, opens `/dev/null` in place of closed standard descriptors and
//! installs handlers for SEGV and BUS before `main`. The command must not notice any of that, so
//! `main` is the C one and nothing has been changed when it starts. It also saves a tenth of a
//! millisecond.

use std::ffi::{CStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;

use super::{leave, stdio};
use crate::exit::Exit;
use crate::io::pty;

/// Defines the process's `main`, which calls the given function.
#[macro_export]
macro_rules! entry_point {
    ($main:path) => {
        /// The C entry point.
        ///
        /// # Safety
        /// Only the C runtime calls it.
        // SAFETY: a program defines `main` once, and this is its C signature.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn main(
            argc: ::core::ffi::c_int,
            argv: *const *const ::core::ffi::c_char,
        ) -> ::core::ffi::c_int {
            // SAFETY: these are the arguments the C runtime hands to `main`.
            unsafe { $crate::os::start::enter(argc, argv, $main) }
        }
    };
}

/// Calls `main` with the arguments and ends the process as it says.
///
/// # Safety
/// `argc` and `argv` must be those of the C `main`.
pub unsafe fn enter(argc: c_int, argv: *const *const c_char, main: fn(Vec<OsString>) -> Exit) -> c_int {
    // A panic is a defect; the caller still gets a status that says whose.
    std::panic::set_hook(Box::new(|info| {
        pty::restore();
        stdio::complain(&format!("internal error, please report it: {info}"));
        leave::at_once(125);
    }));
    let args = (0..usize::try_from(argc).unwrap_or(0))
        // SAFETY: argv holds argc pointers to strings that live as long as the process.
        .map(|i| unsafe { CStr::from_ptr(*argv.add(i)) })
        .map(|arg| OsString::from_vec(arg.to_bytes().to_vec()))
        .collect();
    leave::with(main(args))
}
