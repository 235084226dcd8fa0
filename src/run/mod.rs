//! The run: one loop over attempts, which acts through [`host`] and emits [`event`]s.

mod budget;
mod ending;
pub(crate) mod engine;
pub(crate) mod event;
mod hooks;
pub(crate) mod host;
pub(crate) mod plan;
mod predicates;
mod state;
pub(crate) mod streams;
#[cfg(test)]
pub(crate) mod test_host;
pub(crate) mod variable_list;
pub(crate) mod variables;

use nix::errno::Errno;

/// Repeats a system call while a signal interrupts it (EINTR), and returns its first other result. Opening a file on
/// FUSE or a network, for example, can be interrupted. Async-signal-safe if the call is, because handlers use it. It is
/// here because `budget` and `process`, which both import `run`, need it.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}
