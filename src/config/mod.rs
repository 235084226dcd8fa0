//! Sources of settings (flag, variable, policy, file), grammars of values, and presets and policies, which are data.

mod conflicts;
pub mod duration;
mod file;
pub(crate) mod listing;
pub(crate) mod policies;
pub(crate) mod presets;
pub(crate) mod setting;
pub(crate) mod settings;
pub mod values;
