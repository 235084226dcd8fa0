//! Sources of settings: the configuration file, its policies, and the settings of all sources merged.

mod conflicts;
mod file;
pub(crate) mod listing;
pub(crate) mod policies;
pub(crate) mod setting;
pub(crate) mod settings;
mod toml_file;
