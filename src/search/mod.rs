//! Patterns over a stream of bytes. Pure: bytes come in, matches go out.

pub mod clean;
pub mod lines;
pub mod pattern;
pub mod scanner;
mod sieve;
