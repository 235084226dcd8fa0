//! Receiving signals without handlers.
//!
//! On Linux every signal is blocked and read from a `signalfd(2)`: dispositions stay the caller's,
//! so the command inherits them without anything having to be restored, and a signal that arrives
//! at any instant waits in the kernel until it is read. Elsewhere `signal-hook` writes to a pipe.

pub mod disposition;
pub mod mask;
pub mod received;
pub mod thread;

#[cfg(all(target_os = "linux", not(backoff_portable)))]
#[path = "linux.rs"]
mod imp;
#[cfg(any(not(target_os = "linux"), backoff_portable))]
#[path = "portable.rs"]
mod imp;

pub use imp::Signals;
