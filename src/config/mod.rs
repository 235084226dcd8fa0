//! Where a setting comes from: flag, variable, rule, policy, file; the grammars of values; presets and policies, which
//! are data.

mod built_in;
mod document;
pub mod duration;
mod file;
pub(crate) mod layer;
pub(crate) mod listing;
pub(crate) mod load;
pub(crate) mod presets;
pub(crate) mod settings;
pub(crate) mod sourced;
pub mod values;
