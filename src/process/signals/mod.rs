//! Receiving signals without handlers.
//!
//! On Linux every signal is blocked and read from a `signalfd(2)`: dispositions stay the caller's,
//! so the command inherits them without anything having to be restored, and a signal that arrives
//! at any instant waits in the kernel until it is read. Elsewhere `signal-hook` writes to a pipe.

pub(crate) mod disposition;
pub(crate) mod mask;
pub(crate) mod received;
pub(crate) mod thread;

#[cfg(all(target_os = "linux", not(backoff_portable)))]
#[path = "linux.rs"]
mod imp;
#[cfg(any(not(target_os = "linux"), backoff_portable))]
#[path = "portable.rs"]
mod imp;

pub(crate) use imp::Signals;
