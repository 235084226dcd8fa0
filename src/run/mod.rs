//! The run: one loop over attempts. It reaches the world through [`host`] and is told of through [`observer`].

mod budget;
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
