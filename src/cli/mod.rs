//! The table of options, and all that is made from it: the parser, `--help`, the man page, the completions.

mod completions;
pub mod defaults;
pub mod generate;
mod man;
pub mod parse;
pub mod suggest;
pub mod table;
pub mod words;
