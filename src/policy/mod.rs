//! Pure decisions: verdict, retry, delay, exit status. No module reads a clock, starts a process or owns randomness.
//! All of these are passed in as values. Only the forecast has its own random generator, with fixed seeds.

pub mod budget;
pub(crate) mod classifier;
pub mod delay;
pub(crate) mod exit;
pub(crate) mod forecast;
pub(crate) mod limits;
pub(crate) mod outcome;
pub(crate) mod retry_after;
pub(crate) mod session;
pub(crate) mod sets;
pub(crate) mod signal;
#[cfg(test)]
#[path = "tests/samples.rs"]
pub(crate) mod test_samples;
