//! Pure decisions: how long to wait, what an outcome means, whether to go on. Nothing here reads a
//! clock, starts a process or owns randomness; all of it comes in as values.

pub mod budget;
pub mod classifier;
pub mod delay;
pub mod forecast;
pub mod hint;
pub mod named;
pub mod session;
pub mod sets;
