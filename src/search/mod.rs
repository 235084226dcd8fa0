//! Patterns over a stream of bytes. Pure: bytes come in, matches go out.

pub mod clean;
mod engine;
pub(crate) mod grams;
pub mod lines;
pub mod pattern;
pub mod patterns;
pub mod scanner;
mod sieve;
