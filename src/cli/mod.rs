//! The language of the command line, which variables and the configuration file speak, too. Words go in, typed
//! [`options::Options`] come out; help, man page and completions come from the same declarations. Only this room knows
//! clap.

pub(crate) mod declared;
pub(crate) mod generate;
mod help;
pub(crate) mod options;
pub(crate) mod parse;
pub(crate) mod tips;
pub(crate) mod values;
pub(crate) mod words;
pub(crate) mod wrong;
