//! The command line. Words go in, typed [`options::Options`] come out. Help, man page and completions come from the
//! same declarations. Variables and the config file use the same grammar. Only this module uses clap.

pub(crate) mod declared;
pub(crate) mod generate;
mod help;
pub(crate) mod options;
pub(crate) mod parse;
pub(crate) mod tips;
pub(crate) mod values;
pub(crate) mod words;
pub(crate) mod wrong;
