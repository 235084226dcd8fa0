//! The table of options, and all that is made from it: the parser, `--help`, the man page, the completions.

mod declare;
pub(crate) mod generate;
mod help;
pub mod parse;
pub(crate) mod suggest;
pub mod table;
pub(crate) mod wrap;
