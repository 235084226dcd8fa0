//! Receiving signals.
//!
//! All signals are blocked, and let in only while backoff polls. A handler writes each as one record to one pipe, which the
//! event loop polls. So no signal interrupts any other call, they are taken in the order in which they came, and a CONT takes
//! back a stop that nobody has looked at.

pub(crate) mod disposition;
pub(crate) mod mask;
pub(crate) mod receive;
pub(crate) mod received;
