//! The run: one loop over attempts, and the two ports through which it reaches the world ([`host`]) and those who are
//! told of it ([`observer`]).

pub mod budget;
pub mod engine;
pub mod event;
mod hooks;
pub mod host;
pub mod observer;
pub mod output;
pub mod plan;
#[cfg(test)]
pub(crate) mod script;
mod state;
pub mod streams;
pub mod text;
pub mod variables;
