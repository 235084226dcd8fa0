//! The binary. Defines the C `main`, so that Rust's runtime changes nothing that the command inherits. The rest is in
//! the library (see `backoff_cli::main`).
#![no_main]

use std::ffi::c_int;

use backoff_cli::Argv;

#[allow(
    unsafe_code,
    reason = "this attribute; what is unsafe is in `process::entry`"
)]
#[unsafe(no_mangle)]
extern "C" fn main(_: c_int, argv: Argv) -> c_int {
    backoff_cli::enter(argv, backoff_cli::main)
}
