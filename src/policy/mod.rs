//! Pure decisions: verdict, retry, delay, exit status. No module reads a clock, starts a process or owns randomness;
//! all of it is passed in as values. Only the forecast has a random generator of its own, with a fixed seed.

pub mod budget;
pub(crate) mod classifier;
pub mod delay;
pub(crate) mod exit;
pub(crate) mod forecast;
pub(crate) mod outcome;
pub(crate) mod retry_after;
pub(crate) mod session;
pub(crate) mod sets;
pub(crate) mod signal;
#[cfg(test)]
pub(crate) mod test_samples;
