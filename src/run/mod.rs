//! The run: one loop over attempts. It reaches the world through [`host`] and is told of through [`observer`].

mod budget;
pub(crate) mod engine;
pub(crate) mod event;
mod hooks;
pub(crate) mod host;
pub(crate) mod nesting;
pub(crate) mod observer;
pub(crate) mod output;
pub(crate) mod passed_on;
pub(crate) mod plan;
mod predicates;
#[cfg(test)]
pub(crate) mod script;
pub(crate) mod shell_words;
mod state;
pub(crate) mod streams;
pub(crate) mod text;
pub(crate) mod variables;
pub(crate) mod wrappers;
