//! Receiving signals.
//!
//! On Linux every signal is blocked and read from a `signalfd(2)`: dispositions stay the caller's,
//! so the command inherits them without anything having to be restored, and a signal that arrives
//! at any instant waits in the kernel until it is read. Elsewhere they are blocked as well, and let in, to handlers that
//! write to a pipe, while backoff waits.

pub(crate) mod disposition;
pub(crate) mod mask;
pub(crate) mod received;
pub(crate) mod thread;

#[cfg(not(portable))]
#[path = "linux.rs"]
mod imp;
#[cfg(portable)]
#[path = "portable.rs"]
mod imp;

pub(crate) use imp::Signals;
