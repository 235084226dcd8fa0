//! Sources of settings (flag, variable, policy, file), and presets and policies, which are data.

mod conflicts;
mod file;
pub(crate) mod listing;
pub(crate) mod policies;
pub(crate) mod presets;
pub(crate) mod setting;
pub(crate) mod settings;
mod toml_file;
