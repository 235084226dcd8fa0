//! From settings to a run: what all layers say together, checked across options, with the defaults filled in.

mod assemble;
mod budget;
mod effective;
mod idempotence;
mod layers;
mod limits;
mod output;
mod program;
mod remarks;
mod request;
pub(crate) mod resolve;
mod rules;
mod spelled_out;
mod streams;
mod waits;

#[cfg(test)]
mod tests;
