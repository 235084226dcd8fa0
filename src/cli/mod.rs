//! The table of options, and the parser, `--help`, man page and completions made from the table.

mod declare;
pub(crate) mod generate;
mod help;
pub mod parse;
pub(crate) mod suggest;
pub mod table;
pub(crate) mod wrap;
