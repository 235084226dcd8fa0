//! Where a setting comes from: flag, variable, rule, policy, file; the grammars of values; presets and policies, which
//! are data.

mod built_in;
mod document;
mod file;
pub mod layer;
pub mod listing;
pub mod load;
pub mod presets;
pub mod settings;
pub mod sourced;
pub mod values;
