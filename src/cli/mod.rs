//! The parser, `--help`, man page and completions made from the options.

mod declare;
pub(crate) mod generate;
mod help;
pub mod parse;
pub(crate) mod suggest;
