//! Pure decisions: what an outcome means, whether to go on, how long to wait, how to exit. Nothing here reads a
//! clock, starts a process or owns randomness; all of it comes in as values. Only the forecast has random numbers of its
//! own, always the same ones.

pub mod budget;
pub mod classifier;
pub mod delay;
pub mod exit;
pub mod forecast;
pub mod outcome;
pub mod retry_after;
pub mod session;
pub mod sets;
pub mod signal;
#[cfg(test)]
pub(crate) mod test_samples;
