//! Patterns over a stream of bytes. Pure: bytes come in, matches go out.

mod fuel;
mod lanes;
pub mod lines;
mod loosened;
pub mod pattern;
pub mod patterns;
pub mod scanner;
mod size;
mod steps;
mod threads;
mod walk;
mod words;

#[cfg(test)]
pub(crate) use words::needed::needed;
