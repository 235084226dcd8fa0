//! The table of options, and all that is made from it: the parser, `--help`, the man page, the completions.

mod completions;
pub(crate) mod defaults;
pub(crate) mod generate;
pub(crate) mod help;
mod man;
pub mod parse;
pub(crate) mod suggest;
pub mod table;
pub(crate) mod version;
pub(crate) mod words;
pub(crate) mod wrap;
