//! What backoff says of a run: lines for people and for programs, the summary, the countdown, the table of `--plan`.
//! It changes nothing about the run.

mod github;
pub mod json;
mod log;
pub(crate) mod plan_plot;
pub(crate) mod plan_table;
pub(crate) mod reporter;
pub(crate) mod summary;
mod text;
pub(crate) mod words;
