//! Pure decisions: verdict, retry, delay, exit status. No module reads a clock, starts a process or owns randomness;
//! all of it is passed in as values. Only the forecast has a random generator of its own, with a fixed seed.

pub mod budget;
pub mod classifier;
pub mod delay;
pub mod exit;
pub mod forecast;
pub mod outcome;
mod rate_limit;
pub mod retry_after;
pub mod session;
pub mod sets;
pub mod signal;
#[cfg(test)]
pub(crate) mod test_samples;
mod times;
