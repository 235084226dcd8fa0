//! The operating system: processes, signals, the clock, the terminal. Effects only. All `unsafe`
//! of the project is in here, behind safe functions.
#![allow(unsafe_code)]

use nix::errno::Errno;

/// What the system says of an error, as people search for it.
pub fn describe(errno: Errno) -> String {
    describe_error(&std::io::Error::from_raw_os_error(errno as i32))
}

/// The same of an error of the standard library, without its number.
pub fn describe_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Calls again what was interrupted. Opening can be, on a file system in user space or on a network.
pub fn uninterrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}

mod aside;
mod attempt;
pub mod child;
pub mod clock;
mod countdown;
pub mod environment;
pub mod host;
pub mod leave;
pub mod lock;
#[cfg(target_os = "linux")]
mod memory;
mod messages;
pub mod random;
pub mod signals;
pub mod spawn;
pub mod start;
pub mod stdio;
pub mod terminal;
mod timer;
pub mod tree;
