//! Patterns over a stream of bytes. Pure: bytes come in, matches go out.

mod fuel;
mod lanes;
pub mod lines;
mod loosened;
pub mod pattern;
pub mod scanner;
mod threads;
mod walk;
