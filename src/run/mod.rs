//! The run: one loop over attempts. It reaches the world through [`host`] and is told of through [`observer`].

pub(crate) mod before_retry_env;
mod budget;
pub(crate) mod engine;
pub(crate) mod event;
mod hooks;
pub(crate) mod host;
pub(crate) mod nesting;
pub(crate) mod output;
pub(crate) mod plan;
mod predicates;
#[cfg(test)]
pub(crate) mod script;
mod state;
pub(crate) mod streams;
pub(crate) mod text;
pub(crate) mod variables;
pub(crate) mod wrappers;
