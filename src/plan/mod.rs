//! From options to a run: what all sources say together, checked across options, with the defaults filled in.

mod budget;
mod classes;
mod effective;
mod output;
mod policy;
mod remarks;
pub mod resolve;
mod streams;
mod waits;

#[cfg(test)]
mod tests;
